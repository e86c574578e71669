/* Four lanes of floats for the planes of a step (index.h): how points and segments walk down. */
#ifndef INDEX_STEP_H
#define INDEX_STEP_H

#include "index/index.h"

typedef float four __attribute__((vector_size(16)));

/* The signs of four numbers, the first in the lowest bit. */
static inline int four_signs(four v) {
#if defined(__SSE__)
    return __builtin_ia32_movmskps(v);
#else
    return (v[0] < 0) | (v[1] < 0) << 1 | (v[2] < 0) << 2 | (v[3] < 0) << 3;
#endif
}

static inline four four_absolute(four v) {
    typedef int32_t bits __attribute__((vector_size(16)));
    return (four)((bits)v & 0x7fffffff);
}

/* Row k of the planes: x, y, z of the normals, d. */
static inline four step_row(const index_step *s, int k) {
    four v;
    memcpy(&v, s->plane[k], sizeof v);
    return v;
}

/* Whether a face lies in the plane of a lane. */
static inline bool step_holds_face(const index_step *s, int lane) { return s->end[3][lane] & 1; }

#endif
