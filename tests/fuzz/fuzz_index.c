/* Any bytes as a random polyhedron (boxes on a grid, spikes, hulls): its index is built by each method,
 * validated, and asked; the answers must agree with solid angles, the cells must fill the solid. */
#include "index/polyhedra.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    abut_solid *solid = polyhedron_from(data, size);
    if (!solid) return 0;
    for (int method = ABUT_INDEX_HYBRID; method <= ABUT_INDEX_FIRST; method++) {
        const char *wrong = wrong_with_index(solid, (abut_index_method)method, 7);
        if (wrong) {
            fprintf(stderr, "%s: %s\n", abut_index_method_name((abut_index_method)method), wrong);
            abort();
        }
    }
    abut_solid_free(NULL, solid);
    return 0;
}
