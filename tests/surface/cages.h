/* Cages that several tests use. */
#ifndef TESTS_SURFACE_CAGES_H
#define TESTS_SURFACE_CAGES_H

#include "support.h"
#include "surface/surface.h"

#include <stdio.h>

/* The smooth Loop surface of a cage in ABUT_SHARED. */
static inline abut_surface *smooth_of_file(const char *relative, int refine) {
    abut_mesh *cage = NULL;
    abut_surface *s = NULL;
    abut_error error = {0};
    char path[512];
    snprintf(path, sizeof path, "%s", support_shared(relative));
    abut_loop_options o = {.form = ABUT_LOOP_SMOOTH, .refine = refine, .scale = 1};
    if (abut_mesh_load(NULL, path, &cage, &error) != ABUT_OK ||
        abut_surface_loop(NULL, cage, &o, &s, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    abut_mesh_free(NULL, cage);
    return s;
}

/* A point strictly inside the domain of a patch. */
static inline abut_surface_point random_place_in(const abut_surface *s, int p, uint64_t *seed) {
    double corners[ABUT_SIDES_MOST][2], sum = 0, u = 0, v = 0;
    int n = abut_surface_domain(s, p, corners);
    for (int i = 0; i < n; i++) {
        double w = random_range(seed, 0.01, 1);
        u += w * corners[i][0], v += w * corners[i][1], sum += w;
    }
    return (abut_surface_point){p, u / sum, v / sum};
}

static inline vec3 velocity_at(const abut_surface *s, abut_surface_point x, const double rate[2],
                               vec3 *point) {
    partials p;
    abut_surface_evaluate(s, x.patch, x.u, x.v, 1, &p);
    if (point) *point = p.c;
    return vec3_axpy(vec3_scale(p.u, rate[0]), rate[1], p.v);
}

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
