/* Face contacts: which touches lie on the same two faces, and those whose material presses over the whole
 * area (pressure = "uniform") as faces of the group (dynamics/face.h).
 *
 *   touches ──> same pair, normal, plane, faces ──> border of what the two faces share ──> group_face
 *
 * Which touches belong together is found when the touching set has changed; where the border runs, at every
 * evaluation. */
#include "contact/flat.h"
#include "sim/exact.h"

static const contact_shape *shape_of(const exact *x, int local) {
    return &x->model->bodies[x->bodies[local]].shape;
}

/* ---- regions */

void exact_faces_of(const exact *x, int64_t place, int32_t faces[2]) {
    const group_contact *c = &x->contacts.data[place];
    const near_pair *p = &x->touches.data[place].pair;
    vec3 n = c->point.normal;
    faces[0] = flat_face(shape_of(x, c->a), p->fa, quat_unrotate(x->motions[c->a].rotation, vec3_neg(n)));
    faces[1] = flat_face(shape_of(x, c->b), p->fb, quat_unrotate(x->motions[c->b].rotation, n));
}

bool exact_same_region(const exact *x, int64_t i, int64_t j) {
    const group_contact *c = &x->contacts.data[i], *d = &x->contacts.data[j];
    if (c->a != d->a || c->b != d->b || vec3_distance(c->point.normal, d->point.normal) > 1e-5) return false;
    if (fabs(vec3_dot(c->point.normal, vec3_sub(c->point.at, d->point.at))) >
        16 * x->model->tolerance.touching)
        return false;
    int32_t f[2], g[2];
    exact_faces_of(x, i, f), exact_faces_of(x, j, g);
    return f[0] == g[0] && f[1] == g[1];
}

/* ---- the border */

static bool add_piece(exact *x, border_piece p) { return array_push(&x->run->context, &x->face_pieces, p); }

/* The end of a cylinder on a half-space: a disc, not a polygon. */
static int round_body(const exact *x, const group_contact *c) {
    int kind_a = shape_of(x, c->a)->shape.kind, kind_b = shape_of(x, c->b)->shape.kind;
    if (kind_a == ABUT_SHAPE_CYLINDER && kind_b == ABUT_SHAPE_HALFSPACE) return c->a;
    return kind_b == ABUT_SHAPE_CYLINDER && kind_a == ABUT_SHAPE_HALFSPACE ? c->b : -1;
}

/* A place of the plane, seen from `at` along the axes of the face. */
static void seen(const group_face *f, vec3 at, vec3 p, double out[2]) {
    vec3 arm = vec3_sub(p, at);
    out[0] = vec3_dot(arm, f->axis[0]), out[1] = vec3_dot(arm, f->axis[1]);
}

/* A line of contact is a strip of this part of its length: the limit of the pressed part of a face that tips
 * over its edge, so that nothing jumps there; the friction of the strip is that of the line to its square. */
#define STRIP 1e-4

static bool add_strip(exact *x, const exact_face *e, const group_face *f) {
    double end[2], corners[4][2];
    seen(f, x->contacts.data[e->first].point.at, x->contacts.data[e->second].point.at, end);
    const double across[2] = {-STRIP / 2 * end[1], STRIP / 2 * end[0]};
    for (int k = 0; k < 2; k++) {
        corners[0][k] = -across[k], corners[1][k] = end[k] - across[k];
        corners[2][k] = end[k] + across[k], corners[3][k] = across[k];
    }
    for (int i = 0; i < 4; i++)
        if (!add_piece(x, border_edge(corners[i], corners[(i + 1) % 4]))) return false;
    return true;
}

/* The border in metres, seen from the first place; *known is false where it is not known. False: memory is
 * out. */
static bool add_border(exact *x, const exact_face *e, const group_face *f, bool *known) {
    const group_contact *c = &x->contacts.data[e->first];
    const motion *ma = &x->motions[c->a], *mb = &x->motions[c->b];
    vec3 at = c->point.at;
    int round = round_body(x, c);
    *known = true;
    if (e->second >= 0) return add_strip(x, e, f);
    if (round >= 0) {
        border_piece arcs[8];
        double middle[2];
        seen(f, at, x->motions[round].center, middle);
        border_circle(middle, shape_of(x, round)->shape.radius, arcs);
        for (int i = 0; i < 8; i++)
            if (!add_piece(x, arcs[i])) return false;
        return true;
    }
    flat_border *border = &x->face_border;
    border->corners.count = border->start.count = 0;
    if (!flat_border_of(&x->run->context, shape_of(x, c->a), e->faces[0], ma, shape_of(x, c->b), e->faces[1],
                        mb, c->point.normal, at, border))
        return false;
    *known = border->start.count > 1;
    for (int64_t loop = 0; loop + 1 < border->start.count; loop++) {
        int32_t first = border->start.data[loop], end = border->start.data[loop + 1];
        for (int32_t i = first; i < end; i++) {
            double from[2], to[2];
            seen(f, at, border->corners.data[i], from);
            seen(f, at, border->corners.data[i + 1 < end ? i + 1 : first], to);
            if (!add_piece(x, border_edge(from, to))) return false;
        }
    }
    return true;
}

/* The pieces from `first` on in lengths of `size` about (cx, cy). */
static void rescale(exact *x, int64_t first, double cx, double cy, double size) {
    for (int64_t i = first; i < x->face_pieces.count; i++) {
        border_piece *p = &x->face_pieces.data[i];
        p->from[0] = (p->from[0] - cx) / size, p->from[1] = (p->from[1] - cy) / size;
        p->to[0] = (p->to[0] - cx) / size, p->to[1] = (p->to[1] - cy) / size;
        p->middle[0] = (p->middle[0] - p->weight * cx) / size;
        p->middle[1] = (p->middle[1] - p->weight * cy) / size;
    }
}

/* The face at the placed state.  *known is false where it has no area. */
static bool place_face(exact *x, exact_face *e, group_face *f, bool *known) {
    const group_contact *c = &x->contacts.data[e->first];
    double m[3][3], epsilon = x->model->tolerance.touching;
    f->point.normal = c->point.normal, f->point.normal_rate = c->point.normal_rate, f->point.gap = 0;
    group_tangents(f->point.normal, &f->axis[0], &f->axis[1]);
    e->first_piece = x->face_pieces.count;
    if (!add_border(x, e, f, known)) return false;
    f->piece_count = (int)(x->face_pieces.count - e->first_piece);
    if (!*known) return true;
    border_moments(x->face_pieces.data + e->first_piece, f->piece_count, m);
    *known = m[0][0] > epsilon * epsilon;
    if (!*known) return true;
    double cx = m[0][1] / m[0][0], cy = m[0][2] / m[0][0];
    f->size = 2 * sqrt((m[1][1] + m[2][2]) / m[0][0] - cx * cx - cy * cy);
    rescale(x, e->first_piece, cx, cy, f->size);
    f->point.at = vec3_axpy(vec3_axpy(c->point.at, cx, f->axis[0]), cy, f->axis[1]);
    f->point.at_rate = motion_velocity_at(&x->motions[f->a], f->point.at);
    return true;
}

/* ---- slip */

/* Slip at the first place, and the relative spin along the normal: zero together where the face stops. */
static void slip_of(const exact *x, const exact_face *e, const contact_point *p, vec3 *slip, double *spin) {
    const group_contact *c = &x->contacts.data[e->first];
    const motion *a = &x->motions[c->a], *b = &x->motions[c->b];
    vec3 u = contact_slip(p, a, b);
    *slip = vec3_axpy(u, -vec3_dot(u, p->normal), p->normal);
    *spin = vec3_dot(vec3_sub(a->velocity.angular, b->velocity.angular), p->normal);
}

double exact_face_slip(const exact *x, int64_t item, const contact_point *p) {
    const exact_face *e = &x->face_places.data[x->contacts.data[item].face - 1];
    double size = x->faces.data[x->contacts.data[item].face - 1].size, spin;
    vec3 slip;
    slip_of(x, e, p, &slip, &spin);
    return vec3_dot(slip, e->start_slip) + size * size * spin * e->start_spin;
}

bool exact_face_is_first(const exact *x, int64_t item) {
    int face = x->contacts.data[item].face;
    return face > 0 && x->face_places.data[face - 1].first == item;
}

/* Friction goes on opposing the slip of the step's start when the slip passes through zero, as at points. */
static void follow_slip(exact *x, int face) {
    group_face *f = &x->faces.data[face];
    exact_face *e = &x->face_places.data[face];
    const motion *a = &x->motions[f->a], *b = &x->motions[f->b];
    vec3 u = contact_slip(&f->point, a, b);
    double spin = vec3_dot(vec3_sub(a->velocity.angular, b->velocity.angular), f->point.normal);
    double now[3] = {vec3_dot(u, f->axis[0]), vec3_dot(u, f->axis[1]), spin * f->size};
    double speed = sqrt(now[0] * now[0] + now[1] * now[1] + now[2] * now[2]);
    if (!(speed > 1e-9 * (1 + x->speed))) return;
    bool back = exact_face_slip(x, e->first, &x->contacts.data[e->first].point) < 0;
    for (int k = 0; k < 3; k++) f->along[k] = (back ? -now[k] : now[k]) / speed;
}

void exact_face_remember(exact *x) {
    for (int64_t i = 0; i < x->faces.count; i++) {
        const group_face *f = &x->faces.data[i];
        exact_face *e = &x->face_places.data[i];
        const contact_point *p = &x->contacts.data[e->first].point;
        slip_of(x, e, p, &e->start_slip, &e->start_spin);
        if (vec3_length(e->start_slip) + fabs(e->start_spin) * f->size > 1e-9 * (1 + x->speed)) continue;
        vec3 along = vec3_axpy(vec3_scale(f->axis[0], f->along[0]), f->along[1], f->axis[1]);
        vec3 turn = vec3_scale(f->point.normal, f->along[2] / f->size);
        e->start_slip = vec3_add(along, vec3_cross(turn, vec3_sub(p->at, f->point.at)));
        e->start_spin = f->along[2] / f->size;
    }
}

/* ---- grouping */

/* The face of the last grouping between the same faces of the same bodies keeps its memory. */
static void recall(const exact *x, int64_t old_count, exact_face *e, group_face *f) {
    for (int64_t i = 0; i < old_count; i++) {
        const exact_face *o = &x->face_places.data[i];
        const group_face *g = &x->faces.data[i];
        if (g->a != f->a || g->b != f->b || o->faces[0] != e->faces[0] || o->faces[1] != e->faces[1])
            continue;
        memcpy(f->along, g->along, sizeof f->along), memcpy(f->line, g->line, sizeof f->line);
        e->start_slip = o->start_slip, e->start_spin = o->start_spin;
    }
}

/* Whether both ends of a line are sharp: an edge, not a mantle, which rolls. */
static bool is_edge(const exact *x, const exact_face *e) {
    const near_pair *p = &x->touches.data[e->first].pair, *q = &x->touches.data[e->second].pair;
    return exact_is_sharp(&p->a) && exact_is_sharp(&p->b) && exact_is_sharp(&q->a) && exact_is_sharp(&q->b);
}

/* The touches that lie on the faces of touch `first` become one face, if they are three or more, or a line.
 */
static bool gather(exact *x, int64_t first, int64_t old_count) {
    const group_contact *c = &x->contacts.data[first];
    exact_face e = {.first = first, .second = -1};
    group_face f = {.a = c->a, .b = c->b, .friction = c->friction, .mode = FRICTION_FREE};
    f.slow = fmax(1e-9, 1e-4 * x->model->tolerance.rest_speed);
    int places = 0, number = (int)(x->faces.count - old_count) + 1;
    exact_faces_of(x, first, e.faces);
    for (int64_t i = first; i < x->contacts.count; i++) {
        group_contact *d = &x->contacts.data[i];
        if (d->face != 0 || !exact_same_region(x, first, i)) continue;
        d->face = number, places++;
        if (places == 2) e.second = i;
        if (d->mode == FRICTION_SLIP || f.mode == FRICTION_FREE) f.mode = d->mode;
    }
    recall(x, old_count, &e, &f);
    if (places > 2) e.second = -1;
    bool flat = (places == 2 && is_edge(x, &e)) || (places > 2 && e.faces[0] >= 0 && e.faces[1] >= 0);
    for (int64_t i = first; i < x->contacts.count && !flat; i++)
        if (x->contacts.data[i].face == number) x->contacts.data[i].face = -1;
    if (!flat) return true;
    return array_push(&x->run->context, &x->faces, f) && array_push(&x->run->context, &x->face_places, e);
}

/* Marks and numbers of touches: -1 are points that belong to no face, 0 in the end. */
static bool group_touches(exact *x) {
    int64_t old_count = x->faces.count;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        bool uniform = model_pair(x->model, x->bodies[c->a], x->bodies[c->b])->uniform_pressure;
        bool flat = !smooth_is_pair(&x->touches.data[i].pair) && !x->touches.data[i].rolls;
        x->contacts.data[i].face = uniform && flat ? 0 : -1;
    }
    bool fine = true;
    for (int64_t i = 0; i < x->contacts.count && fine; i++)
        if (x->contacts.data[i].face == 0) fine = gather(x, i, old_count);
    int64_t count = x->faces.count - old_count;
    for (int64_t i = 0; i < count; i++) {
        x->faces.data[i] = x->faces.data[old_count + i];
        x->face_places.data[i] = x->face_places.data[old_count + i];
    }
    x->faces.count = x->face_places.count = count;
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (x->contacts.data[i].face < 0) x->contacts.data[i].face = 0;
    return fine;
}

/* A face whose border is not known presses at its vertices. */
static void leave_to_points(exact *x, int face) {
    for (int64_t i = 0; i < x->contacts.count; i++) {
        int *of = &x->contacts.data[i].face;
        if (*of == face + 1)
            *of = 0;
        else if (*of > face + 1)
            --*of;
    }
    for (int64_t i = face; i + 1 < x->faces.count; i++) {
        x->faces.data[i] = x->faces.data[i + 1];
        x->face_places.data[i] = x->face_places.data[i + 1];
    }
    x->faces.count--, x->face_places.count--;
}

abut_status exact_update_faces(exact *x, abut_error *error) {
    if (!x->model->uniform_pressure) return ABUT_OK;
    if (x->faces_stale && !group_touches(x)) return fail_memory(error);
    x->faces_stale = false;
    x->face_pieces.count = 0;
    for (int i = 0; i < (int)x->faces.count; i++) {
        bool known;
        if (!place_face(x, &x->face_places.data[i], &x->faces.data[i], &known)) return fail_memory(error);
        if (!known) leave_to_points(x, i--);
    }
    for (int i = 0; i < (int)x->faces.count; i++) {
        x->faces.data[i].pieces = x->face_pieces.data + x->face_places.data[i].first_piece;
        if (x->faces.data[i].mode == FRICTION_SLIP) follow_slip(x, i);
    }
    return ABUT_OK;
}

void exact_face_sticks(exact *x, int64_t item) {
    int face = x->contacts.data[item].face;
    if (face == 0) return;
    x->faces.data[face - 1].mode = FRICTION_STICK;
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (x->contacts.data[i].face == face)
            x->contacts.data[i].mode = FRICTION_STICK, x->contacts.data[i].anchored = false;
}

void exact_free_faces(exact *x) {
    const abut_context *context = &x->run->context;
    array_free(context, &x->faces);
    array_free(context, &x->face_places);
    array_free(context, &x->face_pieces);
    flat_border_free(context, &x->face_border);
}
