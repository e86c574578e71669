/* The beginning of slip, and of rolling against a resistance, in reduced coordinates (dynamics/onset.h), with
 * L the size of the bodies for slip, and one radian for rolling.  k is what a turned friction does to v',
 * measured: with d across, v'(across) - v'(d) = k (d - across), also where the normal force changes with d.
 */
#include "dynamics/onset.h"
#include "dynamics/reduced.h"

enum { SLIP, ROLL, KINDS };

/* A slide as it is now. */
typedef struct slide {
    const reduced_slide *law;
    vec3 v;    /* its speed; of rolling: the angular velocity */
    vec3 *d;   /* what friction opposes */
    bool made; /* friction slides in it */
} slide;

static vec3 tangential(vec3 v, vec3 n) { return vec3_axpy(v, -vec3_dot(v, n), n); }

static void read_slides(const reduced_pair *pair, const reduced_placed *p, reduced_directions *d,
                        slide out[KINDS]) {
    out[SLIP] = (slide){&pair->slip, p->slip, &d->slip, pair->mode == FRICTION_SLIP};
    out[ROLL] =
        (slide){&pair->roll, tangential(p->spin, p->normal), &d->roll, pair->rolling == FRICTION_SLIP};
}

/* v', in the tangent plane as it turns. */
static vec3 rate_of(int kind, const reduced_placed *p, const motion *base, const reduced_load *load) {
    const spatial *a = &load->acceleration[0], *b = &load->acceleration[1];
    vec3 n = p->normal, turn = vec3_cross(n, p->point.normal_rate);
    if (kind == ROLL)
        return tangential(vec3_add(vec3_sub(a->angular, b->angular), vec3_cross(p->spin, turn)), n);
    vec3 ra = vec3_sub(p->point.at, p->motion.center), rb = vec3_sub(p->point.at, base->center);
    vec3 ua = vec3_add(a->linear, vec3_cross(a->angular, ra)),
         ub = vec3_add(b->linear, vec3_cross(b->angular, rb));
    return tangential(vec3_add(vec3_sub(ua, ub), contact_slip_drift(&p->point, &p->motion, base)), n);
}

static double look_of(const slide *s) {
    return s->made ? onset_look(s->law->look, s->law->slow, vec3_length(s->v)) : 0;
}

bool reduced_begins(const reduced_pair *pair, const reduced_placed *p) {
    slide s[KINDS];
    reduced_directions none;
    if (!(pair->slip.slow > 0) && !(pair->roll.slow > 0)) return false;
    read_slides(pair, p, &none, s);
    return look_of(&s[SLIP]) > 0 || look_of(&s[ROLL]) > 0;
}

/* About the angle by which d is to be turned: what it misses, p . w / (look k) with p across d.  Where a
 * slide ends slowly w may come to lie against d, by no more than ONSET_SLACK; otherwise that is another
 * solution, to be left. */
static double missed_by(const slide *s, vec3 n, vec3 rate, double look) {
    vec3 w = vec3_axpy(s->v, look, rate);
    double scale = look * s->law->k, g = vec3_dot(vec3_cross(n, *s->d), w) / scale;
    return vec3_dot(*s->d, w) < -2 * ONSET_SLACK * scale ? copysign(1, g) : g;
}

bool reduced_turn(const reduced_pair *pair, const reduced_placed *p, const motion *base, mat3 base_rotation,
                  reduced_directions *along, reduced_load *load) {
    slide s[KINDS];
    double g[KINDS] = {0}, by[KINDS] = {0}, slope[KINDS] = {-1, -1};
    read_slides(pair, p, along, s);
    for (int k = 0; k < KINDS; k++)
        if (look_of(&s[k]) > 0) *s[k].d = vec3_unit(tangential(*s[k].d, p->normal));
    for (int round = 0; round < ONSET_ROUNDS; round++) {
        double most = 0;
        for (int k = 0; k < KINDS; k++) {
            double look = look_of(&s[k]);
            if (!(look > 0)) continue;
            double now = missed_by(&s[k], p->normal, rate_of(k, p, base, load), look);
            /* dg/dtheta = -1, but for d . w and the other slide; the secant tells */
            if (round > 0 && (now - g[k]) * by[k] < 0) slope[k] = (now - g[k]) / by[k];
            g[k] = now, by[k] = fmax(-0.5, fmin(0.5, -now / slope[k]));
            most = fmax(most, fabs(now));
        }
        if (most <= ONSET_ANGLE) return true;
        for (int k = 0; k < KINDS; k++)
            if (look_of(&s[k]) > 0)
                *s[k].d = vec3_unit(vec3_axpy(*s[k].d, by[k], vec3_cross(p->normal, *s[k].d)));
        if (!reduced_solve(pair, p, base, base_rotation, along, load)) return false;
    }
    return true;
}

/* ---- whether one begins */

/* Whether the slide goes on as one that begins, or is one now. */
static void find(reduced_slide *law, vec3 v, vec3 rate, vec3 d, vec3 across, double k, double size) {
    double time = sqrt(size / k), speed = vec3_length(v);
    double slow = law->slow > 0 ? law->slow : ONSET_SLOW * k * time;
    bool begins = k > 0 && speed < slow && vec3_dot(rate, d) > -ONSET_SLACK * k &&
                  fabs(vec3_dot(rate, across)) < ONSET_SLACK * k;
    if (!begins)
        law->slow = 0;
    else if (!(law->slow > 0))
        law->slow = slow, law->look = ONSET_LOOK * time, law->k = k;
}

bool reduced_find_onset(reduced_pair *pair, const reduced_placed *p, const motion *base, mat3 base_rotation,
                        const reduced_load *load, double size) {
    bool changed = false;
    slide s[KINDS];
    reduced_directions d = {pair->slip.start, pair->roll.start};
    read_slides(pair, p, &d, s);
    for (int i = 0; i < KINDS; i++) {
        reduced_slide *law = i == SLIP ? &pair->slip : &pair->roll;
        bool begun = law->slow > 0;
        reduced_load turned;
        vec3 was = *s[i].d, across = vec3_cross(p->normal, was), rate = rate_of(i, p, base, load);
        *s[i].d = across;
        if (s[i].made && reduced_solve(pair, p, base, base_rotation, &d, &turned)) {
            double k = vec3_dot(vec3_sub(rate, rate_of(i, p, base, &turned)), across);
            find(law, s[i].v, rate, was, across, k, i == SLIP ? size : 1);
        } else
            law->slow = 0;
        *s[i].d = was;
        changed |= begun != (law->slow > 0);
    }
    return changed;
}
