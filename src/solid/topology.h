/* The welded mesh with its half-edges: what building and checking a solid start from.
 *
 *   corner c of face f stands for the half-edge from vertex[c] to vertex[next(c)], with f on its left
 *
 *        ──── c ───>          twin[c] is the one half-edge that runs the other way, or one of the
 *      a ═══════════ b        TWIN_ codes where the edge is not the border of exactly two faces that
 *        <── twin ───         agree on which side is outside
 *
 * Vertices are the welded points that some face uses, in the order of the file; positions are those of the
 * file (the first of the welded points), minus `origin`.
 */
#ifndef SOLID_TOPOLOGY_H
#define SOLID_TOPOLOGY_H

#include "solid/solid.h"

/* Scratch of one call: blocks from the context that are freed together.  scratch_drop gives one back earlier;
 * up to `keep` bytes of those stay for the next scratch_take of about their size, because fresh pages are
 * slow. */
enum { SCRATCH_BLOCKS = 64 };
typedef struct scratch {
    const abut_context *context;
    struct {
        void *block;
        size_t bytes;
        bool waiting;
    } items[SCRATCH_BLOCKS];
    int used;
    size_t keep, kept;
} scratch;
void *scratch_take(scratch *s, int64_t count, size_t size);  /* not cleared; NULL when memory is out */
void *scratch_clear(scratch *s, int64_t count, size_t size); /* cleared */
void scratch_drop(scratch *s, void *block);                  /* NULL is allowed */
void scratch_trim(scratch *s);                               /* frees those that wait */
void scratch_free(scratch *s);

/* Sorts by key, stably (radix sort; `scratch_items` has the same size). */
typedef struct sort_item {
    uint32_t key, other; /* `other` only comes along */
    int32_t value;
} sort_item;
void sort_items(sort_item *items, sort_item *scratch_items, int64_t count);

enum {
    TWIN_OPEN = -1,    /* no other face has this edge */
    TWIN_FLIPPED = -2, /* two faces have it, in the same direction */
    TWIN_MANY = -3,    /* three or more */
    TWIN_LOOP = -4     /* both ends are one vertex: a repeated corner */
};

typedef struct topology {
    const abut_context *context;
    const abut_mesh *mesh;
    scratch memory;
    vec3 origin;
    double diagonal, weld; /* metres */
    int32_t vertex_count, corner_count, face_count;
    vec3 *position;        /* of a vertex, relative to origin */
    int32_t *point;        /* of a vertex: its first point in the file */
    int32_t *point_vertex; /* of a point of the file: its vertex, -1 where no face uses it */
    int32_t *vertex;       /* of a corner: where the half-edge starts */
    int32_t *face;         /* of a corner */
    int32_t *twin;         /* of a corner */
    int32_t *ring;         /* of a corner on a bad edge: the next corner of the same edge, around; NULL when
                              there are none */
    int64_t exact_duplicates, near_duplicates; /* points that were welded to an earlier one */
    int64_t edge_count, open_edges, flipped_edges, many_edges, loop_edges;
} topology;

/* Checks the mesh's numbers, welds at `weld` times the diagonal (0: equal points only; negative: not at all,
 * the numbers of the file count), and pairs the half-edges.  On failure there is nothing to free. */
abut_status topology_make(topology *t, const abut_context *context, const abut_mesh *mesh, double weld,
                          abut_error *error);
void topology_free(topology *t);

static inline int32_t topology_first(const topology *t, int32_t face) {
    return (int32_t)t->mesh->face_start[face];
}
static inline int32_t topology_size(const topology *t, int32_t face) {
    return (int32_t)(t->mesh->face_start[face + 1] - t->mesh->face_start[face]);
}
static inline int32_t topology_next(const topology *t, int32_t corner) {
    int32_t face = t->face[corner], next = corner + 1;
    return next < t->mesh->face_start[face + 1] ? next : topology_first(t, face);
}
static inline int32_t topology_prev(const topology *t, int32_t corner) {
    int32_t face = t->face[corner];
    return corner > t->mesh->face_start[face] ? corner - 1 : (int32_t)t->mesh->face_start[face + 1] - 1;
}
static inline vec3 topology_at(const topology *t, int32_t corner) { return t->position[t->vertex[corner]]; }
/* All edges are borders of two faces that agree. */
static inline bool topology_closed(const topology *t) {
    return t->open_edges + t->flipped_edges + t->many_edges + t->loop_edges == 0;
}

/* Union-find over 0 .. count-1 with path halving; the smaller number becomes the root, so that roots do not
 * depend on the order of the unions. */
int32_t union_find(int32_t *parent, int32_t i);
void union_join(int32_t *parent, int32_t i, int32_t j);

/* Numbers the vertex orbits: corners that turn around one vertex without leaving the surface.  More orbits
 * than vertices means vertices where two sheets meet.  orbit[c] is the smallest corner of its orbit; faces
 * across bad edges (twin < 0) end an orbit.  Returns the number of orbits. */
int32_t topology_orbits(const topology *t, int32_t *orbit);
/* The same without regard to direction, for meshes with bad edges: corners that are joined around a vertex
 * through any shared edge have the same sheet[c], the smallest corner. */
void topology_sheets(const topology *t, int32_t *sheet);
/* component[f] = its number in the order of first faces, joined across good edges; returns how many. */
int32_t topology_components(const topology *t, int32_t *component);

/* (n, d) and area of a polygon by Newell's sums; d is the mean of n . v over its corners. */
plane topology_plane(const topology *t, int32_t face, double *area);

#endif
