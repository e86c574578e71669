/* A pool of worker threads.  One job at a time: a count, a task, and an index that the threads draw from.
 * Which thread runs which index is open; tasks write only to places that belong to their index, so the
 * result is the same for any number of threads.
 *
 * A job is open while its caller draws.  The caller waits only for the workers that have entered it: one that
 * the system wakes too late (a busy machine) finds the job closed and goes back to sleep, and holds up
 * nobody. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <pthread.h>
#include <stdatomic.h>

struct abut_workers {
    abut_context context;
    int threads, started; /* including the caller; how many were created */
    pthread_t *handles;
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    uint64_t generation; /* counts jobs, so that a late waker sees that there is a new one */
    int inside;          /* workers in the current job */
    bool quit, running;  /* a job is under way */
    bool open;           /* and workers may still enter it */
    abut_task *task;
    void *argument;
    int count;
    atomic_int next;
};

static void draw_and_run(abut_workers *workers) {
    for (int i; (i = atomic_fetch_add(&workers->next, 1)) < workers->count;)
        workers->task(workers->argument, i);
}

static void *worker_main(void *argument) {
    abut_workers *workers = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&workers->mutex);
    for (;;) {
        while (!workers->quit && !(workers->open && workers->generation != seen))
            pthread_cond_wait(&workers->work, &workers->mutex);
        if (workers->quit) break;
        seen = workers->generation;
        workers->inside++;
        pthread_mutex_unlock(&workers->mutex);
        draw_and_run(workers);
        pthread_mutex_lock(&workers->mutex);
        if (--workers->inside == 0) pthread_cond_signal(&workers->done);
    }
    pthread_mutex_unlock(&workers->mutex);
    return NULL;
}

static void run_here(int count, abut_task *task, void *argument) {
    for (int i = 0; i < count; i++) task(argument, i);
}

/* A job that comes while another is under way (from a task, or from a second thread) runs in its caller. */
static void workers_run(void *user, int count, abut_task *task, void *argument) {
    abut_workers *workers = user;
    if (workers->started == 0 || count < 2) {
        run_here(count, task, argument);
        return;
    }
    pthread_mutex_lock(&workers->mutex);
    if (workers->running) {
        pthread_mutex_unlock(&workers->mutex);
        run_here(count, task, argument);
        return;
    }
    workers->running = workers->open = true;
    workers->task = task, workers->argument = argument, workers->count = count;
    atomic_store(&workers->next, 0);
    workers->generation++;
    pthread_cond_broadcast(&workers->work);
    pthread_mutex_unlock(&workers->mutex);
    draw_and_run(workers);
    pthread_mutex_lock(&workers->mutex);
    workers->open = false;
    while (workers->inside > 0) pthread_cond_wait(&workers->done, &workers->mutex);
    workers->running = false;
    pthread_mutex_unlock(&workers->mutex);
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
    pthread_mutex_lock(&workers->mutex);
    workers->quit = true;
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
