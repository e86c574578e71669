/* Any bytes as a smooth surface: control points, a scene of Kry's format, or a Loop cage in OBJ, by the first
 * byte. What must hold: no crash, no leak, no hang; a surface that is built evaluates and settles at its
 * corners. */
#include "surface/surface.h"

#include <stdlib.h>

static void use(const abut_surface *s) {
    for (int p = 0; p < abut_surface_patch_count(s) && p < 64; p++) {
        double corners[ABUT_SIDES_MOST][2];
        int n = abut_surface_domain(s, p, corners);
        for (int i = 0; i < n; i++) {
            abut_partials at;
            abut_surface_point place = {p, corners[i][0], corners[i][1]};
            double rate[2] = {0.3 - i, 0.7 * i - 1};
            abut_surface_evaluate(s, p, place.u, place.v, 3, &at);
            abut_surface_settle(s, &place, rate, NULL, NULL, NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 1 || size > 4096) return 0;
    abut_surface *s = NULL;
    abut_error error = {0};
    const char *text = (const char *)bytes + 1;
    if (bytes[0] % 4 < 2) {
        abut_surface_read(NULL, text, size - 1, bytes[0] % 4 ? "a.scene" : "a.txt", &s, &error);
    } else {
        abut_mesh *cage = NULL;
        abut_loop_options o = abut_default_loop_options();
        /* S-patches are fitted: those of many sides take seconds under a sanitizer, so cages are small */
        bool smooth = bytes[0] % 4 == 3;
        if (smooth) o.form = ABUT_LOOP_SMOOTH, o.refine = 1;
        if (abut_mesh_read(NULL, text, size - 1, ABUT_FORMAT_OBJ, "a.obj", &cage, &error) == ABUT_OK &&
            (!smooth || cage->corner_count <= 36))
            abut_surface_loop(NULL, cage, &o, &s, &error);
        abut_mesh_free(NULL, cage);
    }
    if (s) use(s);
    abut_surface_free(NULL, s);
    return 0;
}
