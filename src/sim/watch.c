/* Watches: user events where a function of the motion comes to zero.
 *
 * A watch looks on.  It is asked when a frame (of the exact clock) or a step (of the live one) stands, on the
 * motion that came out: the dense output of whatever moved its bodies (the integrator, reduced coordinates,
 * the straight paths of time steps), where they rest, and straight lines between the steps of the live clock.
 * So it cuts no step, puts no bodies into one group, and leaves every bit of the motion as it is.
 *
 *   body a   ├──────── segment ────────┼── segment ──┤ rests
 *   body b   ├── segment ──┼──────────── segment ───────────┤
 *   pieces   ├─────────────┼───────────┼─────────────┼──────┤
 *   samples  ·· ·  ·  · ····· ·  ·  · ····· ·  · ···
 *
 * Within a piece the motion is smooth, and so is the value.  It is sampled at the eleven nodes of Chebyshev,
 * which crowd at the ends; where three samples say that it may come to zero and turn back between them, its
 * least is looked for.  Zeros are then refined to the last digits.  From one piece to the next it may jump
 * (the velocity, at an impact): then it comes to zero there.
 *
 * What is zero: values are compared with the largest one so far.  A value that is smaller than TOUCHES of it
 * is rounding, and zero.  At the start and after an event the value has to leave zero before coming there is
 * an event: by LEAVES of the largest, and by more than what the accuracy of the motion makes of it.  So a
 * value that stays at zero, or trembles there, is told once, and never if it was nowhere else; one that
 * starts there is told when it comes back. */
#include "sim/run.h"

enum { NODES = 11, REFINE = 100, SHRINKS = 80 };
#define TOUCHES 1e-12
#define LEAVES  1e-9

/* (1 - cos(k pi / 10)) / 2 */
static const double nodes[NODES] = {
    0,   0.024471741852423214, 0.09549150281252627, 0.20610737385376343, 0.3454915028125263,
    0.5, 0.6545084971874737,   0.7938926261462366,  0.9045084971874737,  0.9755282581475768,
    1};

/* A part of the dense output of a body. */
typedef struct stretch {
    double start, end;
    const segment_list *list;
    const kept_segment *segment;
    int entry; /* of the body */
} stretch;

typedef struct piece {
    double start, end;
    const stretch *on[ABUT_MOST_WATCHED]; /* NULL: at rest where the state has it, fixed, or kinematic */
} piece;

typedef struct sample {
    double t, g;
    const piece *in;
} sample;

/* A watch at work. */
typedef struct search {
    abut_sim *run;
    const model_watch *watch;
    watch_memory *memory;
    const motion *from; /* live: bodies at the start of the step, which is the only piece; NULL: exact */
    abut_status status;
    abut_error *error;
} search;

/* ---- the value at a time */

static motion between(const motion *a, const motion *b, double s) {
    double sign = a->rotation.w * b->rotation.w + a->rotation.x * b->rotation.x +
                              a->rotation.y * b->rotation.y + a->rotation.z * b->rotation.z <
                          0
                      ? -1
                      : 1;
    double r = (1 - s) * sign;
    quat q = {r * a->rotation.w + s * b->rotation.w, r * a->rotation.x + s * b->rotation.x,
              r * a->rotation.y + s * b->rotation.y, r * a->rotation.z + s * b->rotation.z};
    return (motion){vec3_lerp(a->center, b->center, s),
                    quat_unit(q),
                    {vec3_lerp(a->velocity.linear, b->velocity.linear, s),
                     vec3_lerp(a->velocity.angular, b->velocity.angular, s)}};
}

static motion on_stretch(const stretch *p, double t) {
    const kept_segment *k = p->segment;
    abut_segment s = {.start = k->start,
                      .end = k->end,
                      .step = k->step,
                      .body_count = (int)k->body_count,
                      .bodies = p->list->bodies.data + k->first_body,
                      .coefficients = p->list->numbers.data + k->first_number};
    abut_motion m = abut_segment_motion(&s, p->entry, t);
    return (motion){m.center, m.rotation, {m.velocity, m.spin}};
}

static abut_status place(const search *s, const piece *p, int k, double t, motion *m, abut_error *error) {
    int body = s->watch->bodies[k];
    *m = run_motions(s->run->state)[body];
    if (s->from)
        *m = between(&s->from[body], m, (t - p->start) / (p->end - p->start));
    else if (p->on[k])
        *m = on_stretch(p->on[k], t);
    else if (s->run->model->bodies[body].kinematic)
        return model_kinematic_motion(s->run->model, body, t, m, NULL, error);
    return ABUT_OK;
}

static void place_all(search *s, const piece *p, double t, motion *motions) {
    for (int k = 0; k < s->watch->body_count && s->status == ABUT_OK; k++)
        s->status = place(s, p, k, t, &motions[k], s->error);
}

/* NAN, and the status says why, where there is none. */
static double ask(search *s, double t, const motion *motions) {
    double value = NAN;
    if (s->status == ABUT_OK)
        s->status = model_watch_value(s->run->model, s->watch, t, motions, &value, s->error);
    return value;
}

static double value_at(search *s, const piece *p, double t) {
    motion motions[ABUT_MOST_WATCHED];
    place_all(s, p, t, motions);
    return ask(s, t, motions);
}

/* How much the value changes if each number of the motion is off by what it is integrated to: lengths count
 * as the size of the scene, speeds as that of a fall by it, angles as one. */
static double uncertainty(search *s, const sample *at) {
    const abut_model *m = s->run->model;
    double d = m->tolerance.integration, gravity = vec3_length(m->world.gravity), total = 0;
    double length = d * m->size, speed = d * sqrt((gravity > 0 ? gravity : 1) * m->size);
    motion motions[ABUT_MOST_WATCHED];
    place_all(s, at->in, at->t, motions);
    for (int k = 0; k < s->watch->body_count; k++) {
        motion *b = &motions[k];
        double *numbers[] = {&b->center.x,           &b->center.y,           &b->center.z,
                             &b->velocity.linear.x,  &b->velocity.linear.y,  &b->velocity.linear.z,
                             &b->velocity.angular.x, &b->velocity.angular.y, &b->velocity.angular.z,
                             &b->rotation.w,         &b->rotation.x,         &b->rotation.y,
                             &b->rotation.z};
        const double steps[] = {length, speed, speed / m->size, d};
        for (int i = 0; i < COUNT_OF(numbers); i++) {
            double kept = *numbers[i];
            *numbers[i] = kept + steps[i < 9 ? i / 3 : 3];
            total += fabs(ask(s, at->t, motions) - at->g);
            *numbers[i] = kept;
        }
    }
    return total;
}

/* ---- zeros */

/* The zero between a and b, on different sides of it: regula falsi (Illinois) with bisection as a safeguard,
 * to a width of rounding. */
static double refine(search *s, sample a, sample b) {
    int side = 0;
    double ga = a.g, gb = b.g;
    for (int i = 0; i < REFINE && s->status == ABUT_OK; i++) {
        double width = b.t - a.t;
        double t = i % 4 == 3 ? a.t + width / 2 : a.t + width * ga / (ga - gb);
        if (!(t > a.t && t < b.t)) t = a.t + width / 2;
        if (!(t > a.t && t < b.t)) break;
        double g = value_at(s, b.in, t);
        if (g == 0) return t;
        if ((g < 0) == (a.g < 0)) {
            a.t = t, a.g = ga = g;
            if (side == 1) gb /= 2;
            side = 1;
        } else {
            b.t = t, b.g = gb = g;
            if (side == -1) ga /= 2;
            side = -1;
        }
    }
    return fabs(a.g) < fabs(b.g) ? a.t : b.t;
}

/* The value at the vertex of the parabola through three samples. */
static double vertex(const sample *a, const sample *b, const sample *c) {
    double first = (b->g - a->g) / (b->t - a->t), second = (c->g - b->g) / (c->t - b->t);
    double curve = (second - first) / (c->t - a->t), slope = first + curve * (b->t - a->t);
    return curve != 0 ? b->g - slope * slope / (4 * curve) : b->g;
}

/* Where the value comes nearest to zero between a and c, with b between them nearer than both: golden
 * sections, until it is there or on the other side, or the place is known to what values can tell. */
static sample find_least(search *s, sample a, sample b, sample c) {
    const double golden = 0.3819660112501051;
    double sign = b.g < 0 ? -1 : 1, zero = TOUCHES * s->memory->largest;
    for (int i = 0; i < SHRINKS && s->status == ABUT_OK && sign * b.g > zero; i++) {
        bool left = b.t - a.t > c.t - b.t;
        sample m = {.t = left ? b.t - golden * (b.t - a.t) : b.t + golden * (c.t - b.t), .in = b.in};
        if (!(m.t > a.t && m.t < c.t) || m.t == b.t) break;
        m.g = value_at(s, b.in, m.t);
        bool nearer = sign * m.g < sign * b.g;
        if (nearer && left)
            c = b, b = m;
        else if (nearer)
            a = b, b = m;
        else if (left)
            a = m;
        else
            c = m;
    }
    return b;
}

/* ---- samples */

/* At the nodes of every piece; `out` has room for twice as many. */
static int sample_pieces(search *s, const piece *pieces, int count, sample *out) {
    int n = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < NODES && s->status == ABUT_OK; k++) {
            const piece *p = &pieces[i];
            double t = k == NODES - 1 ? p->end : p->start + nodes[k] * (p->end - p->start);
            out[n] = (sample){t, value_at(s, p, t), p};
            s->memory->largest = fmax(s->memory->largest, fabs(out[n].g));
            n++;
        }
    return n;
}

/* Adds the samples where the value comes nearest to zero between others, if that may be zero.  What is found
 * lies beside the sample in the middle: before it, or behind. */
static int add_leasts(search *s, const sample *in, int count, sample *out) {
    int n = 0;
    for (int i = 0; i < count; i++) {
        const sample *a = &in[i > 0 ? i - 1 : i], *b = &in[i], *c = &in[i + 1 < count ? i + 1 : i];
        double sign = b->g < 0 ? -1 : 1;
        bool turns = i > 0 && i + 1 < count && a->in == b->in && c->in == b->in &&
                     sign * a->g > sign * b->g && sign * c->g > sign * b->g;
        sample least = *b;
        if (turns && sign * vertex(a, b, c) < 0.5 * sign * b->g) least = find_least(s, *a, *b, *c);
        if (least.t < b->t) out[n++] = least;
        out[n++] = *b;
        if (least.t > b->t) out[n++] = least;
    }
    return n;
}

/* ---- events */

static bool tell(search *s, double time, const piece *in) {
    const model_watch *w = s->watch;
    motion m;
    if (s->status == ABUT_OK) s->status = place(s, in, 0, time, &m, s->error);
    if (s->status != ABUT_OK) return false;
    abut_event e = {.time = time,
                    .kind = ABUT_EVENT_USER,
                    .body = {w->bodies[0], w->body_count > 1 ? w->bodies[1] : -1},
                    .point = m.center,
                    .count = 1,
                    .name = w->name};
    return array_push(&s->run->context, &s->run->events, e);
}

/* From sample to sample: on which side the watch is, and where that ends. */
static abut_status follow(search *s, const sample *samples, int count) {
    watch_memory *memory = s->memory;
    double zero = TOUCHES * memory->largest;
    bool fine = true;
    for (int i = 0; i < count && fine && s->status == ABUT_OK; i++) {
        const sample *a = &samples[i > 0 ? i - 1 : 0], *b = &samples[i];
        double side = (double)memory->side;
        if (side != 0 && side * b->g <= zero) {
            bool jumps = i == 0 || a->in != b->in || fabs(b->g) <= zero;
            double time = jumps ? b->t : refine(s, *a, *b);
            bool wanted = s->watch->direction == ABUT_CROSSING_BOTH ||
                          (s->watch->direction == ABUT_CROSSING_RISING) == (side < 0);
            if (wanted) fine = tell(s, time, b->in);
            memory->side = 0;
        }
        if (memory->side == 0 && fabs(b->g) > LEAVES * memory->largest && fabs(b->g) > uncertainty(s, b))
            memory->side = b->g < 0 ? -1 : 1;
    }
    return fine || s->status != ABUT_OK ? s->status : fail_memory(s->error);
}

static abut_status search_pieces(search *s, const piece *pieces, int count) {
    size_t room = 2 * (size_t)count * NODES + 1;
    sample *first = arena_alloc(&s->run->scratch, room, sizeof *first);
    sample *all = arena_alloc(&s->run->scratch, room, sizeof *all);
    if (!first || !all) return fail_memory(s->error);
    int n = sample_pieces(s, pieces, count, first);
    if (s->status == ABUT_OK) n = add_leasts(s, first, n, all);
    return s->status == ABUT_OK ? follow(s, all, n) : s->status;
}

/* ---- the pieces of a frame of the exact clock */

/* The dense output of one body, in order of time. */
typedef struct track {
    const stretch *items;
    int count;
} track;

/* Of a body that moves: all of its stretches are in the account of one group. */
static bool find_track(abut_sim *run, int body, double start, track *out) {
    int most = 0;
    for (int64_t a = 0; a < run->account_count; a++) {
        int count = (int)run->accounts.data[a].segments.items.count;
        most = count > most ? count : most;
    }
    stretch *items = arena_alloc(&run->scratch, (size_t)most + 1, sizeof *items);
    *out = (track){items, 0};
    if (!items || !run->model->bodies[body].movable) return items != NULL;
    for (int64_t a = 0; a < run->account_count && out->count == 0; a++) {
        const segment_list *list = &run->accounts.data[a].segments;
        for (int64_t i = 0; i < list->items.count; i++) {
            const kept_segment *k = &list->items.data[i];
            double from = fmax(k->start, start), to = fmin(k->end, run->state->time);
            int entry = 0;
            while (entry < k->body_count && list->bodies.data[k->first_body + entry] != body) entry++;
            if (entry == k->body_count || !(to > from)) continue;
            items[out->count++] = (stretch){from, to, list, k, entry};
        }
    }
    return true;
}

static int by_time(const void *user, const void *a, const void *b) {
    (void)user;
    double s = *(const double *)a, t = *(const double *)b;
    return (s > t) - (s < t);
}

/* The frame from `start` to now, cut where a stretch of any of the bodies ends. */
static int cut_pieces(abut_sim *run, const track *tracks, int bodies, double start, piece **out) {
    int most = 2, cuts = 0, count = 0;
    for (int k = 0; k < bodies; k++) most += 2 * tracks[k].count;
    double *times = arena_alloc(&run->scratch, (size_t)most, sizeof *times);
    piece *pieces = *out = arena_alloc(&run->scratch, (size_t)most, sizeof *pieces);
    if (!times || !pieces) return -1;
    times[cuts++] = start, times[cuts++] = run->state->time;
    for (int k = 0; k < bodies; k++)
        for (int i = 0; i < tracks[k].count; i++)
            times[cuts++] = tracks[k].items[i].start, times[cuts++] = tracks[k].items[i].end;
    if (!sort_stable(&run->context, times, (size_t)cuts, sizeof *times, by_time, NULL)) return -1;
    int next[ABUT_MOST_WATCHED] = {0};
    for (int i = 1; i < cuts; i++) {
        if (!(times[i] > times[i - 1])) continue;
        piece *p = &pieces[count++];
        p->start = times[i - 1], p->end = times[i];
        for (int k = 0; k < bodies; k++) {
            while (next[k] < tracks[k].count && tracks[k].items[next[k]].end <= p->start) next[k]++;
            bool moves = next[k] < tracks[k].count && tracks[k].items[next[k]].start <= p->start;
            p->on[k] = moves ? &tracks[k].items[next[k]] : NULL;
        }
    }
    return count;
}

abut_status run_watch_frame(abut_sim *run, double start, abut_error *error) {
    abut_status status = ABUT_OK;
    for (int i = 0; i < run->model->watch_count && status == ABUT_OK; i++) {
        arena_mark mark = arena_save(&run->scratch);
        const model_watch *w = &run->model->watches[i];
        search s = {.run = run, .watch = w, .memory = &run_watches(run->state)[i], .error = error};
        track tracks[ABUT_MOST_WATCHED];
        bool fine = true;
        for (int k = 0; k < w->body_count && fine; k++)
            fine = find_track(run, w->bodies[k], start, &tracks[k]);
        piece *pieces = NULL;
        int count = fine ? cut_pieces(run, tracks, w->body_count, start, &pieces) : -1;
        status = count < 0 ? fail_memory(error) : search_pieces(&s, pieces, count);
        arena_restore(&run->scratch, mark);
    }
    return status;
}

/* ---- a step of the live clock */

abut_status run_watch_step(abut_sim *run, const motion *from, double dt, abut_error *error) {
    abut_status status = ABUT_OK;
    for (int i = 0; i < run->model->watch_count && status == ABUT_OK; i++) {
        arena_mark mark = arena_save(&run->scratch);
        piece p = {.start = run->state->time - dt, .end = run->state->time};
        search s = {.run = run,
                    .watch = &run->model->watches[i],
                    .memory = &run_watches(run->state)[i],
                    .from = from,
                    .error = error};
        status = search_pieces(&s, &p, 1);
        arena_restore(&run->scratch, mark);
    }
    return status;
}
