/* What a live run tells: contacts with forces, the balance of energy.  Events: live_event.c. */
#include "sim/live.h"

/* ---- contacts for the caller */

/* What the exact clock calls the feature on which a witness point lies: those of manifolds are numbered as
 * parts of hulls. */
abut_entity live_entity(const live *w, const live_contact *c, int side, vec3 on) {
    static const abut_entity_kind kinds[] = {ABUT_ENTITY_VERTEX, ABUT_ENTITY_EDGE, ABUT_ENTITY_FACE,
                                             ABUT_ENTITY_SMOOTH};
    int body = side ? c->b : c->a;
    const contact_shape *s = &w->model->bodies[body].shape;
    contact_feature f;
    if (s->shape.kind == ABUT_SHAPE_SURFACE) {
        const collider *surface = w->colliders[w->shape_of[body]];
        return (abut_entity){ABUT_ENTITY_SMOOTH, collider_surface_patch(surface, vec3_add(on, s->center))};
    }
    if (!contact_shape_feature_at(s, on, &f)) return (abut_entity){ABUT_ENTITY_NONE, 0};
    return (abut_entity){kinds[f.kind], f.id};
}

/* Only who hears events sees them: in a heap that lands, naming took a seventh of the step. */
void live_name_features(const live *w, const live_contact *c, const live_point *at, abut_event *e) {
    if (!w->run->options.event) return;
    e->entity[0] = live_entity(w, c, 0, at->on_a), e->entity[1] = live_entity(w, c, 1, at->on_b);
}

/* The middle of the witness points on one of the bodies. */
static vec3 middle_of(const live_contact *c, int side) {
    vec3 sum = vec3_zero();
    for (int i = 0; i < c->count; i++)
        sum = vec3_axpy(sum, 1.0 / c->count, side ? c->points[i].on_b : c->points[i].on_a);
    return sum;
}

static double polygon_area(const vec3 *p, int count, vec3 n) {
    double twice = 0;
    for (int i = 2; i < count; i++) twice += vec3_triple(n, vec3_sub(p[i - 1], p[0]), vec3_sub(p[i], p[0]));
    return fabs(twice) / 2;
}

static void swap(vec3 *x, int i, int j) {
    vec3 last = x[i];
    x[i] = x[j], x[j] = last;
}

/* Four points and their forces in the order of the polygon: of the three ways round that with the most area.
 */
static void go_round(vec3 *points, vec3 *forces, int count, vec3 n) {
    if (count < 4) return;
    for (int k = 0; k < 2; k++) {
        double area = polygon_area(points, count, n);
        int i = k ? 2 : 1, j = k ? 3 : 2;
        swap(points, i, j);
        if (polygon_area(points, count, n) > area)
            swap(forces, i, j);
        else
            swap(points, i, j);
    }
}

/* Points, normals and forces of one contact go behind each other; friction is shared out by pressure. */
static bool store_contact(abut_sim *run, const live_contact *c) {
    live *w = run->live;
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    vec3 points[MANIFOLD_POINTS], forces[MANIFOLD_POINTS], center = vec3_zero();
    double pressure = 0;
    for (int i = 0; i < c->count; i++) pressure += c->loads[i].normal;
    for (int i = 0; i < c->count; i++) {
        const live_point *p = &c->points[i];
        points[i] = vec3_lerp(vec3_add(a->center, quat_rotate(a->rotation, p->on_a)),
                              vec3_add(b->center, quat_rotate(b->rotation, p->on_b)), 0.5);
        double load = c->loads[i].normal;
        vec3 share = vec3_scale(c->friction, load / pressure);
        forces[i] = vec3_scale(vec3_axpy(share, load, c->normal), 1 / w->h);
        center = vec3_axpy(center, load / pressure, points[i]);
    }
    go_round(points, forces, c->count, c->normal);
    bool rough = live_material(w, c->a, c->b)->friction.stick > 0;
    abut_contact out = {
        .body = {c->a, c->b},
        .representation = ABUT_MANIFOLD,
        .dimension = c->count > 2 ? 2 : c->count - 1,
        .entity = {live_entity(w, c, 0, middle_of(c, 0)), live_entity(w, c, 1, middle_of(c, 1))},
        .point_count = c->count,
        .state = !rough                      ? ABUT_FRICTIONLESS
                 : c->flags & LIVE_TOLD_SLIP ? ABUT_SLIPPING
                                             : ABUT_STICKING,
        .area = polygon_area(points, c->count, c->normal),
        .center_of_pressure = center,
        .determined = c->count < 3};
    if (!array_push(&run->context, &run->contacts, out)) return false;
    for (int i = 0; i < c->count; i++)
        if (!array_push(&run->context, &run->contact_vectors, points[i])) return false;
    for (int i = 0; i < c->count; i++)
        if (!array_push(&run->context, &run->contact_vectors, c->normal)) return false;
    for (int i = 0; i < c->count; i++)
        if (!array_push(&run->context, &run->contact_vectors, forces[i])) return false;
    return true;
}

int live_contacts(abut_sim *run, const abut_contact **contacts) {
    const live *w = run->live;
    run->contacts.count = run->contact_vectors.count = 0;
    for (int64_t i = 0; i < w->contacts.count; i++)
        if (w->contacts.data[i].count > 0 && w->contacts.data[i].flags & LIVE_TOUCHING &&
            !store_contact(run, &w->contacts.data[i]))
            return -1;
    const abut_vec3 *v = run->contact_vectors.data;
    for (int64_t i = 0; i < run->contacts.count; i++) {
        abut_contact *c = &run->contacts.data[i];
        c->points = v, c->normals = v + c->point_count, c->forces = v + 2 * c->point_count;
        v += 3 * c->point_count;
    }
    *contacts = run->contacts.data;
    return (int)run->contacts.count;
}

/* ---- energy */

static bool is_driven(const abut_model *m) {
    for (int i = 0; i < m->body_count; i++)
        if (m->bodies[i].kinematic) return true;
    for (int i = 0; i < m->hinge_count; i++)
        if (m->hinges[i].h.has_motor) return true;
    return m->force_count > 0;
}

/* Of bodies at the rest speed: the clock calls less than that rest, and in a scene where nothing moves there
 * is no other energy that rounding could be compared with. */
static double energy_of_rest(const live *w) {
    double mass = 0, v = w->model->tolerance.rest_speed;
    for (int i = 0; i < w->bodies; i++)
        if (w->body[i].movable) mass += w->body[i].inertia.mass;
    return mass * v * v / 2;
}

/* What is missing was dissipated; what was gained is work where something drives the scene, and an error of
 * the clock otherwise. */
void live_balance(live *w) {
    run_state *s = w->run->state;
    abut_energy e = run_energy(w->run);
    double total = e.kinetic + e.potential, wanted = s->start_energy + s->work - s->dissipated;
    s->largest_energy =
        fmax(s->largest_energy, fmax(e.kinetic, fabs(e.potential - (s->start_energy - e.kinetic))));
    if (total > wanted && is_driven(w->model)) {
        s->work += total - wanted;
        return;
    }
    s->dissipated += wanted - total;
    double largest = fmax(s->largest_energy, energy_of_rest(w));
    if (total > wanted && largest > 0) s->energy_error = fmax(s->energy_error, (total - wanted) / largest);
}
