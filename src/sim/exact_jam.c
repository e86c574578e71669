/* Where nothing can move on: a body between kinematic ones that close on it, hinges that contradict each
 * other from the start, or come to (a motor beyond the dead point of its linkage), a wedge that friction
 * holds against what drives it in.
 *
 * Suspicion comes from impacts without a solution, from speeds of hinges that the nearest velocities miss,
 * and from places that the drift correction leaves wrong.  Then all constraints are looked at together
 * (dynamics/jam.h), from the state as it is, by the method of Levenberg and Marquardt: either it finds a
 * state that satisfies them, or one that misses least, and those that it misses contradict each other.  The
 * run ends there with their names: what would follow is no motion of rigid bodies.  Motors without bound that
 * want different speeds of the same thing alone share the difference, which a notice says (exact_account.c).
 */
#include "dynamics/jam.h"
#include "sim/exact.h"

#include <stdarg.h>
#include <stdio.h>

enum { ROUNDS = 80, MOST_NAMED = 6 };
/* A step that takes less of |c|^2 than this has come to the least of it. */
#define STATIONARY 1e-10
/* Of the largest: what misses less is not named. */
#define SLIGHT 1e-2
/* Friction jams only where it is proven: forces that balance to this. */
#define BALANCED 1e-5

typedef struct search {
    exact *x;
    jam_level level;
    motion *before; /* of the bodies that move: to go back to, */
    motion *last;   /* and of the step before */
    double *angles; /* coordinates of the hinges at the start: a motor keeps its own */
    double *rows;   /* c */
    vec3 *contacts;
    double sum;        /* |c|^2 */
    double unbalanced; /* of c, at the last step */
} search;

static abut_status begin(search *s, exact *x, jam_level level, double time, abut_error *error) {
    size_t bodies = (size_t)x->movable + 1, hinges = (size_t)x->hinge_count + 1;
    *s = (search){x,
                  level,
                  arena_alloc(x->arena, bodies, sizeof *s->before),
                  arena_alloc(x->arena, bodies, sizeof *s->last),
                  arena_alloc(x->arena, hinges, sizeof(double)),
                  arena_alloc(x->arena, (size_t)x->row_capacity, sizeof(double)),
                  arena_alloc(x->arena, (size_t)x->contacts.count + 1, sizeof(vec3)),
                  0,
                  INFINITY};
    if (!s->before || !s->last || !s->angles || !s->rows || !s->contacts) return fail_memory(error);
    memcpy(s->before, x->motions, (size_t)x->movable * sizeof *s->before);
    double powers[2];
    abut_status status = exact_apply(x, time, powers, error);
    memcpy(s->angles, x->hinge_values, (size_t)x->hinge_count * sizeof(double));
    return status;
}

static void go_to(search *s, const motion *motions) {
    memcpy(s->x->motions, motions, (size_t)s->x->movable * sizeof *motions);
    exact_forget_places(s->x);
}

/* c at the placed state. */
static abut_status measure(search *s, double time, abut_error *error) {
    exact *x = s->x;
    double powers[2];
    abut_status status = exact_prepare(x, time, powers, error);
    if (status != ABUT_OK) return status;
    for (int i = 0; i < x->row_count && s->level == JAM_PLACES; i++)
        if (x->row_kinds[i] == ROW_MOTOR)
            x->rows[i].error = x->hinge_values[x->row_hinge[i]] - s->angles[x->row_hinge[i]];
    group g = exact_group(x);
    double near = s->level == JAM_PLACES ? INFINITY : x->model->tolerance.touching;
    s->sum = jam_missed(&g, s->level, near, s->rows, s->contacts);
    return isfinite(s->sum) ? ABUT_OK : ABUT_FAILED;
}

static double largest(const search *s) {
    double most = 0;
    for (int i = 0; i < s->x->row_count; i++) most = fmax(most, fabs(s->rows[i]));
    for (int64_t i = 0; i < s->x->contacts.count; i++) most = fmax(most, vec3_length(s->contacts[i]));
    return most;
}

/* Tries a step; *taken: it takes something of |c|^2. */
static abut_status try_step(search *s, double time, double damping, bool *taken, abut_error *error) {
    exact *x = s->x;
    arena_mark mark = arena_save(x->arena);
    spatial *step = arena_alloc(x->arena, (size_t)x->count + 1, sizeof *step);
    if (!step) return fail_memory(error);
    group g = exact_group(x);
    abut_status status =
        jam_step(&g, s->level, s->rows, s->contacts, damping, &x->scratch, step, &s->unbalanced, error);
    double sum = s->sum;
    memcpy(s->last, x->motions, (size_t)x->movable * sizeof *s->last);
    for (int i = 0; i < x->movable && status == ABUT_OK; i++) {
        if (s->level == JAM_PLACES)
            project_displace(&x->motions[i], step[i]);
        else
            x->motions[i].velocity = spatial_add(x->motions[i].velocity, step[i]);
    }
    arena_restore(x->arena, mark);
    if (status != ABUT_OK) return status;
    exact_forget_places(x);
    status = measure(s, time, error);
    *taken = status == ABUT_OK && s->sum < (1 - STATIONARY) * sum;
    if (*taken || (status != ABUT_OK && status != ABUT_FAILED)) return status;
    go_to(s, s->last);
    return measure(s, time, error);
}

/* ---- names */

typedef struct words {
    char text[512];
    int used, named;
    bool contact, motor;
} words;

static void add_words(words *w, const char *format, ...) ABUT_PRINTF(2, 3);
static void add_words(words *w, const char *format, ...) {
    if (w->named++ >= MOST_NAMED) return;
    char item[192];
    va_list list;
    va_start(list, format);
    vsnprintf(item, sizeof item, format, list);
    va_end(list);
    int room = (int)sizeof w->text - w->used;
    int n = snprintf(w->text + w->used, (size_t)room, "%s%s", w->named > 1 ? ", " : "", item);
    w->used += n < room ? n : room - 1;
}

static void name_hinges(const search *s, double most, words *w) {
    const exact *x = s->x;
    for (int entry = 0; entry < x->hinge_count; entry++) {
        bool held = false, motor = false, limit = false;
        for (int i = 0; i < x->row_count; i++) {
            if (x->row_hinge[i] != entry || !(fabs(s->rows[i]) > SLIGHT * most)) continue;
            held |= x->row_kinds[i] == ROW_HELD, motor |= x->row_kinds[i] == ROW_MOTOR;
            limit |= x->row_kinds[i] == ROW_LIMIT;
        }
        if (!held && !motor && !limit) continue;
        const hinge *h = &x->model->hinges[x->hinges[entry]].h;
        const char *part = motor ? "the motor of " : limit ? "the limit of " : "";
        if (h->b >= 0)
            add_words(w, "%shinge %d (`%s` and `%s`)", part, x->hinges[entry] + 1,
                      x->model->bodies[h->a].name, x->model->bodies[h->b].name);
        else
            add_words(w, "%shinge %d (`%s` and the ground)", part, x->hinges[entry] + 1,
                      x->model->bodies[h->a].name);
        w->motor |= motor;
    }
}

/* Each pair of bodies once. */
static void name_contacts(const search *s, double most, words *w) {
    const exact *x = s->x;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        bool known = !(vec3_length(s->contacts[i]) > SLIGHT * most);
        for (int64_t k = 0; k < i && !known; k++)
            known = x->contacts.data[k].a == c->a && x->contacts.data[k].b == c->b &&
                    vec3_length(s->contacts[k]) > SLIGHT * most;
        if (known) continue;
        w->contact = true;
        add_words(w, "the contact of `%s` and `%s`", x->model->bodies[x->bodies[c->a]].name,
                  x->model->bodies[x->bodies[c->b]].name);
    }
}

static abut_status tell(const search *s, double time, double most, abut_error *error) {
    words w = {.used = 0};
    bool friction = s->level == JAM_FRICTION;
    if (friction) name_contacts(s, most, &w); /* those that jam first */
    name_hinges(s, most, &w);
    if (!friction) name_contacts(s, most, &w);
    const char *others = w.named > MOST_NAMED ? " and others" : "";
    const char *remedy = w.motor     ? "give the motor a max_force"
                         : w.contact ? "let the kinematic body stop in time, or leave the other room"
                                     : "take a hinge away, or let it hold less";
    s->x->jammed = true;
    if (friction)
        return fail(error, ABUT_INFEASIBLE,
                    "nothing can move on at t = %.9g s: friction jams %s%s, which are driven into each other "
                    "by %.3g m/s; %s, or make the friction less",
                    time, w.text, others, most, remedy);
    return fail(error, ABUT_INFEASIBLE,
                "nothing can move on at t = %.9g s: %s%s contradict each other by %.3g %s; %s", time, w.text,
                others, most, s->level == JAM_PLACES ? "m" : "m/s", remedy);
}

/* Only motors miss their speed: they share the difference. */
static bool only_motors(const search *s, double most) {
    for (int i = 0; i < s->x->row_count; i++)
        if (s->x->row_kinds[i] != ROW_MOTOR && fabs(s->rows[i]) > SLIGHT * most) return false;
    for (int64_t i = 0; i < s->x->contacts.count; i++)
        if (vec3_length(s->contacts[i]) > SLIGHT * most) return false;
    return true;
}

/* ---- the call */

/* How fast something drives the group: kinematic bodies and motors, and what moves anyway. */
static double drive(const search *s) {
    const exact *x = s->x;
    double most = 0;
    for (int i = 0; i < x->row_count; i++)
        if (x->row_kinds[i] == ROW_MOTOR) most = fmax(most, fabs(x->rows[i].rate));
    for (int i = x->movable; i < x->count; i++) {
        double r = x->model->bodies[x->bodies[i]].shape.radius;
        twist v = x->motions[i].velocity;
        most = fmax(most, vec3_length(v.linear) + vec3_length(v.angular) * (isfinite(r) ? r : 0));
    }
    return most;
}

/* What may be missed: of places a part of epsilon; of velocities the accuracy of what is suspected, and with
 * friction, where the search for impulses has failed, that of the search for this proof. */
static double allowed(const search *s) {
    const exact *x = s->x;
    if (s->level == JAM_PLACES) return 0.5 * x->model->tolerance.touching;
    if (s->level == JAM_FRICTION) return 1e-6 * drive(s) + exact_approach_limit(x);
    return fmax(1e-6 * (1 + x->speed), 1e-3 * drive(s));
}

static abut_status look(exact *x, jam_level level, double time, bool stay, abut_error *error) {
    search s;
    abut_status status = begin(&s, x, level, time, error);
    if (status == ABUT_OK) status = measure(&s, time, error);
    if (status != ABUT_OK) return status == ABUT_FAILED ? ABUT_OK : status;
    double enough = allowed(&s), damping = 1e-8;
    for (int round = 0; round < ROUNDS && largest(&s) > 0.1 * enough && damping < 1e8; round++) {
        bool taken = false;
        status = try_step(&s, time, damping, &taken, error);
        if (status != ABUT_OK) break;
        damping *= taken ? 0.1 : 10;
    }
    double most = largest(&s);
    bool jammed = status == ABUT_OK && most > enough;
    if (level == JAM_FRICTION) jammed = jammed && s.unbalanced < BALANCED;
    if (jammed && !(level != JAM_PLACES && only_motors(&s, most))) return tell(&s, time, most, error);
    if (status != ABUT_OK || !stay || jammed) go_to(&s, s.before);
    double powers[2];
    if (status == ABUT_OK || status == ABUT_FAILED) status = exact_prepare(x, time, powers, error);
    return status;
}

abut_status exact_look_for_jam(exact *x, double time, bool friction, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    abut_status status = look(x, JAM_RATES, time, false, error);
    if (status == ABUT_OK && friction) status = look(x, JAM_FRICTION, time, false, error);
    arena_restore(x->arena, mark);
    return status;
}

abut_status exact_find_places(exact *x, double time, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    abut_status status = look(x, JAM_PLACES, time, true, error);
    arena_restore(x->arena, mark);
    return status;
}
