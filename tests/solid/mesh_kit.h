/* Meshes made by hand, for tests: points, faces, boxes, in arrays of fixed size. */
#ifndef TESTS_SOLID_MESH_KIT_H
#define TESTS_SOLID_MESH_KIT_H

#include "solid/solid.h"
#include "support.h"

enum { KIT_POINTS = 4096, KIT_CORNERS = 32768 };
typedef struct mesh_kit {
    vec3 points[KIT_POINTS];
    int corners[KIT_CORNERS];
    int64_t face_start[KIT_CORNERS / 3 + 1];
    int64_t point_count, face_count;
} mesh_kit;

static inline int kit_point(mesh_kit *k, vec3 p) {
    k->points[k->point_count] = p;
    return (int)k->point_count++;
}

static inline void kit_face(mesh_kit *k, int count, const int *corners) {
    int64_t first = k->face_start[k->face_count];
    for (int i = 0; i < count; i++) k->corners[first + i] = corners[i];
    k->face_start[++k->face_count] = first + count;
}

static inline abut_mesh kit_mesh(mesh_kit *k) {
    return (abut_mesh){.file = "kit",
                       .points = k->points,
                       .corners = k->corners,
                       .face_start = k->face_start,
                       .point_count = k->point_count,
                       .face_count = k->face_count,
                       .corner_count = k->face_start[k->face_count]};
}

/* A box, with quads or triangles; outward for way > 0, a void for way < 0. */
static inline void kit_add_box(mesh_kit *k, vec3 lower, vec3 upper, bool triangles, int way) {
    static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int base = (int)k->point_count;
    for (int i = 0; i < 8; i++)
        kit_point(k,
                  vec3_make(i & 1 ? upper.x : lower.x, i & 2 ? upper.y : lower.y, i & 4 ? upper.z : lower.z));
    for (int f = 0; f < 6; f++) {
        int q[4];
        for (int i = 0; i < 4; i++) q[i] = base + quads[f][way > 0 ? i : 3 - i];
        if (triangles) {
            kit_face(k, 3, (int[]){q[0], q[1], q[2]});
            kit_face(k, 3, (int[]){q[0], q[2], q[3]});
        } else {
            kit_face(k, 4, q);
        }
    }
}

#endif
