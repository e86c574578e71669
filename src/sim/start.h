/* What the start checks and the pushing apart of overlapping bodies share. */
#ifndef SIM_START_H
#define SIM_START_H

#include "abut/convex.h"
#include "abut/touch.h"
#include "sim/run.h"

/* What is made of a solid once, however many bodies share it. */
typedef struct ready_solid {
    const abut_solid *solid;
    abut_touch_solid *touch;
    abut_index *index;
    abut_hull *hull;
    bool is_convex; /* valid with the hull */
} ready_solid;

/* And of a smooth surface. */
typedef struct ready_surface {
    const abut_surface *surface;
    abut_surface_tree *tree;
} ready_surface;

typedef struct checker {
    const abut_model *model;
    const abut_context *context;
    ARRAY(ready_solid) ready;
    ARRAY(ready_surface) surfaces;
    double epsilon;
    const motion *now; /* of all bodies; NULL: at the start */
    vec3 *shifts;      /* what each body has been pushed by so far; NULL: nothing */
    int moved;         /* a body that is tried elsewhere, or -1 */
    vec3 moved_by;
} checker;

/* ---- start.c */
checker start_checker(const abut_model *m);
void start_checker_free(checker *c);
ready_solid *start_ready(checker *c, const abut_solid *solid); /* NULL: out of memory */
motion start_of(const checker *c, int body); /* where it is now, or at the start, pushed and moved */
pose start_pose(const checker *c, int body);
vec3 start_center(const checker *c, int body); /* of mass */
box start_box(const checker *c, int body);     /* around its bounds, world axes */
/* A pair that may meet, and whose balls and boxes do (within epsilon).  *a becomes one that can move. */
bool start_pair_is_near(const checker *c, int *a, int *b);
/* Depth and place of the overlap of a and b, 0 where there is none; `away` from b to a is known for pairs of
 * elements and of smooth surfaces, and zero otherwise. */
abut_status start_depth(checker *c, int a, int b, double *depth, vec3 *at, vec3 *away, abut_error *error);

/* ---- start_pairs.c */
typedef struct start_pair {
    int a, b; /* a can move, if one of them can */
} start_pair;
typedef ARRAY(start_pair) start_pairs;
/* All pairs that are near, in the order of their bodies, in place of what the array held.  False: out of
 * memory. */
bool start_near_pairs(const checker *c, start_pairs *out);

/* ---- audit.c */
/* The first pair, of which one is `moved`, that overlaps by more than epsilon at the present time; depth 0:
 * none. */
abut_status run_find_overlap(abut_sim *run, const bool *moved, start_pair *pair, double *depth,
                             abut_error *error);

/* ---- audit_smooth.c */
/* How deep the samples of a closed smooth surface reach into another body, or two surfaces into each other,
 * if deeper than `least`, otherwise 0; now is known. */
abut_status audit_smooth_depth(checker *c, int surface, int other, double least, double *depth,
                               abut_error *error);

/* ---- audit_surfaces.c: the same for two surfaces, where, and the way out of b for a */
abut_status audit_surfaces_depth(checker *c, int a, int b, double least, double *depth, vec3 *at, vec3 *away,
                                 abut_error *error);

/* ---- separate.c */
/* A short move of a that frees it of b, which it overlaps by depth. */
abut_status start_way_out(checker *c, int a, int b, double depth, vec3 away, vec3 *move, abut_error *error);

#endif
