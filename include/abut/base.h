/* abut/base.h: status, errors, and the context (memory, log, workers) that every call takes.
 *
 *     abut_error error = {0};
 *     abut_solid *solid = NULL;
 *     if (abut_solid_load(NULL, "part.stl", NULL, &solid, &error) != ABUT_OK)
 *         fprintf(stderr, "%s:%d: %s\n", error.file, error.line, error.message);
 *
 * A NULL context means: malloc, no log, one thread.  A NULL error is allowed everywhere.
 * Nothing in the library prints, exits or keeps global state.
 */
#ifndef ABUT_BASE_H
#define ABUT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ABUT_API               __attribute__((visibility("default")))
#define ABUT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define ABUT_API
#define ABUT_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of what a call can answer.  X(constant, word, sentence). */
#define ABUT_STATUS_LIST(X)                                                                 \
    X(OK, "ok", "done")                                                                     \
    X(INVALID, "invalid", "the input is wrong; the message says where and what to do")      \
    X(IO, "io", "a file could not be read or written")                                      \
    X(NO_MEMORY, "no-memory", "the allocator returned nothing")                             \
    X(FAILED, "failed", "the input is fine, but no answer was found; the message says why") \
    X(INFEASIBLE, "infeasible", "the problem has no solution, and that was shown")          \
    X(BUDGET, "budget", "a bound on work was reached before an answer")                     \
    X(UNSUPPORTED, "unsupported", "this build or this shape cannot do that")                \
    X(CANCELLED, "cancelled", "a callback asked to stop")

typedef enum abut_status {
#define ABUT_STATUS_CONSTANT(name, word, sentence) ABUT_##name,
    ABUT_STATUS_LIST(ABUT_STATUS_CONSTANT)
#undef ABUT_STATUS_CONSTANT
} abut_status;

/* The word of a status ("no-memory"), and the sentence that explains it. */
ABUT_API const char *abut_status_name(abut_status status);
ABUT_API const char *abut_status_text(abut_status status);

/* Why a call failed: where (file and line where the input has them; empty and 0 otherwise), and
 * what is wrong followed by what to do, as one sentence with a semicolon. */
typedef struct abut_error {
    abut_status status;
    int line;
    char file[256];
    char message[768];
} abut_error;

/* A replaceable allocator.  `allocate` and `resize` return NULL when there is nothing left; `release`
 * ignores NULL.  All-zero means malloc, realloc and free; with an `allocate` of your own, a missing `resize`
 * is allocate, copy, release, and a missing `release` keeps the memory (for an arena of yours). */
typedef struct abut_allocator {
    void *(*allocate)(void *user, size_t size);
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void (*release)(void *user, void *block, size_t size);
    void *user;
} abut_allocator;

typedef enum abut_log_level {
    ABUT_LOG_DEBUG,
    ABUT_LOG_INFO,
    ABUT_LOG_WARNING,
    ABUT_LOG_PRINT /* what a scene prints, as it is */
} abut_log_level;

/* Receives notices that are not errors, and what scenes print.  All-zero means silence. */
typedef struct abut_log {
    void (*write)(void *user, abut_log_level level, const char *message);
    void *user;
} abut_log;

/* Runs task(argument, i) for i in [0, count), in any order, on any threads, and returns when all are
 * done.  Give your own to use your job system, or abut_workers_run with a pool of the library. */
typedef void abut_task(void *argument, int index);
typedef struct abut_parallel {
    void (*run)(void *user, int count, abut_task *task, void *argument);
    void *user;
    int threads; /* how many threads `run` uses at most; a hint for how finely to split work */
} abut_parallel;

typedef struct abut_context {
    abut_allocator allocator;
    abut_log log;
    abut_parallel parallel; /* all-zero: everything runs in the calling thread */
} abut_context;

/* The library's own pool of worker threads, for abut_context.parallel:
 *     abut_workers *pool = abut_workers_create(NULL, 4);
 *     context.parallel = abut_workers_parallel(pool); */
typedef struct abut_workers abut_workers;
ABUT_API abut_workers *abut_workers_create(const abut_context *context, int threads);
ABUT_API void abut_workers_destroy(abut_workers *workers);
ABUT_API abut_parallel abut_workers_parallel(abut_workers *workers);

/* "0.1.0" */
ABUT_API const char *abut_version(void);

#ifdef __cplusplus
}
#endif
#endif
