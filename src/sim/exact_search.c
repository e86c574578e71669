/* Searching the dense output of a step (see exact_search.h): bodies placed on it, zeros of smooth functions
 * to the last digits, changes of yes or no functions to the accuracy of events. */
#include "sim/exact_search.h"

enum { REFINE = 100 };

/* ---- placing bodies on the dense output */

abut_status exact_place_dense(exact *x, double time, abut_error *error) {
    ode_dense(&x->integrator, time, x->y_dense);
    return exact_place(x, time, x->y_dense, error);
}

/* The numbers of one body: c0 + s (c1 + (1 - s) (c2 + s (...))), as ode_dense does for all. */
static void dense_numbers(const ode *o, double time, int first, double y[BODY_NUMBERS]) {
    double s = (time - o->t_old) / (o->t - o->t_old), r = 1 - s;
    for (int i = 0; i < BODY_NUMBERS; i++) {
        double value = o->dense[ODE_DENSE - 1][first + i];
        for (int k = ODE_DENSE - 2; k >= 0; k--) value = o->dense[k][first + i] + (k % 2 ? r : s) * value;
        y[i] = value;
    }
}

/* Only the two bodies of a pair: what gap functions need. */
abut_status exact_place_two(exact *x, double time, int a, int b, abut_error *error) {
    int who[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        int i = who[k];
        if (x->placed_at[i] == time) continue;
        if (i < x->movable) {
            double y[BODY_NUMBERS];
            dense_numbers(&x->integrator, time, BODY_NUMBERS * i, y);
            x->motions[i] = (motion){{y[0], y[1], y[2]},
                                     quat_unit((quat){y[3], y[4], y[5], y[6]}),
                                     {{y[7], y[8], y[9]}, {y[10], y[11], y[12]}}};
        } else if (x->model->bodies[x->bodies[i]].kinematic) {
            abut_status status = model_kinematic_motion(x->model, x->bodies[i], time, &x->motions[i],
                                                        &x->prescribed[i], error);
            if (status != ABUT_OK) return status;
        }
        x->placed_at[i] = time;
    }
    return ABUT_OK;
}

/* ---- zeros */

static bool is_smooth_gap(const exact *x, int64_t item, exact_probe *f) {
    return f == exact_probe_gap && smooth_is_pair(&x->nears.data[item].pair);
}

/* A sample between a and b, at t if there is one: the place of smooth surfaces may not be found at some
 * moment, and a gap that closes is not lost by that. */
bool exact_probe_between(exact *x, int64_t item, exact_probe *f, const exact_sample *a, const exact_sample *b,
                         double t, exact_sample *m) {
    static const double parts[] = {0.5, 0.25, 0.75, 0.125, 0.875, 0.0625, 0.9375};
    if (f(x, item, t, m)) return true;
    for (int k = 0; k < COUNT_OF(parts) && is_smooth_gap(x, item, f); k++) {
        double s = a->t + parts[k] * (b->t - a->t);
        if (s > a->t && s < b->t && f(x, item, s, m)) return true;
    }
    return false;
}

/* The zero of g between a (g > 0) and b (g <= 0), by the Illinois variant of regula falsi with bisection as a
 * safeguard: to a width of rounding.  The answer is the side with g > 0 or zero, so that nothing overlaps;
 * where a place of smooth surfaces cannot be found between them it is a: the next step starts there. */
bool exact_refine(exact *x, int64_t item, exact_probe *f, exact_sample a, exact_sample b,
                  exact_sample *root) {
    double ga = a.g, gb = b.g;
    int side = 0;
    for (int i = 0; i < REFINE; i++) {
        double width = b.t - a.t;
        if (width <= 4e-16 * fmax(fabs(a.t), fabs(b.t)) || a.g == 0) break;
        double t = i % 4 == 3 ? a.t + width / 2 : a.t + width * ga / (ga - gb);
        if (!(t > a.t && t < b.t)) t = a.t + width / 2;
        if (!(t > a.t && t < b.t)) break;
        exact_sample m;
        if (!exact_probe_between(x, item, f, &a, &b, t, &m)) {
            *root = a;
            return is_smooth_gap(x, item, f);
        }
        if (m.g > 0) {
            a = m, ga = m.g;
            if (side == 1) gb /= 2;
            side = 1;
        } else {
            b = m, gb = m.g;
            if (side == -1) ga /= 2;
            side = -1;
        }
        if (fabs(m.g) < 1e-15 * x->model->size && width < x->model->tolerance.event) break;
    }
    *root = b.g == 0 || fabs(b.g) < a.g ? b : a;
    return true;
}

/* The latest time at which it still does not hold, to a tenth of the event tolerance. */
double exact_bisect(exact *x, int64_t item, exact_holds *f, double t0, double t1) {
    double width = 0.1 * x->model->tolerance.event;
    for (int i = 0; i < 64 && t1 - t0 > width; i++) {
        double t = t0 + (t1 - t0) / 2;
        if (f(x, item, t))
            t1 = t;
        else
            t0 = t;
    }
    return t1;
}

void exact_consider(exact_event *best, exact_event_kind kind, int64_t item, double time) {
    bool tie = time == best->time && kind == best->kind && item < best->item;
    if (time < best->time || tie) *best = (exact_event){kind, item, time};
}
