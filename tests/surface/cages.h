/* Cages that several tests use. */
#ifndef TESTS_SURFACE_CAGES_H
#define TESTS_SURFACE_CAGES_H

#include "support.h"
#include "surface/surface.h"

/* A double cone over an n-gon, each point moved by up to `jitter`: valences n (twice) and 4. */
typedef struct double_cone {
    abut_mesh mesh;
    vec3 points[40];
    int corners[240];
    int64_t start[81];
} double_cone;

static inline void make_double_cone(double_cone *d, int n, double jitter, uint64_t *seed) {
    memset(d, 0, sizeof *d);
    for (int i = 0; i < n; i++) d->points[i] = vec3_make(cos(6.283185 * i / n), sin(6.283185 * i / n), 0);
    d->points[n] = vec3_make(0, 0, 1), d->points[n + 1] = vec3_make(0, 0, -0.7);
    for (int i = 0; i < n + 2; i++) d->points[i] = vec3_add(d->points[i], support_vec(seed, jitter));
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n, c[6] = {i, j, n, j, i, n + 1};
        memcpy(d->corners + 6 * i, c, sizeof c);
    }
    for (int f = 0; f <= 2 * n; f++) d->start[f] = 3 * f;
    d->mesh = (abut_mesh){.points = d->points,
                          .corners = d->corners,
                          .face_start = d->start,
                          .point_count = n + 2,
                          .face_count = 2 * n,
                          .corner_count = 6 * n};
}

#endif
