/* A point of four numbers (x, y, z, w) in two vector registers of two doubles, which every processor of the
 * kind has.  No operation mixes the lanes, so the bits are those of plain scalar code. */
#ifndef SURFACE_LANES_H
#define SURFACE_LANES_H

#include "math/vec.h"

#include <string.h>

typedef double v2 __attribute__((vector_size(16)));
typedef struct p4 {
    v2 xy, zw;
} p4;

static inline p4 p4_zero(void) { return (p4){{0, 0}, {0, 0}}; }
static inline p4 p4_load(const double *d) {
    p4 p;
    memcpy(&p, d, sizeof p);
    return p;
}
static inline p4 p4_add(p4 a, p4 b) { return (p4){a.xy + b.xy, a.zw + b.zw}; }
static inline p4 p4_sub(p4 a, p4 b) { return (p4){a.xy - b.xy, a.zw - b.zw}; }
static inline p4 p4_scale(double s, p4 a) { return (p4){s * a.xy, s * a.zw}; }
/* a + s b */
static inline p4 p4_axpy(p4 a, double s, p4 b) { return (p4){a.xy + s * b.xy, a.zw + s * b.zw}; }
static inline void p4_store3(vec3 *to, p4 a) {
    memcpy(to, &a.xy, sizeof a.xy);
    to->z = a.zw[0];
}

#endif
