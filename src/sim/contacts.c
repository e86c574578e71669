/* The contacts of a run as the user sees them: touching places of a pair with one normal, between the same
 * two faces, are one region, with its points, forces, dimension, area and centre of pressure. */
#include "contact/flat.h"
#include "sim/exact.h"
#include "sim/live.h"

static const contact_shape *shape_of(const exact *x, int local) {
    return &x->model->bodies[x->bodies[local]].shape;
}

/* Twice the signed area of the triangle, seen along n. */
static double turn(vec3 n, vec3 a, vec3 b, vec3 c) { return vec3_triple(n, vec3_sub(b, a), vec3_sub(c, a)); }

typedef struct region {
    vec3 *points, *normals, *forces;
    int count, corners;
    bool slips, sticks, determined;
    vec3 normal;
} region;

static double hull_area(const region *r) {
    double twice = 0;
    for (int i = 2; i < r->corners; i++)
        twice += turn(r->normal, r->points[0], r->points[i - 1], r->points[i]);
    return twice / 2;
}

/* Where the resultant acts: places weighted by their normal forces, since friction has no moment about axes
 * of the plane it lies in. */
static vec3 center_of_pressure(const region *r) {
    vec3 center = vec3_zero();
    double sum = 0;
    for (int i = 0; i < r->count; i++) sum += vec3_dot(r->normal, r->forces[i]);
    for (int i = 0; i < r->count; i++) {
        double weight = sum > 0 ? vec3_dot(r->normal, r->forces[i]) / sum : 1.0 / r->count;
        center = vec3_axpy(center, weight, r->points[i]);
    }
    return center;
}

static int dimension_of(const region *r, double epsilon) {
    double longest = 0;
    for (int i = 1; i < r->count; i++) longest = fmax(longest, vec3_distance(r->points[0], r->points[i]));
    if (longest <= 4 * epsilon) return 0;
    return hull_area(r) > 4 * epsilon * longest ? 2 : 1;
}

/* Collects the places of the region that begins with touch `first`. */
static bool fill_region(exact *x, int64_t first, bool *taken, region *r) {
    int64_t n = x->contacts.count;
    *r = (region){.determined = true, .normal = x->contacts.data[first].point.normal};
    vec3 *points = arena_alloc(x->arena, (size_t)n, sizeof *points);
    int *touches = arena_alloc(x->arena, (size_t)n, sizeof *touches);
    int *order = arena_alloc(x->arena, (size_t)n, sizeof *order),
        *stack = arena_alloc(x->arena, 2 * (size_t)n + 2, sizeof *stack);
    r->points = arena_alloc(x->arena, (size_t)n, sizeof *r->points);
    r->normals = arena_alloc(x->arena, (size_t)n, sizeof *r->normals);
    r->forces = arena_alloc(x->arena, (size_t)n, sizeof *r->forces);
    if (!points || !touches || !order || !stack || !r->points || !r->normals || !r->forces) return false;
    for (int64_t i = first; i < n; i++) {
        const group_contact *c = &x->contacts.data[i];
        if (taken[i] || !exact_same_region(x, first, i)) continue;
        taken[i] = true;
        touches[r->count] = (int)i;
        points[r->count++] = c->point.at;
        r->slips |= c->mode == FRICTION_SLIP, r->sticks |= c->mode == FRICTION_STICK;
        r->determined &= x->loads.data[i].determined;
    }
    r->corners = flat_hull(&x->run->context, r->normal, points, r->count, 0, order, stack);
    if (r->corners < 0) return false;
    for (int i = 0; i < r->count; i++) {
        const group_contact *c = &x->contacts.data[touches[order[i]]];
        const contact_load *l = &x->loads.data[touches[order[i]]];
        r->points[i] = c->point.at, r->normals[i] = c->point.normal;
        r->forces[i] = vec3_axpy(l->friction, l->normal, c->point.normal);
    }
    return true;
}

/* A region between two faces has their names and the area they share; the hull of its points is no more than
 * a bound.  Where the two differ the border says how: its corners and loops go behind those of the run. */
static bool measure_region(exact *x, int64_t first, const region *r, abut_contact *out, flat_border *border) {
    const group_contact *c = &x->contacts.data[first];
    const contact_shape *a = shape_of(x, c->a), *b = shape_of(x, c->b);
    const motion *ma = &x->motions[c->a], *mb = &x->motions[c->b];
    int32_t faces[2];
    double hull = out->area;
    exact_faces_of(x, first, faces);
    if (faces[0] < 0 || faces[1] < 0) return true;
    out->entity[0] = (abut_entity){ABUT_ENTITY_FACE, faces[0]};
    out->entity[1] = (abut_entity){ABUT_ENTITY_FACE, faces[1]};
    if (!flat_area(a, faces[0], ma, b, faces[1], mb, c->point.normal, &out->area)) {
        out->area = hull;
        return true;
    }
    if (fabs(out->area - hull) <= 1e-6 * hull) return true;
    if (!flat_border_of(&x->run->context, a, faces[0], ma, b, faces[1], mb, c->point.normal, r->points[0],
                        border))
        return false;
    out->loop_count = border->start.count > 0 ? (int)border->start.count - 1 : 0;
    return true;
}

/* Points, normals, forces and corners go behind each other in the run's array; pointers are set when it no
 * longer grows. */
static bool store_vectors(abut_sim *run, const region *r, const flat_border *border) {
    const vec3 *lists[] = {r->points, r->normals, r->forces, border->corners.data};
    const int64_t counts[] = {r->count, r->count, r->count, border->corners.count};
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0; i < counts[k]; i++)
            if (!array_push(&run->context, &run->contact_vectors, lists[k][i])) return false;
    for (int64_t i = 0; i < border->start.count; i++)
        if (!array_push(&run->context, &run->contact_loops, border->start.data[i])) return false;
    return true;
}

static bool store_region(exact *x, int64_t first, const region *r) {
    abut_sim *run = x->run;
    const abut_context *context = &run->context;
    const group_contact *c = &x->contacts.data[first];
    const near_pair *p = &x->touches.data[first].pair;
    abut_contact out = {.body = {x->bodies[c->a], x->bodies[c->b]},
                        .representation = x->touches.data[first].rolls ? ABUT_ROLLING : ABUT_REGION,
                        .dimension = dimension_of(r, x->model->tolerance.touching),
                        .entity = {exact_entity(x, c->a, p->fa), exact_entity(x, c->b, p->fb)},
                        .point_count = r->count,
                        .state = r->slips    ? ABUT_SLIPPING
                                 : r->sticks ? ABUT_STICKING
                                             : ABUT_FRICTIONLESS,
                        .area = hull_area(r),
                        .center_of_pressure = center_of_pressure(r),
                        .determined = r->determined};
    flat_border border = {0};
    bool fine = true;
    if (out.dimension < 2)
        out.area = 0;
    else
        fine = measure_region(x, first, r, &out, &border);
    fine = fine && array_push(context, &run->contacts, out) && store_vectors(run, r, &border);
    flat_border_free(context, &border);
    return fine;
}

static void set_pointers(abut_sim *run) {
    const abut_vec3 *v = run->contact_vectors.data;
    const int32_t *loops = run->contact_loops.data;
    for (int64_t i = 0; i < run->contacts.count; i++) {
        abut_contact *c = &run->contacts.data[i];
        c->points = v, c->normals = v + c->point_count, c->forces = v + 2 * c->point_count;
        v += 3 * c->point_count;
        if (c->loop_count == 0) continue;
        c->corners = v, c->loop_start = loops;
        v += loops[c->loop_count], loops += c->loop_count + 1;
    }
}

int abut_sim_contacts(abut_sim *run, const abut_contact **contacts) {
    if (run->live) return live_contacts(run, contacts);
    arena *lane = &run->lanes.data[0]->scratch;
    arena_mark mark = arena_save(&run->scratch), lane_mark = arena_save(lane);
    run->contacts.count = run->contact_vectors.count = run->contact_loops.count = 0;
    exact x;
    bool fine = exact_look(run, &x, NULL) == ABUT_OK;
    bool *taken = fine ? arena_alloc(&run->scratch, (size_t)x.contacts.count + 1, sizeof *taken) : NULL;
    fine = fine && taken;
    for (int64_t i = 0; fine && i < x.contacts.count; i++) {
        region r;
        if (taken[i]) continue;
        fine = fill_region(&x, i, taken, &r) && store_region(&x, i, &r);
    }
    exact_free(&x);
    arena_restore(lane, lane_mark);
    arena_restore(&run->scratch, mark);
    if (!fine) return -1;
    set_pointers(run);
    *contacts = run->contacts.data;
    return (int)run->contacts.count;
}
