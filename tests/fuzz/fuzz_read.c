/* Any bytes as a mesh file of the format FUZZ_FORMAT: an error with a message, or a mesh whose every index
 * and number can be trusted.  Memory must stay in proportion to the input, whatever counts it promises. */
#include "base/base.h"
#include "math/vec.h"

#include "abut/solid.h"

#include <stdlib.h>

/* Largest block that an input of n bytes may ask for: vertices take 24 bytes for at least 6 of text, and
 * arrays grow by half. */
enum { BYTES_PER_BYTE = 64, BYTES_ALWAYS = 1 << 16 };

static void *allocate(void *user, size_t size) {
    if (size > *(size_t *)user) abort();
    return malloc(size);
}
static void *resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)old_size;
    if (new_size > *(size_t *)user) abort();
    return realloc(block, new_size);
}
static void release(void *user, void *block, size_t size) {
    (void)user, (void)size;
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t most = BYTES_ALWAYS + BYTES_PER_BYTE * size;
    abut_context context = {.allocator = {allocate, resize, release, &most}};
    abut_mesh *mesh = NULL;
    abut_error error = {0};
    abut_status status = abut_mesh_read(&context, data, size, FUZZ_FORMAT, "fuzz", &mesh, &error);
    if (status != ABUT_OK) {
        if (mesh || error.message[0] == 0 || error.status != status) abort();
        return 0;
    }
    if (mesh->face_start[0] != 0 || mesh->face_start[mesh->face_count] != mesh->corner_count) abort();
    for (int64_t i = 0; i < mesh->face_count; i++)
        if (mesh->face_start[i + 1] - mesh->face_start[i] < 3) abort();
    for (int64_t i = 0; i < mesh->corner_count; i++)
        if (mesh->corners[i] < 0 || mesh->corners[i] >= mesh->point_count) abort();
    for (int64_t i = 0; i < mesh->point_count; i++)
        if (!vec3_is_finite(mesh->points[i])) abort();
    abut_mesh_free(&context, mesh);
    return 0;
}
