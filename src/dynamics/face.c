/* The laws of faces in a system (see face.h). */
#include "dynamics/face.h"

#include <math.h>

/* ---- coordinates */

void face_coordinates(const group_face *f, vec3 at, double x[3]) {
    vec3 arm = vec3_sub(at, f->point.at);
    x[0] = 1, x[1] = vec3_dot(arm, f->axis[0]) / f->size, x[2] = vec3_dot(arm, f->axis[1]) / f->size;
}

/* The contact that stands for the whole face: at its centroid. */
static group_contact middle_of(const group_face *f) {
    return (group_contact){.a = f->a, .b = f->b, .point = f->point};
}

void face_twist(const group *g, const group_face *f, double slip[3]) {
    group_contact c = middle_of(f);
    vec3 u = group_contact_slip(g, &c);
    slip[0] = vec3_dot(u, f->axis[0]), slip[1] = vec3_dot(u, f->axis[1]);
    slip[2] = vec3_dot(group_contact_spin(g, &c), f->point.normal) * f->size;
}

void face_set_mode(group *g, int face, friction_mode mode, const double along[3]) {
    group_face *f = &g->faces[face];
    f->mode = mode;
    if (along) memcpy(f->along, along, sizeof f->along);
    for (int i = 0; i < g->contact_count; i++)
        if (g->contacts[i].face == face + 1) g->contacts[i].mode = mode;
}

/* ---- laws */

/* The rows of the wrench (F_x, F_y, torque / size) about the centroid. */
static void make_rows(const group *g, face_law *law) {
    const group_face *f = law->face;
    group_contact c = middle_of(f);
    for (int k = 0; k < 2; k++) law->axis[k] = group_tangent_row(g, &c, f->axis[k]);
    law->axis[2] = group_spin_row(g, &c, vec3_scale(f->point.normal, f->size));
}

void face_twist_rate(const group *g, const group_face *f, const spatial *accelerations, double rate[3]) {
    face_law law = {.face = f};
    make_rows(g, &law);
    for (int k = 0; k < 3; k++) rate[k] = row_dot(&law.axis[k], accelerations) + law.axis[k].drift;
}

static double norm3(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }
static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The slip: what the velocities say, or memory. */
static void find_slip(const group *g, face_law *law, double slowest) {
    double slip[3];
    face_twist(g, law->face, slip);
    double speed = norm3(slip);
    bool tells = speed > fmax(slowest, law->face->slow);
    for (int k = 0; k < 3; k++) law->slip[k] = tells ? slip[k] / speed : law->face->along[k];
}

static void multiply(const double a[3][3], const double x[3], double y[3]) {
    for (int i = 0; i < 3; i++) y[i] = a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2];
}

/* friction = G M^-1: from the load to the coefficients of the pressure to its friction, on the pressed part.
 */
static bool make_friction(face_law *law, arena *scratch) {
    const group_face *f = law->face;
    double g[3][3], column[3];
    arena_mark mark = arena_save(scratch);
    border_piece *pressed = arena_alloc(scratch, BORDER_CLIPPED((size_t)f->piece_count), sizeof *pressed);
    if (!pressed) return false;
    int count = border_clip(f->pieces, f->piece_count, f->line, pressed);
    border_moments(pressed, count, law->moments);
    border_slip(pressed, count, law->slip, g);
    for (int j = 0; j < 3; j++) {
        const double load[3] = {j == 0, j == 1, j == 2};
        double k[3] = {0, 0, 0};
        pressure_solve3((const double(*)[3])law->moments, load, k);
        multiply((const double(*)[3])g, k, column);
        for (int i = 0; i < 3; i++) law->friction[i][j] = column[i];
    }
    arena_restore(scratch, mark);
    return true;
}

bool face_make_laws(group_system *s, double slip_speed, arena *scratch) {
    const group *g = s->g;
    s->face_count = g->face_count;
    s->faces = arena_alloc(scratch, (size_t)g->face_count + 1, sizeof *s->faces);
    if (!s->faces) return false;
    for (int i = 0; i < g->face_count; i++) {
        face_law *law = &s->faces[i];
        law->face = &g->faces[i], law->first = -1;
        make_rows(g, law);
        if (law->face->mode == FRICTION_STICK && law->face->friction.stick > 0)
            for (int k = 0; k < 3; k++) {
                int at = system_add_unknown(s, law->axis[k], law->axis[k].drift);
                if (k == 0) law->first = at;
            }
        if (law->face->mode != FRICTION_SLIP) continue;
        find_slip(g, law, slip_speed);
        if (law->face->friction.slide > 0) s->symmetric = false;
        if (!make_friction(law, scratch)) return false;
    }
    return true;
}

/* The wrench of friction of a unit normal force at a place of a slipping face. */
static void unit_friction(const face_law *law, vec3 at, double wrench[3]) {
    double x[3];
    face_coordinates(law->face, at, x);
    multiply((const double(*)[3])law->friction, x, wrench);
    for (int k = 0; k < 3; k++) wrench[k] *= -law->face->friction.slide;
}

/* The law of a contact's face; NULL. */
static const face_law *law_of(const group_system *s, int contact, friction_mode mode) {
    int face = s->g->contacts[contact].face;
    if (face == 0 || face > s->face_count || s->normal_of[contact] < 0) return NULL;
    const face_law *law = &s->faces[face - 1];
    return law->face->mode == mode ? law : NULL;
}

void face_add_to_columns(group_system *s) {
    for (int i = 0; i < s->g->contact_count && s->face_count > 0; i++) {
        const face_law *law = law_of(s, i, FRICTION_SLIP);
        if (!law) continue;
        double wrench[3];
        row *column = &s->columns[s->normal_of[i]];
        unit_friction(law, s->g->contacts[i].point.at, wrench);
        for (int k = 0; k < 3; k++) {
            column->ja = spatial_axpy(column->ja, wrench[k], law->axis[k].ja);
            column->jb = spatial_axpy(column->jb, wrench[k], law->axis[k].jb);
        }
    }
}

/* ---- solutions */

static void load_of(const group_system *s, int face, const double *z, double load[3]) {
    load[0] = load[1] = load[2] = 0;
    for (int i = 0; i < s->g->contact_count; i++) {
        double x[3];
        if (s->g->contacts[i].face != face + 1 || s->normal_of[i] < 0) continue;
        face_coordinates(&s->g->faces[face], s->g->contacts[i].point.at, x);
        for (int k = 0; k < 3; k++) load[k] += z[s->normal_of[i]] * x[k];
    }
}

/* Whether k . f is nowhere negative on the region: its border is inside the hull of its control points. */
static bool presses_all(const group_face *f, const double k[3]) {
    for (int i = 0; i < f->piece_count; i++) {
        const border_piece *p = &f->pieces[i];
        if (k[0] + k[1] * p->from[0] + k[2] * p->from[1] < 0) return false;
        if (p->weight < 1 && k[0] * p->weight + k[1] * p->middle[0] + k[2] * p->middle[1] < 0) return false;
    }
    return true;
}

/* A pressed part smaller than this share of the face is not followed: the face is about to tip. */
#define LEAST_PART 1e-3

static bool part_is_large(const group_face *f, const double line[3], border_piece *room) {
    double whole[3][3], m[3][3];
    border_moments(f->pieces, f->piece_count, whole);
    border_moments(room, border_clip(f->pieces, f->piece_count, line, room), m);
    return m[0][0] >= LEAST_PART * whole[0][0];
}

bool face_pressed_changed(const group_system *s, const double *z, arena *scratch, bool *memory) {
    bool changed = false;
    *memory = true;
    for (int i = 0; i < s->face_count; i++) {
        group_face *f = &s->g->faces[i];
        double load[3], k[3], size = 0, moved = 0;
        load_of(s, i, z, load);
        if (f->mode != FRICTION_SLIP || !(load[0] > 0)) continue;
        if (!pressure_solve3((const double(*)[3])s->faces[i].moments, load, k)) continue;
        if (presses_all(f, k)) k[0] = k[1] = k[2] = 0;
        for (int j = 0; j < 3; j++) size = fmax(size, fabs(k[j]));
        for (int j = 0; j < 3; j++)
            k[j] = size > 0 ? k[j] / size : 0, moved = fmax(moved, fabs(k[j] - f->line[j]));
        if (moved <= 1e-12) continue;
        arena_mark mark = arena_save(scratch);
        border_piece *room = arena_alloc(scratch, BORDER_CLIPPED((size_t)f->piece_count), sizeof *room);
        *memory = room != NULL;
        bool large = room && part_is_large(f, k, room);
        arena_restore(scratch, mark);
        if (!*memory) return false;
        if (!large) continue;
        memcpy(f->line, k, sizeof k);
        changed = true;
    }
    return changed;
}

/* ---- the limit surface */

/* H(q) and its gradient, the wrench of friction in the slip q: both for mu_stick. */
static double support(const group_face *f, const border_piece *pressed, int count, const double k[3],
                      const double q[3], double wrench[3]) {
    double g[3][3], h = 0;
    border_slip(pressed, count, q, g);
    multiply((const double(*)[3])g, k, wrench);
    for (int i = 0; i < 3; i++) wrench[i] *= f->friction.stick, h += wrench[i] * q[i];
    return h;
}

enum { USE_STEPS = 40 };

/* max over q of T . q / H(q), by Newton's method for the least H(q)^2/2 - T . q, a convex function, with
 * differences of the gradient H G - T and steps that are halved while they do not go down. */
bool face_use(const group_face *f, const double load[3], const double wrench[3], arena *scratch, double q[3],
              double *use) {
    double size = norm3(wrench), k[3], g[3];
    *use = 0;
    if (!(size > 0)) return true;
    if (!(norm3(q) > 0)) memcpy(q, wrench, 3 * sizeof(double));
    *use = INFINITY;
    if (!(f->friction.stick * load[0] > 1e-11 * size)) return true;
    arena_mark mark = arena_save(scratch);
    border_piece *pressed = arena_alloc(scratch, BORDER_CLIPPED((size_t)f->piece_count), sizeof *pressed);
    if (!pressed) return false;
    int count = pressure_fit(f->pieces, f->piece_count, load, pressed, k);
    if (!(dot3(wrench, q) > 0)) memcpy(q, wrench, 3 * sizeof(double));
    double h = support(f, pressed, count, k, q, g), scale = dot3(wrench, q) / (h * h);
    for (int i = 0; i < 3; i++) q[i] *= scale;
    h *= scale;
    double value = h * h / 2 - dot3(wrench, q);
    for (int step = 0; step < USE_STEPS; step++) {
        double gradient[3], jacobian[3][3], move[3], e = 1e-7 * norm3(q);
        for (int i = 0; i < 3; i++) gradient[i] = h * g[i] - wrench[i];
        if (norm3(gradient) <= 1e-13 * size) break;
        for (int j = 0; j < 3; j++) {
            double beside[3] = {q[0], q[1], q[2]}, g1[3];
            beside[j] += e;
            double h1 = support(f, pressed, count, k, beside, g1);
            for (int i = 0; i < 3; i++) jacobian[i][j] = (h1 * g1[i] - h * g[i]) / e;
        }
        if (!pressure_solve3((const double(*)[3])jacobian, gradient, move)) break;
        bool down = false;
        for (double part = 1; part > 1e-6 && !down; part /= 2) {
            double next[3], g1[3];
            for (int i = 0; i < 3; i++) next[i] = q[i] - part * move[i];
            double h1 = support(f, pressed, count, k, next, g1), now = h1 * h1 / 2 - dot3(wrench, next);
            down = now < value;
            if (down) memcpy(q, next, sizeof next), memcpy(g, g1, sizeof g1), h = h1, value = now;
        }
        if (!down) break;
    }
    *use = dot3(wrench, q) / h;
    arena_restore(scratch, mark);
    return true;
}

/* ---- loads */

/* A wrench of the face as forces of its places: in proportion to `part` (which add up to 1), and for the
 * torque that is left as turning about their middle, in proportion to the distance. */
static void share_wrench(const group *g, int face, const double *part, const double wrench[3],
                         contact_load *loads) {
    const group_face *f = &g->faces[face];
    vec3 n = f->point.normal, middle = vec3_zero();
    vec3 force = vec3_axpy(vec3_scale(f->axis[0], wrench[0]), wrench[1], f->axis[1]);
    double torque = wrench[2] * f->size, spread = 0;
    int count = 0;
    for (int i = 0; i < g->contact_count; i++) {
        if (g->contacts[i].face != face + 1) continue;
        vec3 arm = vec3_sub(g->contacts[i].point.at, f->point.at);
        loads[i].friction = vec3_scale(force, part[i]);
        torque -= part[i] * vec3_triple(n, arm, force);
        middle = vec3_add(middle, arm), count++;
    }
    middle = vec3_scale(middle, 1.0 / (count > 0 ? count : 1));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < g->contact_count; i++) {
            if (g->contacts[i].face != face + 1) continue;
            vec3 arm = vec3_sub(vec3_sub(g->contacts[i].point.at, f->point.at), middle);
            if (pass == 0)
                spread += vec3_length2(arm);
            else if (spread > 0)
                loads[i].friction = vec3_axpy(loads[i].friction, torque / spread, vec3_cross(n, arm));
        }
}

bool face_read_loads(const group_system *s, const double *z, bool margins, arena *scratch,
                     contact_load *loads) {
    if (s->face_count == 0) return true;
    const group *g = s->g;
    double *part = arena_alloc(scratch, (size_t)g->contact_count + 1, sizeof *part);
    if (!part) return false;
    for (int face = 0; face < s->face_count; face++) {
        const face_law *law = &s->faces[face];
        double load[3], wrench[3] = {0, 0, 0}, use = 0, q[3] = {0, 0, 0};
        load_of(s, face, z, load);
        if (law->face->mode == FRICTION_SLIP) multiply((const double(*)[3])law->friction, load, wrench);
        for (int k = 0; k < 3; k++)
            wrench[k] = law->first >= 0 ? z[law->first + k] : -law->face->friction.slide * wrench[k];
        for (int i = 0; i < g->contact_count; i++)
            part[i] = load[0] > 0 && s->normal_of[i] >= 0 ? z[s->normal_of[i]] / load[0] : 0;
        share_wrench(g, face, part, wrench, loads);
        if (law->first < 0 || !margins) continue;
        if (!face_use(law->face, load, wrench, scratch, q, &use)) return false;
        for (int i = 0; i < g->contact_count; i++)
            if (g->contacts[i].face == face + 1)
                loads[i].margin = fmin(loads[i].margin, 1 - use + FORCES_ALLOWANCE);
    }
    return true;
}
