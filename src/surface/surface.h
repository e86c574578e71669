/* surface: smooth surfaces as atlases of patches (Kry 2000, chapters 4.5 and 5), inside the library.
 *
 *   jet.h        derivatives to third order of functions of (u, v)
 *   bezier.c     bicubic and rational bicubic Bezier kernels, blossoms
 *   triangle.c   quartic triangular Bezier kernel; regular Loop patches are converted to it
 *   stam.c       Loop patches with an extraordinary vertex
 *   s_patch.c    S-patches of degree 4
 *   fill.c       S-patches that replace what lies around extraordinary vertices; fit.c their inside
 *   quadric.c    charts of quadrics and the torus
 *   build.c      the block of a surface and its builder
 *   evaluate.c   patch number -> kernel
 *   loop_mesh.c  subdivision; loop.c the limit surface; smooth.c with S-patches in its holes
 *   regular.c    whether bodies can touch it
 *   atlas.c      transitions across edges and corners, walks
 *   mass.c       volume and inertia; bounds.c boxes and their tree; closest.c closest and support points
 *
 * The block of a surface, all offsets in bytes from its start:
 *
 *   | header | patches (shown, then hidden) | corners (u, v) | edges (patch, edge) | numbers |
 *
 * A patch has `sides` corners and edges from `first` on in both tables, and its data from `data` on in the
 * numbers; what the data are is said with each kernel. */
#ifndef SURFACE_SURFACE_H
#define SURFACE_SURFACE_H

#include "abut/surface.h"
#include "base/base.h"
#include "math/vec.h"

typedef abut_partials partials;
/* How many of the ten partials have an order up to `order`; clears the others. */
static inline int partials_count(int order) { return order <= 0 ? 1 : order == 1 ? 3 : order == 2 ? 6 : 10; }
static inline void partials_clear(partials *p, int order) {
    int from = partials_count(order);
    memset((vec3 *)p + from, 0, (size_t)(10 - from) * sizeof(vec3));
}

typedef struct patch {
    int32_t kind, sides;
    int32_t first;   /* corner and edge table; -1 for hidden patches */
    int32_t valence; /* of the extraordinary vertex */
    int32_t face;    /* of the cage, or -1 */
    int32_t part;    /* quadrics: which chart of the whole; Stam: corner of the extraordinary vertex;
                        split in four: the first hidden patch */
    int64_t data;
    double deviation, normal_jump, least_area; /* S-patches that fill a hole: see abut_patch_facts */
} patch;

typedef struct edge_link {
    int32_t patch, edge; /* -1: the surface ends here */
} edge_link;

struct abut_surface {
    uint32_t magic, version;
    uint64_t size, hash;
    int32_t patch_count, all_count; /* shown; shown and hidden */
    int32_t corner_count, closed;
    int64_t patches, corners, edges, numbers; /* byte offsets */
    int64_t number_count;
    double diagonal; /* of the box of all control points, or of the quadric */
    double epsilon;  /* width of the extended boundary (Kry 4.5.5), in parameters */
};

static inline const patch *surface_patch(const abut_surface *s, int i) {
    return (const patch *)((const char *)s + s->patches) + i;
}
static inline const double *surface_corner(const abut_surface *s, int i) {
    return (const double *)((const char *)s + s->corners) + 2 * (int64_t)i;
}
static inline const edge_link *surface_edge(const abut_surface *s, int i) {
    return (const edge_link *)((const char *)s + s->edges) + i;
}
static inline const double *surface_numbers(const abut_surface *s, int64_t at) {
    return (const double *)((const char *)s + s->numbers) + at;
}

/* ---- bezier.c.  Data: 16 points (x, y, z, weight), u fastest; for BEZIER the fourth number is 0. */
enum { BEZIER_NUMBERS = 64 };
void bezier_evaluate(const double *data, double u, double v, int order, partials *out);
void rational_evaluate(const double *data, double u, double v, int order, partials *out);
/* The blossom f*(u1 u2 u3; v1 v2 v3), symmetric and affine in each; (x, y, z, w). */
void bezier_blossom(const double *data, const double u[3], const double v[3], double out[4]);

/* ---- triangle.c.  Data: 15 points (x, y, z, 0); the point of b0^i b1^j b2^k is TRIANGLE(j, k); u = b1,
 * v = b2 are the weights of the second and third corner. */
enum { TRIANGLE_POINTS = 15, TRIANGLE_NUMBERS = 60, STENCIL_POINTS = 12 };
#define TRIANGLE(j, k) (((j) + (k)) * ((j) + (k) + 1) / 2 + (k))
void triangle_evaluate(const double *data, double u, double v, int order, partials *out);
vec3 triangle_blossom(const double *data, const double at[4][2]);
/* The 15 Bezier points of a regular Loop patch from its 12 control points, in the order of stencil_lattice
 * (place of each around the triangle (0,0), (1,0), (0,1) of the lattice). */
extern const int8_t stencil_lattice[STENCIL_POINTS][2];
void triangle_from_stencil(const vec3 stencil[STENCIL_POINTS], double *data);
/* Turns the net so that what was corner 0 becomes corner `to` (cyclically). */
void triangle_turn(const double *data, int to, double *turned);

/* ---- stam.c.  Around the extraordinary vertex c of valence N the ring is r[0..N-1]; the triangle of the
 * patch is (c, r[0], r[1]).  Data: see stam.c; STAM_NUMBERS(N) of them. */
enum { STAM_LEVELS = 5, STAM_DEEPEST = 60 };
#define STAM_NUMBERS(valence) (23 + 11 * ((valence) / 2) + STAM_LEVELS * 3 * TRIANGLE_NUMBERS)
typedef struct stam_points {
    vec3 center;
    const vec3 *ring;            /* N of them, counter-clockwise */
    vec3 a0, a1, middle, b1, b0; /* what lies beyond r[0] r[1]; the drawing is in stam.c */
} stam_points;
void stam_build(const stam_points *points, int valence, int corner, double *data);
bool stam_evaluate(const double *data, int valence, int corner, double u, double v, int order, partials *out);
/* The box of all control points around the patch. */
box stam_box(const double *data, int valence);
/* Loop's weight a_N: the new vertex is (1 - a) c + a mean(ring). */
double loop_weight(int valence);
/* cos and sin of the fraction k/n of a turn, from a series: the same bits everywhere. */
void turn(int k, int n, double *cosine, double *sine);

/* ---- s_patch.c.  Data: alpha_i as constant, u, v for each side; how many coefficients the corrections of
 * the sides have (0: none); how many the inner polynomial has (0: none); the points (x, y, z, 0) by
 * abut_s_patch_index; for each side the correction: room for S_PATCH_FIT Chebyshev coefficients (x, y, z, 0)
 * in 2t - 1; the inner polynomial: S_PATCH_INNER coefficients of u^i v^j, i + j <= 4, at TRIANGLE(i, j).
 * s_patch_numbers(sides) of them in all. */
enum { S_PATCH_FIT = 32, S_PATCH_DEGREE = 4, S_PATCH_INNER = 15 };
#define S_PATCH_HEAD(sides) (3 * (sides) + 2)
int64_t s_patch_numbers(int sides);
double *s_patch_points(double *data, int sides);
double *s_patch_correction(double *data, int sides, int side);
double *s_patch_inner(double *data, int sides);
/* m(p)^2, the weight of the inner polynomial: it vanishes to second order on the boundary. */
double s_patch_bubble(const double *data, int sides, double u, double v);
void s_patch_corners(int sides, double corners[][2]);
/* Fills the alphas; points and corrections are the caller's. */
void s_patch_begin(double *data, int sides);
void s_patch_set(double *data, int sides, int index, vec3 point);
void s_patch_evaluate(const double *data, int sides, double u, double v, int order, partials *out);
/* The first derivatives at parameter t of a side, along it (by t) and inward (by length); what a full
 * evaluation gives there, for a fraction of the work.  corners: those of s_patch_corners. */
void s_patch_side(const double *data, int sides, const double (*corners)[2], int side, double t, vec3 *along,
                  vec3 *inward);

/* ---- fill.c: an S-patch in a hole of a Loop surface.  nets[i] is the quartic beyond side i, with the
 * corners (end of the side, start of the side, tip).  Fills points and corrections. */
/* The fit is refined until the normals agree to 1e-12, or S_PATCH_FIT is reached; returns the angle left. */
double s_patch_fill(double *data, int sides, const double (*nets)[TRIANGLE_NUMBERS]);
/* Largest angle between the normals on both sides of side i, in radians, at `samples` points. */
double s_patch_jump(const double *data, int sides, int side, const double *net, int samples);

/* ---- fit.c: moves the inside of a filled S-patch, from its boundary on to second order, close to the limit
 * surface; stam holds the n sectors around the extraordinary vertex, `each` numbers each. */
bool s_patch_fit_limit(double *data, int sides, const double *stam, int64_t each);
/* The point of the limit surface near x, from sector *i with weights *b1, *b2 of r_i and r_(i+1):
 * Gauss-Newton steps; the best one found. */
vec3 limit_foot(const double *stam, int64_t each, int n, vec3 x, int i, double b1, double b2);

/* ---- quadric.c.  Data: origin, axes by columns, ratio. */
enum { QUADRIC_NUMBERS = 13 };
void quadric_evaluate(const double *data, abut_patch_kind kind, int part, double u, double v, int order,
                      partials *out);

/* ---- evaluate.c */
bool patch_evaluate(const abut_surface *surface, const patch *p, double u, double v, int order,
                    partials *out);

/* ---- build.c.  A surface grows in a builder and is packed into its block at the end. */
typedef struct surface_builder {
    const abut_context *context;
    ARRAY(patch) patches, hidden;
    double_array corners; /* two a corner */
    ARRAY(edge_link) edges;
    double_array numbers;
    bool failed; /* memory ran out on the way */
} surface_builder;
/* Adds a patch with this domain; returns its number.  `count` numbers of data are appended (cleared), and
 * *data points to them until the next call. */
int builder_patch(surface_builder *b, patch p, int sides, const double (*corners)[2], int64_t count,
                  double **data);
int builder_hidden(surface_builder *b, patch p, int64_t count, double **data);
/* Joins edge e of patch p with edge f of patch q. */
void builder_join(surface_builder *b, int p, int e, int q, int f);
abut_status builder_finish(surface_builder *b, abut_surface **surface, abut_error *error);
void builder_free(surface_builder *b);
void domain_square(double low_u, double high_u, double low_v, double high_v, double corners[4][2]);
extern const double domain_triangle[3][2];
/* Joins the edges of a finished surface that run along the same curve in opposite directions, equal to
 * `tolerance` at five points; then seals it.  Refused: three patches along one curve, two in one direction.
 */
abut_status surface_join_equal(const abut_context *context, abut_surface *surface, double tolerance,
                               abut_error *error);
/* After the last change: size, closedness, hash. */
void surface_seal(abut_surface *surface);

/* ---- loop_mesh.c: closed triangle meshes for subdivision.  Half-edge 3f + i runs from corner i of triangle
 * f to the next; twin[h] runs back. */
typedef struct loop_mesh {
    const abut_context *context;
    vec3 *points;
    int32_t *corners, *twin; /* 3 a triangle */
    int32_t *outgoing;       /* a half-edge that leaves each vertex, or -1 */
    int32_t *valence;
    int32_t *faces; /* the cage's face of each triangle */
    int64_t point_count, triangle_count;
} loop_mesh;
abut_status loop_mesh_from_cage(const abut_context *context, const abut_mesh *cage, double scale,
                                loop_mesh *mesh, abut_error *error);
abut_status loop_mesh_refine(const loop_mesh *mesh, loop_mesh *fine, abut_error *error);
void loop_mesh_free(loop_mesh *mesh);
/* The ring of the vertex that half-edge h leaves, counter-clockwise from h's end; returns its valence. */
int loop_mesh_ring(const loop_mesh *mesh, int32_t h, int32_t *ring, int capacity);
void loop_mesh_stencil(const loop_mesh *mesh, int64_t triangle, vec3 stencil[STENCIL_POINTS]);
static inline int32_t half_edge_next(int32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
static inline int32_t half_edge_previous(int32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }

/* ---- bounds.c: the box of a patch's control hull, and the tree of such boxes, in one block */
box patch_box(const abut_surface *surface, int patch);
typedef struct tree_node {
    box bounds;
    int32_t first, count;
} tree_node;
struct abut_surface_tree {
    uint64_t size;
    int32_t patch_count, node_count;
    tree_node nodes[]; /* 2 * patch_count of them, then the order of the patches */
};
static inline size_t tree_size(int patches) {
    return sizeof(abut_surface_tree) + (size_t)patches * (2 * sizeof(tree_node) + sizeof(int32_t));
}
static inline const int32_t *tree_order_const(const abut_surface_tree *t) {
    return (const int32_t *)(t->nodes + 2 * (size_t)t->patch_count);
}
static inline int32_t *tree_order(abut_surface_tree *t) {
    return (int32_t *)(t->nodes + 2 * (size_t)t->patch_count);
}

/* ---- smooth.c: ABUT_LOOP_SMOOTH.  *sound: no S-patch folds or comes near it, and the normals meet.  With
 * `only_sound` it gives up at the first that is not, with no surface and ABUT_OK. */
abut_status smooth_surface(const abut_context *context, const loop_mesh *mesh, bool only_sound,
                           abut_surface **surface, bool *sound, abut_error *error);
/* ---- loop.c: the numbers of a STAM patch at a triangle's corner, for parameters in which the extraordinary
 * vertex is corner `turned` */
abut_status loop_gather_stam(const loop_mesh *m, int64_t triangle, int corner, int turned, double *data,
                             abut_error *error);

#endif
