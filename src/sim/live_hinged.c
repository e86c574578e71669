/* An island with hinges or springs goes through a sub-step by itself, in as many pieces as its motion asks
 * for.
 *
 * SHAKE (live_direct_hinge.c) puts a body that turns by an angle q within a piece where its hinges are
 * closed; the energy that this misplaces is of the order q^2 of its own, and Newton's method on the rows
 * where the piece begins gains about a factor of q with each solution.  What turns fast (a light link that a
 * heavy one whips round, a short rod whose ends pass each other) is therefore followed in shorter pieces: no
 * body and no rod turns by more than MOST_TURN in one, and a piece in which the hinges do not close is halved
 * and tried again.  Nothing is kept of a piece before it is closed.
 *
 * A piece that stops something which should bounce is halved as well; before one of BLOW_UNITS the blow comes
 * (live_impact_hinged.c).  So the blow has the velocities of its time, and where nothing is lost it keeps the
 * energy.  After BLOWS of them (a light body that rattles between heavy ones) what meets is stopped.
 *
 * Pieces are counted in units of 1 / UNITS of the sub-step, powers of two, so that their lengths are exact.
 * One is at most twice as long as the last, and no longer where that had to be halved: what whips round does
 * so at its fastest in the middle, and a long piece after the shortest would go over it.  TRIALS bounds the
 * work, and is shared out over what is left of the sub-step: hinges that cannot close (squeezed between
 * bodies that cannot give: then there are SQUEEZED_TRIALS) take what they reach, and are closed by the least
 * motion where the sub-step ends. */
#include "sim/live_direct.h"

enum {
    UNITS = 1024,
    BLOW_UNITS = 16,
    BLOWS = 16,
    TRIALS = 256,
    USUAL_ROWS = 768,
    SHARE = 16,
    SQUEEZED_TRIALS = 24
};
#define MOST_TURN  0.12 /* radians in a piece */
#define MOST_BEND  0.01 /* see direct_bend */
#define LOOK_AHEAD 2    /* units in which what is struck would close */

typedef struct way {
    live *w;
    const live_island *island;
    direct d;
    double h;                /* of the sub-step */
    int left, units, trials; /* of the sub-step and of this piece; so far */
    int most;                /* trials of the sub-step */
    int blows;               /* so far in the sub-step */
    int grown;               /* units that the piece may have at most */
    bool missed;             /* what it stops cannot be struck */
    bool halved;             /* it was longer at first */
    bool open;               /* one of the pieces gone was not closed */
    int chord;               /* units of the piece that the velocities are for; 0: they are tangents */
    bool flies;              /* forces act for half of the piece before it and half after */
    double swing;            /* pieces that its springs ask for */
    int loads_in;            /* units of the piece that the impulses of the contacts are for */
    live_velocity *saved;    /* by body of the island, before the piece */
    int drivers;             /* kinematic bodies that it hangs on or touches, and where they are */
    int *driver;
    motion *driver_at;
    live_velocity *driver_moved;
} way;

static int body_of(const way *y, int k) { return y->w->island_bodies.data[y->island->first_body + k]; }

/* ---- how long a piece may be */

static spatial velocity(const live *w, int body) {
    if (body < 0) return (spatial){{0, 0, 0}, {0, 0, 0}};
    return (spatial){live_vec3(w->velocities[body + 1].v), live_vec3(w->velocities[body + 1].w)};
}

static vec3 anchor(const live *w, int body, vec3 p, vec3 *at) {
    if (body < 0) return *at = p, vec3_zero();
    vec3 arm = quat_rotate(w->motions[body].rotation, p);
    *at = vec3_add(w->motions[body].center, arm);
    return spatial_velocity_at(velocity(w, body), arm);
}

/* How fast a rod turns. */
static double rod_turn(const live *w, const hinge *h) {
    vec3 pa, pb, va = anchor(w, h->a, h->pa, &pa), vb = anchor(w, h->b, h->pb, &pb), d = vec3_sub(pa, pb);
    double length2 = vec3_length2(d);
    return length2 > 0 ? vec3_length(vec3_cross(d, vec3_sub(va, vb))) / length2 : 0;
}

static double fastest_turn(const way *y) {
    const live *w = y->w;
    double fastest = 0;
    for (int k = 0; k < y->island->body_count; k++)
        fastest = fmax(fastest, vec3_length(velocity(w, body_of(y, k)).angular));
    for (int k = 0; k < y->island->hinge_count; k++) {
        const hinge *h = &w->model->hinges[w->island_hinges.data[y->island->first_hinge + k]].h;
        if (h->kind == ABUT_HINGE_ROD) fastest = fmax(fastest, rod_turn(w, h));
    }
    return fastest;
}

/* The shortest piece for which there are trials: from there on pieces that grow come to the end within the
 * trials that are left, and the fewer these are, the sooner. */
static int least_units(const way *y) {
    int units = 1;
    while (units < y->left && units * SHARE * (y->most - y->trials) < y->left) units *= 2;
    return units;
}

static int units_for(const way *y) {
    double turn = fastest_turn(y) * y->h;
    int units = UNITS, least = least_units(y);
    while (units > y->left || units > y->grown ||
           (units > least && (turn * units > MOST_TURN * UNITS || y->swing * units > UNITS)))
        units /= 2;
    return units;
}

/* ---- a piece */

/* Impulses of contacts are those of a piece: in one of another length they go on as the forces that they are.
 */
static void scale_loads(way *y, int units) {
    double part = (double)units / y->loads_in;
    for (int k = 0; k < y->island->contact_count && part != 1; k++) {
        live_contact *c = &y->w->contacts.data[y->w->island_contacts.data[y->island->first_contact + k]];
        c->friction = vec3_scale(c->friction, part), c->rolling = vec3_scale(c->rolling, part);
        c->twist *= part;
        for (int i = 0; i < c->count; i++) c->loads[i].normal *= part;
    }
    y->loads_in = units;
}

/* Whether nothing touches the island. */
static bool flies(const way *y) {
    const live *w = y->w;
    for (int k = 0; k < y->island->contact_count; k++) {
        const live_contact *c = &w->contacts.data[w->island_contacts.data[y->island->first_contact + k]];
        if (c->flags & LIVE_TOUCHING) return false;
    }
    return true;
}

static void kick(const way *y, double t) {
    for (int k = 0; k < y->island->body_count; k++) live_kick(y->w, body_of(y, k) + 1, t);
}

/* Velocities point along the chord of the piece that ended, and those of a piece of the same length begin
 * so: SHAKE is RATTLE then.  For one of another length they are turned into the tangent first. */
static abut_status turn(way *y, abut_error *error) {
    y->chord = 0;
    return y->island->hinge_count > 0 ? live_turn_hinged(y->w, y->island, error) : ABUT_OK;
}
static abut_status turn_for(way *y, int units, abut_error *error) {
    return y->chord == 0 || y->chord == units ? ABUT_OK : turn(y, error);
}

/* What bounces is struck here, with velocities along the hinges: those of a sub-step point along the chord,
 * and what an impact leaves of that would do work on the hinges. */
static abut_status strike(way *y, bool *struck, abut_error *error) {
    live *w = y->w;
    w->impact_time = w->substep * y->h + y->h * (UNITS - y->left) / UNITS;
    abut_status status = turn_for(y, 0, error);
    if (status != ABUT_OK) return status;
    for (int k = 0; k < y->island->body_count; k++) y->saved[k] = w->velocities[body_of(y, k) + 1];
    live_strike_island(w, y->island, LOOK_AHEAD * w->h);
    *struck = false;
    for (int k = 0; k < y->island->body_count; k++)
        *struck |= memcmp(&y->saved[k], &w->velocities[body_of(y, k) + 1], sizeof *y->saved) != 0;
    return w->status;
}

static void note_drivers(way *y) {
    const live *w = y->w;
    if (y->left < UNITS) return;
    for (int i = 0; i < y->d.bodies; i++) {
        int body = y->d.body_of[i];
        if (!w->body[body].kinematic) continue;
        y->driver[y->drivers] = body, y->driver_at[y->drivers] = w->motions[body];
        y->driver_moved[y->drivers++] = w->moved[body + 1];
    }
}

/* Kinematic bodies go along, and back to where all others find them in the sub-step. */
static void return_drivers(const way *y) {
    for (int i = 0; i < y->drivers; i++) {
        y->w->motions[y->driver[i]] = y->driver_at[i];
        y->w->moved[y->driver[i] + 1] = y->driver_moved[i];
    }
}

static void move(way *y) {
    note_drivers(y);
    for (int k = 0; k < y->island->body_count; k++) live_integrate_position(y->w, body_of(y, k) + 1, y->w->h);
    for (int i = 0; i < y->drivers; i++) live_integrate_position(y->w, y->driver[i] + 1, y->w->h);
}

/* One piece, whose end nobody has seen yet: its impulses, whether they close the hinges, and whether they
 * stop something that should bounce. */
static abut_status try_piece(way *y, bool *closed, bool *bounces, abut_error *error) {
    live *w = y->w;
    abut_status status = turn_for(y, y->units, error);
    if (status != ABUT_OK) return status;
    scale_loads(y, y->units);
    w->h = y->h * y->units / UNITS;
    live_pull_springs(w, y->island);
    for (int k = 0; k < y->island->body_count; k++)
        y->saved[k] = w->calm[body_of(y, k) + 1] = w->velocities[body_of(y, k) + 1];
    kick(y, y->flies ? w->h / 2 : w->h);
    *closed = true;
    status = direct_try(&y->d, closed, error);
    double bend = status == ABUT_OK ? direct_bend(&y->d, w->h) : 0;
    if (status == ABUT_OK) direct_keep_velocities(&y->d);
    *closed = *closed && !(bend > MOST_BEND) && !(fastest_turn(y) * w->h > 1.5 * MOST_TURN);
    for (int k = 0; k < y->island->body_count; k++) w->velocities[body_of(y, k) + 1] = y->saved[k];
    *bounces = status == ABUT_OK && direct_bounces(&y->d);
    return status;
}

/* What was thought to fly and lands has the forces of the whole piece before it, as what rests. */
static bool lands(way *y) {
    if (!y->flies || !direct_presses(&y->d)) return false;
    y->flies = false;
    return true;
}

/* A piece that is not gone: another one in its place.  What was struck moves otherwise.  A blow that meets
 * nothing yet has a shorter piece before it; one that meets nothing after the shortest is none. */
static abut_status try_another(way *y, bool bounces, abut_error *error) {
    bool struck = false, shortest = y->units <= least_units(y);
    abut_status status = ABUT_OK;
    if (bounces && (shortest || y->units <= BLOW_UNITS)) status = strike(y, &struck, error);
    y->missed = shortest && !struck, y->blows += struck, y->halved |= !struck;
    y->units = struck ? units_for(y) : shortest ? y->units : y->units / 2;
    return status;
}

/* Tries pieces until one is closed and strikes nothing; that one is gone. */
static abut_status go(way *y, abut_error *error) {
    live *w = y->w;
    for (;;) {
        arena_mark mark = arena_save(&w->scratch);
        bool closed = false, bounces = false;
        abut_status status = try_piece(y, &closed, &bounces, error);
        y->trials++;
        if (y->d.gives && y->most > SQUEEZED_TRIALS) y->most = SQUEEZED_TRIALS;
        bounces = bounces && !y->missed && y->blows < BLOWS;
        bool gone = y->trials >= y->most || (!bounces && (closed || y->units <= least_units(y)));
        bool again = status == ABUT_OK && gone && lands(y);
        if (status == ABUT_OK && gone && !again) direct_keep(&y->d);
        arena_restore(&w->scratch, mark);
        if (status != ABUT_OK) return status;
        if (again) continue;
        y->open |= gone && !closed;
        if (gone) break;
        status = try_another(y, bounces, error);
        if (status != ABUT_OK) return status;
    }
    move(y);
    y->chord = y->units;
    if (!y->flies) return ABUT_OK;
    live_pull_springs(w, y->island); /* where they are now */
    kick(y, w->h / 2);
    return w->springs_pull ? turn(y, error) : ABUT_OK;
}

/* The more rows an island has, the fewer trials: their work is bounded. */
static int most_trials(const live_island *s) {
    int rows = s->points + 5 * s->contact_count + 8 * s->hinge_count;
    return rows <= USUAL_ROWS ? TRIALS : TRIALS * USUAL_ROWS / rows + 16;
}

static bool allocate(way *y) {
    arena *memory = &y->w->scratch;
    size_t most = (size_t)(y->island->body_count + y->island->contact_count + y->island->hinge_count) + 1;
    y->saved = arena_alloc(memory, most, sizeof *y->saved);
    y->driver = arena_alloc(memory, most, sizeof *y->driver);
    y->driver_at = arena_alloc(memory, most, sizeof *y->driver_at);
    y->driver_moved = arena_alloc(memory, most, sizeof *y->driver_moved);
    return y->saved && y->driver && y->driver_at && y->driver_moved && direct_allocate(&y->d, memory);
}

abut_status live_go_hinged(live *w, const live_island *island, abut_error *error) {
    arena_mark mark = arena_save(&w->scratch);
    way y = {.w = w,
             .island = island,
             .d = {.w = w, .island = island},
             .h = w->h,
             .left = UNITS,
             .grown = UNITS,
             .most = most_trials(island),
             .chord = w->substep > 0 ? UNITS : 0,
             .loads_in = UNITS};
    abut_status status = allocate(&y) ? ABUT_OK : fail_memory(error);
    while (y.left > 0 && status == ABUT_OK) {
        y.flies = flies(&y), y.swing = live_swing(w, island, y.h, y.flies);
        y.units = units_for(&y), y.missed = y.halved = false;
        status = go(&y, error);
        y.left -= y.units, y.grown = (y.halved ? 1 : 2) * y.units;
        w->at_start = false, w->in_pieces = true;
    }
    if (status == ABUT_OK)
        status = y.open && island->hinge_count > 0 ? live_close_island(w, island, error)
                                                   : turn_for(&y, UNITS, error);
    w->h = y.h, w->in_pieces = w->springs_pull = false;
    scale_loads(&y, UNITS);
    return_drivers(&y);
    arena_restore(&w->scratch, mark);
    return status;
}
