/* The shared part of the test programs; see support.h. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- memory: each block has its size in front, and a word that says that it is alive */

typedef struct block_header {
    size_t size;
    uint64_t mark;
} block_header;
#define ALIVE 0xab07ab07ab07ab07u

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER; /* tasks of worker threads allocate too */

static bool refuse(support_memory *memory) {
    pthread_mutex_lock(&books);
    memory->requests++;
    bool no = memory->fail_at > 0 && (memory->requests == memory->fail_at ||
                                      (memory->fail_after && memory->requests > memory->fail_at));
    memory->failures += no;
    pthread_mutex_unlock(&books);
    return no;
}

static void enter(support_memory *memory, int blocks, int64_t bytes) {
    pthread_mutex_lock(&books);
    memory->live_blocks += blocks, memory->live_bytes += bytes;
    if (memory->live_bytes > memory->peak_bytes) memory->peak_bytes = memory->live_bytes;
    pthread_mutex_unlock(&books);
}

static void *allocate(void *user, size_t size) {
    support_memory *memory = user;
    if (refuse(memory)) return NULL;
    block_header *header = malloc(sizeof *header + size);
    if (!header) return NULL;
    *header = (block_header){size, ALIVE};
    memset(header + 1, 0xa5, size); /* so that reading what was never written shows */
    enter(memory, 1, (int64_t)size);
    return header + 1;
}

static void release(void *user, void *block, size_t size) {
    if (!block) return;
    block_header *header = (block_header *)block - 1;
    if (header->mark != ALIVE) fail_msg("a block is released that is not alive");
    if (header->size != size) fail_msg("a block of %zu bytes is released as %zu", header->size, size);
    header->mark = 0;
    enter(user, -1, -(int64_t)size);
    free(header);
}

static void *resize(void *user, void *block, size_t old_size, size_t new_size) {
    block_header *header = (block_header *)block - 1;
    if (header->size != old_size)
        fail_msg("a block of %zu bytes is resized as one of %zu", header->size, old_size);
    void *fresh = allocate(user, new_size);
    if (!fresh) return NULL;
    memcpy(fresh, block, old_size < new_size ? old_size : new_size);
    release(user, block, old_size);
    return fresh;
}

abut_context support_context(support_memory *memory) {
    return (abut_context){.allocator = {allocate, resize, release, memory}};
}

void support_assert_freed(const support_memory *memory) {
    if (memory->live_blocks != 0)
        fail_msg("%lld blocks, %lld bytes are still allocated", (long long)memory->live_blocks,
                 (long long)memory->live_bytes);
}

static abut_status one_attempt(support_attempt *attempt, void *user, int64_t fail_at, bool fail_after,
                               support_memory *memory) {
    *memory = (support_memory){.fail_at = fail_at, .fail_after = fail_after};
    abut_context context = support_context(memory);
    abut_status status = attempt(&context, user);
    if (memory->live_blocks != 0)
        fail_msg("allocation %lld made to fail: %lld blocks, %lld bytes leak", (long long)fail_at,
                 (long long)memory->live_blocks, (long long)memory->live_bytes);
    bool told = status == ABUT_NO_MEMORY || (status == ABUT_OK && !fail_after);
    if (memory->failures ? !told : status != ABUT_OK)
        fail_msg("allocation %lld made to fail: status is %s", (long long)fail_at, abut_status_name(status));
    return status;
}

int64_t support_fail_each(support_attempt *attempt, void *user) {
    support_memory memory;
    for (int64_t k = 1;; k++) {
        one_attempt(attempt, user, k, true, &memory);
        one_attempt(attempt, user, k, false, &memory);
        if (memory.failures == 0) return memory.requests;
    }
}

/* ---- random things */

int support_int(uint64_t *state, int low, int high) {
    return low + (int)(random_bits(state) % (uint64_t)((int64_t)high - low + 1));
}

vec3 support_vec(uint64_t *state, double size) {
    double x = random_range(state, -size, size), y = random_range(state, -size, size);
    return vec3_make(x, y, random_range(state, -size, size));
}

/* Points of the cube that lie in the ball, pushed to the sphere. */
vec3 support_direction(uint64_t *state) {
    for (;;) {
        vec3 v = support_vec(state, 1);
        double length2 = vec3_length2(v);
        if (length2 <= 1 && length2 > 1e-4) return vec3_unit(v);
    }
}

quat support_rotation(uint64_t *state) {
    for (;;) {
        vec3 v = support_vec(state, 1);
        double w = random_range(state, -1, 1), length2 = w * w + vec3_length2(v);
        if (length2 <= 1 && length2 > 1e-4) return quat_unit((quat){w, v.x, v.y, v.z});
    }
}

pose support_pose(uint64_t *state, double size) {
    vec3 position = support_vec(state, size);
    return (pose){position, support_rotation(state)};
}

/* ---- files */

/* Paths live in a ring of eight, so that a few can be used in one expression. */
static char *next_path(void) {
    static char ring[8][1024];
    static int turn;
    return ring[turn++ % 8];
}

static bool shared_is_missing;

int support_finish(int failed) { return failed == 0 && shared_is_missing ? 77 : failed; }

const char *support_shared(const char *relative) {
    char *path = next_path();
    snprintf(path, 1024, "%s/%s", ABUT_SHARED, relative);
    if (access(path, R_OK) == 0) return path;
    fprintf(stderr, "skipped: there is no %s\n", path);
    shared_is_missing = true;
    skip();
    return NULL; /* not reached: skip leaves the test */
}

static char temporary_folder[256];

static void remove_temporary_folder(void) {
    DIR *folder = opendir(temporary_folder);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", temporary_folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    closedir(folder);
    rmdir(temporary_folder);
}

const char *support_temporary(const char *name) {
    if (!temporary_folder[0]) {
        const char *root = getenv("TMPDIR");
        snprintf(temporary_folder, sizeof temporary_folder, "%s/abut-test-XXXXXX", root ? root : "/tmp");
        if (!mkdtemp(temporary_folder)) fail_msg("%s cannot be made: %s", temporary_folder, strerror(errno));
        atexit(remove_temporary_folder);
    }
    char *path = next_path();
    snprintf(path, 1024, "%s/%s", temporary_folder, name);
    return path;
}

void support_write(const char *path, const void *bytes, size_t size) {
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(bytes, 1, size, stream) != size || fclose(stream) != 0)
        fail_msg("%s cannot be written: %s", path, strerror(errno));
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

int support_each_file(const char *folder, const char *suffix, void (*visit)(const char *path, void *user),
                      void *user) {
    DIR *stream = opendir(folder);
    if (!stream) fail_msg("%s cannot be opened: %s", folder, strerror(errno));
    char **names = NULL;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        size_t length = strlen(entry->d_name), tail = strlen(suffix);
        char path[1024];
        struct stat facts;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length < tail || strcmp(entry->d_name + length - tail, suffix) != 0) continue;
        if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
        names = realloc(names, (size_t)(count + 1) * sizeof *names);
        names[count++] = strdup(path);
    }
    closedir(stream);
    if (count > 0) qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 0; i < count; i++) visit(names[i], user), free(names[i]);
    free(names);
    return count;
}

/* ---- the command: input and outputs are files, so that nothing can block on a full pipe */

static char *read_back(FILE *stream, size_t *size) {
    fseek(stream, 0, SEEK_END);
    *size = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, stream) != *size) fail_msg("the output cannot be read back");
    bytes[*size] = 0;
    fclose(stream);
    return bytes;
}

support_output support_run_program(const char *input, const char *const *argv) {
    FILE *in = tmpfile(), *out = tmpfile(), *err = tmpfile();
    if (!in || !out || !err) fail_msg("temporary files cannot be made: %s", strerror(errno));
    if (input) fputs(input, in);
    fflush(in);
    rewind(in);
    pid_t child = fork();
    if (child == 0) {
        lseek(fileno(in), 0, SEEK_SET);
        dup2(fileno(in), 0), dup2(fileno(out), 1), dup2(fileno(err), 2);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int how = 0;
    if (child < 0 || waitpid(child, &how, 0) != child) fail_msg("%s cannot be run", argv[0]);
    support_output result = {.status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how)};
    fclose(in);
    result.out = read_back(out, &result.out_size);
    result.err = read_back(err, &result.err_size);
    return result;
}

support_output support_run(const char *input, ...) {
    const char *argv[64] = {ABUT_COMMAND};
    int count = 1;
    va_list arguments;
    va_start(arguments, input);
    while (count < COUNT_OF(argv) - 1 && (argv[count] = va_arg(arguments, const char *))) count++;
    va_end(arguments);
    return support_run_program(input, argv);
}

void support_output_free(support_output *output) {
    free(output->out), free(output->err);
    *output = (support_output){0};
}
