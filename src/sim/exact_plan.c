/* What may meet within a frame.  Bodies whose swept boxes do not meet cannot touch, so the world falls into
 * groups that are moved apart from each other; the cost of separate heaps adds up instead of multiplying.
 *
 *   swept boxes ──> pairs that meet (sweep along x) ──> groups (union-find, with hinges and springs)
 *                                                        └─> members of each group */
#include "sim/exact.h"

/* ---- swept boxes */

/* How far the body can get within the frame: its velocity, twice what gravity adds and a twentieth of its
 * size, with a margin; as far as it was found to go, where an impact made it faster than that; as far as its
 * function takes it. */
static double reach_of(const exact_plan *p, int body, double h) {
    const model_body *b = &p->run->model->bodies[body];
    const motion *m = &run_motions(p->run->state)[body];
    double travel = vec3_length(m->velocity.linear) * h + vec3_length(p->run->model->world.gravity) * h * h;
    if (b->function && p->most) travel = p->most[body].far;
    double reach = p->margin * (travel + 0.05 * b->shape.radius) + p->run->model->tolerance.touching;
    return p->reaches ? fmax(reach, p->reaches[body]) : reach;
}

/* Where the body can be during the frame: the ball around its centre, moved by its reach. */
static box swept_box(const exact_plan *p, int body, double h) {
    const model_body *b = &p->run->model->bodies[body];
    vec3 c = run_motions(p->run->state)[body].center;
    double r = b->shape.radius;
    if (!isfinite(r)) return (box){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    box here = {vec3_sub(c, vec3_make(r, r, r)), vec3_add(c, vec3_make(r, r, r))};
    if (!b->movable && !b->kinematic) return here;
    return box_grow(here, reach_of(p, body, h));
}

/* The boxes are around balls, so that its centre tells. */
static bool is_inside(const exact_plan *p, int body, vec3 c) {
    double r = p->run->model->bodies[body].shape.radius;
    vec3 lower = p->boxes[body].lower, upper = p->boxes[body].upper;
    return c.x - r >= lower.x && c.y - r >= lower.y && c.z - r >= lower.z && c.x + r <= upper.x &&
           c.y + r <= upper.y && c.z + r <= upper.z;
}

bool exact_plan_kept(const exact_plan *p) {
    for (int i = 0; i < p->run->model->body_count; i++)
        if (p->run->model->bodies[i].movable && !is_inside(p, i, run_motions(p->run->state)[i].center))
            return false;
    return true;
}

/* A group that left is planned with twice its reach, and for what its bodies have come to do: the speed of
 * each for the rest of the frame, with a margin of half. */
bool exact_plan_left(const exact_plan *p, const exact *x) {
    bool inside = true;
    for (int i = 0; i < x->movable && inside; i++) inside = is_inside(p, x->bodies[i], x->motions[i].center);
    if (inside) return false;
    double rest = x->end - x->time, gravity = vec3_length(p->run->model->world.gravity);
    for (int i = 0; i < x->movable; i++) {
        int body = x->bodies[i];
        double gone = vec3_distance(x->motions[i].center, run_motions(p->run->saved)[body].center);
        double speed = vec3_length(x->motions[i].velocity.linear) + gravity * rest;
        double before = 0.5 * (p->boxes[body].upper.x - p->boxes[body].lower.x) -
                        p->run->model->bodies[body].shape.radius;
        p->reaches[body] = fmax(2 * before, gone + 1.5 * speed * rest);
    }
    return true;
}

/* What functions do in the frame, which their bodies' motions now do not tell. */
static bool follow_functions(exact_plan *p, double h) {
    const abut_model *m = p->run->model;
    for (int i = 0; i < m->body_count && h > 0; i++) {
        if (!m->bodies[i].kinematic || !m->bodies[i].function) continue;
        if (!p->most) p->most = arena_alloc(&p->run->scratch, (size_t)m->body_count, sizeof *p->most);
        if (!p->most) return false;
        model_kinematic_most(m, i, p->run->state->time, h, &p->most[i]);
    }
    return true;
}

const kinematic_most *exact_most(const exact *x, int local) {
    const model_body *b = &x->model->bodies[x->bodies[local]];
    bool follows = b->kinematic && b->function && x->plan && x->plan->most;
    return follows ? &x->plan->most[x->bodies[local]] : NULL;
}

/* ---- pairs */

static int by_lower_x(const void *user, const void *a, const void *b) {
    const box *boxes = user;
    int i = *(const int *)a, j = *(const int *)b;
    double x = boxes[i].lower.x, y = boxes[j].lower.x;
    return x < y ? -1 : x > y ? 1 : i - j;
}

static int by_bodies(const void *user, const void *a, const void *b) {
    (void)user;
    const exact_pair *p = a, *q = b;
    return p->a != q->a ? p->a - q->a : p->b - q->b;
}

/* Pairs of boxes that meet, by a sweep along x; they come out in the order of their bodies. */
static bool find_pairs(exact_plan *p, int *order) {
    const abut_model *m = p->run->model;
    const abut_context *context = &p->run->context;
    for (int i = 0; i < m->body_count; i++) order[i] = i;
    if (!sort_stable(context, order, (size_t)m->body_count, sizeof *order, by_lower_x, p->boxes))
        return false;
    for (int i = 0; i < m->body_count; i++)
        for (int j = i + 1; j < m->body_count; j++) {
            int a = order[i], b = order[j];
            if (p->boxes[b].lower.x > p->boxes[a].upper.x) break;
            if (!box_overlap(p->boxes[a], p->boxes[b]) || !model_may_touch(m, a, b)) continue;
            exact_pair pair = {.a = a < b ? a : b, .b = a < b ? b : a};
            if (!array_push(context, &p->pairs, pair)) return false;
        }
    return sort_stable(context, p->pairs.data, (size_t)p->pairs.count, sizeof *p->pairs.data, by_bodies,
                       NULL);
}

/* ---- groups */

static int find_root(int *root, int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

static void join(exact_plan *p, int a, int b) {
    if (a < 0 || b < 0 || !p->run->model->bodies[a].movable || !p->run->model->bodies[b].movable) return;
    a = find_root(p->root, a), b = find_root(p->root, b);
    if (a < b)
        p->root[b] = a;
    else
        p->root[a] = b;
}

/* Groups are numbered in the order of their first bodies. */
static void find_groups(exact_plan *p, bool together) {
    const abut_model *m = p->run->model;
    for (int i = 0; i < m->body_count; i++) p->root[i] = i;
    for (int64_t i = 0; i < p->pairs.count; i++) join(p, p->pairs.data[i].a, p->pairs.data[i].b);
    for (int i = 0; i < m->hinge_count; i++) join(p, m->hinges[i].h.a, m->hinges[i].h.b);
    for (int i = 0; i < m->spring_count; i++) join(p, m->springs[i].a, m->springs[i].b);
    for (int i = 0; i < m->body_count; i++) {
        p->group_of[i] = -1;
        if (!m->bodies[i].movable) continue;
        int root = find_root(p->root, i);
        p->group_of[i] = together ? 0 : root < i ? p->group_of[root] : p->group_count;
        if (p->group_of[i] == p->group_count) p->group_count++;
    }
}

/* ---- members */

/* The group of something that holds on to bodies a and b (-1: to none); -1 when neither moves. */
static int group_of_two(const exact_plan *p, int a, int b) {
    int g = a >= 0 ? p->group_of[a] : -1;
    return g < 0 && b >= 0 ? p->group_of[b] : g;
}

static int group_of_body(const exact_plan *p, int64_t i) { return p->group_of[i]; }
static int group_of_hinge(const exact_plan *p, int64_t i) {
    return group_of_two(p, p->run->model->hinges[i].h.a, p->run->model->hinges[i].h.b);
}
static int group_of_spring(const exact_plan *p, int64_t i) {
    return group_of_two(p, p->run->model->springs[i].a, p->run->model->springs[i].b);
}
static int group_of_force(const exact_plan *p, int64_t i) {
    return p->group_of[p->run->model->forces[i].body];
}
static int group_of_pair(const exact_plan *p, int64_t i) {
    return group_of_two(p, p->pairs.data[i].a, p->pairs.data[i].b);
}

static int group_of_touch(const exact_plan *p, int64_t i) {
    const touch *t = &run_touches(p->run->state)[i];
    return group_of_two(p, t->a, t->b);
}

/* Counting sort of `count` items by group. */
static bool list_members(exact_plan *p, int64_t count, int find(const exact_plan *, int64_t),
                         exact_members *out) {
    out->first = arena_alloc(&p->run->scratch, (size_t)p->group_count + 2, sizeof(int));
    out->list = arena_alloc(&p->run->scratch, (size_t)count + 1, sizeof(int));
    if (!out->first || !out->list) return false;
    int *next =
        out->first + 1; /* counts, then where the next one goes, and in the end where the group ends */
    for (int64_t i = 0; i < count; i++)
        if (find(p, i) >= 0 && find(p, i) + 1 < p->group_count) next[find(p, i) + 1]++;
    for (int g = 1; g < p->group_count; g++) next[g] += next[g - 1];
    for (int64_t i = 0; i < count; i++)
        if (find(p, i) >= 0) out->list[next[find(p, i)]++] = (int)i;
    return true;
}

/* ---- functions of the caller */

static bool body_calls(const abut_model *m, int body) {
    return body >= 0 && m->bodies[body].kinematic && m->bodies[body].function;
}

static void mark(exact_plan *p, int number, bool calls) {
    if (number >= 0 && calls) p->calls[number] = true;
}

/* Motions, motors and forces that are functions are asked in the caller's thread only. */
static void find_callers(exact_plan *p) {
    const abut_model *m = p->run->model;
    for (int64_t i = 0; i < p->pairs.count; i++)
        mark(p, group_of_pair(p, i), body_calls(m, p->pairs.data[i].a) || body_calls(m, p->pairs.data[i].b));
    for (int i = 0; i < m->hinge_count; i++) {
        const hinge *h = &m->hinges[i].h;
        bool calls = (h->has_motor && h->motor_function) || body_calls(m, h->a) || body_calls(m, h->b);
        mark(p, group_of_hinge(p, i), calls);
    }
    for (int i = 0; i < m->spring_count; i++)
        mark(p, group_of_spring(p, i), body_calls(m, m->springs[i].a) || body_calls(m, m->springs[i].b));
    for (int i = 0; i < m->force_count; i++) mark(p, group_of_force(p, i), m->forces[i].function != NULL);
}

/* ---- the plan */

bool exact_plan_make(exact_plan *p, abut_sim *run, double h, double *reaches, bool together) {
    const abut_model *m = run->model;
    arena *memory = &run->scratch;
    size_t n = (size_t)m->body_count + 1;
    *p = (exact_plan){.run = run, .margin = reaches ? 1.25 : 1, .reaches = reaches};
    p->boxes = arena_alloc(memory, n, sizeof *p->boxes);
    p->root = arena_alloc(memory, n, sizeof *p->root);
    p->group_of = arena_alloc(memory, n, sizeof *p->group_of);
    p->calls = arena_alloc(memory, n, sizeof *p->calls);
    int *order = arena_alloc(memory, n, sizeof *order);
    if (!p->boxes || !p->root || !p->group_of || !p->calls || !order) return false;
    if (!follow_functions(p, h)) return false;
    for (int i = 0; i < m->body_count; i++) p->boxes[i] = swept_box(p, i, h);
    if (!find_pairs(p, order)) return false;
    find_groups(p, together);
    find_callers(p);
    return list_members(p, m->body_count, group_of_body, &p->bodies) &&
           list_members(p, m->hinge_count, group_of_hinge, &p->hinges) &&
           list_members(p, m->spring_count, group_of_spring, &p->springs) &&
           list_members(p, m->force_count, group_of_force, &p->forces) &&
           list_members(p, p->pairs.count, group_of_pair, &p->meetings) &&
           list_members(p, run->state->touch_count, group_of_touch, &p->touches);
}

void exact_plan_free(exact_plan *p) { array_free(&p->run->context, &p->pairs); }
