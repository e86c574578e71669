/* A pool of worker threads.  One job at a time: a count, a task, and an index that the threads draw from.
 * The caller runs the first, so that what it has in its cache from one job to the next stays there; which
 * thread runs which other index is open.  Tasks write only to places that belong to their index, so the
 * result is the same for any number of threads.
 *
 * A job is open while its caller draws.  The caller waits only for the workers that have entered it: one that
 * the system wakes too late (a busy machine) finds the job closed and goes back to sleep, and holds up
 * nobody.
 *
 *     gate     workers in the job, and the bit CLOSED.  Entering fails when it is set, so the caller that has
 *              set it and sees no worker inside may write the next job.
 *
 * Who waits looks for a while before it sleeps: a system takes up to a tenth of a millisecond to wake a
 * thread, as long as many jobs take.  Whoever goes to sleep says so first and then looks once more, and
 * whoever changes something changes it first and then looks who sleeps (all in one order, seq_cst): so nobody
 * sleeps through a change. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { CLOSED = 1 << 30, LOOKS = 64 };
#define PATIENCE 3e-4 /* s: longer than what runs between two jobs of a step, shorter than a frame */
#define EAGER    5e-5 /* s: until then without giving the processor away */

struct abut_workers {
    abut_context context;
    int threads, started; /* including the caller; how many were created */
    pthread_t *handles;
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    atomic_uint generation; /* counts jobs, so that a worker sees that there is a new one */
    atomic_int gate;
    atomic_int sleepers;                 /* workers that wait for the condition `work` */
    atomic_bool quit, running, awaiting; /* a job is under way; its caller waits for the condition `done` */
    abut_task *task;
    void *argument;
    int count;
    atomic_int next;
};

typedef bool condition(abut_workers *workers, unsigned seen);

static bool look_for(abut_workers *workers, condition *holds, unsigned seen) {
    double start = clock_now();
    for (double now = start; now - start < PATIENCE; now = clock_now()) {
        for (int i = 0; i < LOOKS; i++) {
            if (holds(workers, seen)) return true;
            cpu_relax();
        }
        if (now - start > EAGER) sched_yield();
    }
    return false;
}

static void draw_and_run(abut_workers *workers) {
    for (int i; (i = atomic_fetch_add(&workers->next, 1)) < workers->count;)
        workers->task(workers->argument, i);
}

static bool enter(abut_workers *workers) {
    int inside = atomic_load(&workers->gate);
    while (!(inside & CLOSED))
        if (atomic_compare_exchange_weak(&workers->gate, &inside, inside + 1)) return true;
    return false;
}

static void leave(abut_workers *workers) {
    if (atomic_fetch_sub(&workers->gate, 1) != CLOSED + 1 || !atomic_load(&workers->awaiting)) return;
    pthread_mutex_lock(&workers->mutex);
    pthread_cond_signal(&workers->done);
    pthread_mutex_unlock(&workers->mutex);
}

static bool has_news(abut_workers *workers, unsigned seen) {
    return atomic_load(&workers->generation) != seen || atomic_load(&workers->quit);
}

static void sleep_until_news(abut_workers *workers, unsigned seen) {
    pthread_mutex_lock(&workers->mutex);
    atomic_fetch_add(&workers->sleepers, 1);
    while (!has_news(workers, seen)) pthread_cond_wait(&workers->work, &workers->mutex);
    atomic_fetch_sub(&workers->sleepers, 1);
    pthread_mutex_unlock(&workers->mutex);
}

static void *worker_main(void *argument) {
    abut_workers *workers = argument;
    unsigned seen = 0;
    for (;;) {
        if (!look_for(workers, has_news, seen)) sleep_until_news(workers, seen);
        if (atomic_load(&workers->quit)) return NULL;
        seen = atomic_load(&workers->generation);
        if (!enter(workers)) continue;
        draw_and_run(workers);
        leave(workers);
    }
}

static void run_here(int count, abut_task *task, void *argument) {
    for (int i = 0; i < count; i++) task(argument, i);
}

static void wake(abut_workers *workers) {
    if (atomic_load(&workers->sleepers) == 0) return;
    pthread_mutex_lock(&workers->mutex);
    pthread_cond_broadcast(&workers->work);
    pthread_mutex_unlock(&workers->mutex);
}

static bool is_empty(abut_workers *workers, unsigned unused) {
    (void)unused;
    return atomic_load(&workers->gate) == CLOSED;
}

/* Nobody enters any more, and all that have entered leave. */
static void close_gate(abut_workers *workers) {
    atomic_fetch_or(&workers->gate, CLOSED);
    if (look_for(workers, is_empty, 0)) return;
    pthread_mutex_lock(&workers->mutex);
    atomic_store(&workers->awaiting, true);
    while (!is_empty(workers, 0)) pthread_cond_wait(&workers->done, &workers->mutex);
    atomic_store(&workers->awaiting, false);
    pthread_mutex_unlock(&workers->mutex);
}

/* A job that comes while another is under way (from a task, or from a second thread) runs in its caller. */
static void workers_run(void *user, int count, abut_task *task, void *argument) {
    abut_workers *workers = user;
    if (workers->started == 0 || count < 2 || atomic_exchange(&workers->running, true)) {
        run_here(count, task, argument);
        return;
    }
    workers->task = task, workers->argument = argument, workers->count = count;
    atomic_store(&workers->next, 1);
    atomic_store(&workers->gate, 0);
    atomic_fetch_add(&workers->generation, 1);
    wake(workers);
    task(argument, 0);
    draw_and_run(workers);
    close_gate(workers);
    atomic_store(&workers->running, false);
}

/* A pool of `threads` threads, the caller counted.  Where the system gives fewer, the pool is smaller;
 * NULL only when memory is out. */
abut_workers *abut_workers_create(const abut_context *context, int threads) {
    if (threads < 1) threads = 1;
    if (threads > 256) threads = 256;
    abut_workers *workers = mem_calloc(context, 1, sizeof *workers);
    if (!workers) return NULL;
    workers->handles = mem_alloc(context, (size_t)threads, sizeof *workers->handles);
    if (!workers->handles) {
        mem_free(context, workers, 1, sizeof *workers);
        return NULL;
    }
    if (context) workers->context = *context;
    workers->threads = threads;
    atomic_init(&workers->gate, CLOSED);
    pthread_mutex_init(&workers->mutex, NULL);
    pthread_cond_init(&workers->work, NULL);
    pthread_cond_init(&workers->done, NULL);
    while (workers->started < threads - 1 &&
           pthread_create(&workers->handles[workers->started], NULL, worker_main, workers) == 0)
        workers->started++;
    return workers;
}

void abut_workers_destroy(abut_workers *workers) {
    if (!workers) return;
    atomic_store(&workers->quit, true);
    pthread_mutex_lock(&workers->mutex);
    pthread_cond_broadcast(&workers->work);
    pthread_mutex_unlock(&workers->mutex);
    for (int i = 0; i < workers->started; i++) pthread_join(workers->handles[i], NULL);
    pthread_mutex_destroy(&workers->mutex);
    pthread_cond_destroy(&workers->work);
    pthread_cond_destroy(&workers->done);
    abut_context context = workers->context;
    mem_free(&context, workers->handles, (size_t)workers->threads, sizeof *workers->handles);
    mem_free(&context, workers, 1, sizeof *workers);
}

abut_parallel abut_workers_parallel(abut_workers *workers) {
    if (!workers) return (abut_parallel){0};
    return (abut_parallel){.run = workers_run, .user = workers, .threads = workers->started + 1};
}

int parallel_threads(const abut_context *context) {
    return context && context->parallel.run && context->parallel.threads > 1 ? context->parallel.threads : 1;
}

void parallel_for(const abut_context *context, int count, abut_task *task, void *argument) {
    if (context && context->parallel.run)
        context->parallel.run(context->parallel.user, count, task, argument);
    else
        run_here(count, task, argument);
}
