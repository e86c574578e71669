/* Point in shell by counting the signed crossings of a segment that leaves the box, with exact signs.  A
 * segment that meets an edge or a vertex decides nothing; another direction is tried. */
#include "solid/shells.h"

enum { DIRECTIONS = 12 };

/* +1, -1: the segment p q crosses the triangle, leaving or entering; 0: it does not; 2: undecided. */
static int crossing(vec3 p, vec3 q, vec3 a, vec3 b, vec3 c) {
    int side_p = orient3d(a, b, c, p), side_q = orient3d(a, b, c, q);
    if (side_p * side_q > 0) return 0;
    int s1 = orient3d(p, q, a, b), s2 = orient3d(p, q, b, c), s3 = orient3d(p, q, c, a);
    bool some_below = s1 < 0 || s2 < 0 || s3<0, some_above = s1> 0 || s2 > 0 || s3 > 0;
    if (some_below && some_above) return 0;
    if (side_p == 0 || side_q == 0 || s1 == 0 || s2 == 0 || s3 == 0) return 2;
    return side_p < 0 ? 1 : -1;
}

/* Cheap rejection: the triangle lies on one side of the box of the segment. */
static bool apart(box b, vec3 p, vec3 q, vec3 r) {
    return fmax(fmax(p.x, q.x), r.x) < b.lower.x || fmin(fmin(p.x, q.x), r.x) > b.upper.x ||
           fmax(fmax(p.y, q.y), r.y) < b.lower.y || fmin(fmin(p.y, q.y), r.y) > b.upper.y ||
           fmax(fmax(p.z, q.z), r.z) < b.lower.z || fmin(fmin(p.z, q.z), r.z) > b.upper.z;
}

static bool count_crossings(const topology *t, const int32_t *faces, int32_t count, vec3 p, vec3 q,
                            int *winding) {
    box b = box_add_point(box_add_point(box_empty(), p), q);
    *winding = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t first = topology_first(t, faces[i]), size = topology_size(t, faces[i]);
        vec3 a = topology_at(t, first);
        for (int32_t j = 1; j + 1 < size; j++) {
            vec3 u = topology_at(t, first + j), v = topology_at(t, first + j + 1);
            if (apart(b, a, u, v)) continue;
            int sign = crossing(p, q, a, u, v);
            if (sign == 2) return false;
            *winding += sign;
        }
    }
    return true;
}

bool shell_winding(const topology *t, const int32_t *faces, int32_t count, vec3 p, int *winding) {
    uint64_t state = 1;
    for (int i = 0; i < DIRECTIONS; i++) {
        /* mostly along one axis, so that the box of the segment is thin */
        double far = (i & 1 ? -4 : 4) * t->diagonal, lean = 0.02 * t->diagonal * (i + 1);
        double s = random_range(&state, -lean, lean), u = random_range(&state, -lean, lean);
        vec3 step = i % 3 == 0   ? vec3_make(far, s, u)
                    : i % 3 == 1 ? vec3_make(s, far, u)
                                 : vec3_make(s, u, far);
        if (count_crossings(t, faces, count, p, vec3_add(p, step), winding)) return true;
    }
    return false;
}

static bool box_inside(box inner, box outer) {
    return inner.lower.x >= outer.lower.x && inner.upper.x <= outer.upper.x &&
           inner.lower.y >= outer.lower.y && inner.upper.y <= outer.upper.y &&
           inner.lower.z >= outer.lower.z && inner.upper.z <= outer.upper.z;
}

/* ---- nesting */

typedef struct nest {
    topology *t;
    int32_t *start, *faces; /* faces of shell k: faces[start[k]] .. faces[start[k + 1] - 1] */
    box *boxes;
    int *depth, *within;
    bool *touch;
} nest;

/* A shell lies in another when one of its points does. */
static void compare(nest *n, int32_t inner, int32_t outer) {
    if (!box_inside(n->boxes[inner], n->boxes[outer])) return;
    const int32_t *faces = n->faces + n->start[outer];
    int32_t count = n->start[outer + 1] - n->start[outer];
    vec3 p = topology_at(n->t, topology_first(n->t, n->faces[n->start[inner]]));
    int winding;
    if (!shell_winding(n->t, faces, count, p, &winding)) {
        n->touch[inner] = true;
        return;
    }
    n->depth[inner] += winding;
    if (n->within) n->within[inner] += winding != 0;
}

static int by_lower_x(const void *user, const void *a, const void *b) {
    const box *boxes = user;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    double x = boxes[i].lower.x, y = boxes[j].lower.x;
    return x != y ? (x < y ? -1 : 1) : i < j ? -1 : i > j;
}

/* A sweep along x over the boxes: each shell is compared with those that the sweep has not left behind. */
static bool sweep(nest *n, int32_t count, int32_t *order, int32_t *active) {
    for (int32_t k = 0; k < count; k++) order[k] = k;
    if (!sort_stable(n->t->context, order, (size_t)count, sizeof *order, by_lower_x, n->boxes)) return false;
    int32_t open = 0;
    for (int32_t k = 0; k < count; k++) {
        int32_t here = order[k], kept = 0;
        for (int32_t i = 0; i < open; i++) {
            if (n->boxes[active[i]].upper.x < n->boxes[here].lower.x) continue;
            compare(n, here, active[i]);
            compare(n, active[i], here);
            active[kept++] = active[i];
        }
        active[kept] = here;
        open = kept + 1;
    }
    return true;
}

abut_status shells_nest(topology *t, const int32_t *component, int32_t shell_count, int *depth, bool *touch,
                        int *within, abut_error *error) {
    for (int32_t k = 0; k < shell_count; k++) depth[k] = 0, touch[k] = false;
    for (int32_t k = 0; within && k < shell_count; k++) within[k] = 0;
    if (shell_count < 2) return ABUT_OK;
    scratch *s = &t->memory;
    nest n = {.t = t, .depth = depth, .within = within, .touch = touch};
    n.start = scratch_clear(s, (int64_t)shell_count + 2, sizeof *n.start);
    n.faces = scratch_take(s, t->face_count, sizeof *n.faces);
    n.boxes = scratch_take(s, shell_count, sizeof *n.boxes);
    int32_t *order = scratch_take(s, 2 * (int64_t)shell_count, sizeof *order);
    if (!n.start || !n.faces || !n.boxes || !order) return fail_memory(error);
    for (int32_t k = 0; k < shell_count; k++) n.boxes[k] = box_empty();
    for (int32_t c = 0; c < t->corner_count; c++) {
        int32_t k = component[t->face[c]];
        n.boxes[k] = box_add_point(n.boxes[k], topology_at(t, c));
    }
    for (int32_t f = 0; f < t->face_count; f++) n.start[component[f] + 2]++;
    for (int32_t k = 0; k < shell_count; k++) n.start[k + 2] += n.start[k + 1];
    for (int32_t f = 0; f < t->face_count; f++) n.faces[n.start[component[f] + 1]++] = f;
    bool fine = sweep(&n, shell_count, order, order + shell_count);
    void *done[] = {n.start, n.faces, n.boxes, order};
    for (int i = 0; i < COUNT_OF(done); i++) scratch_drop(s, done[i]);
    return fine ? ABUT_OK : fail_memory(error);
}

shell_verdict shells_judge(double volume, int depth, bool touches) {
    bool cavity = volume < 0;
    if (volume == 0) return SHELL_EMPTY;
    if (touches) return SHELL_TOUCHES;
    if (depth == cavity) return SHELL_FINE;
    return cavity ? SHELL_INSIDE_OUT : SHELL_NESTED;
}
