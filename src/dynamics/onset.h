/* The beginning of slip, for sim/exact_onset.c and dynamics/reduced_onset.c.
 *
 * Where a sticking point begins to slip, its slip u and its acceleration u' are zero: u grows with the square
 * of time.  Friction turns u towards the direction d* in which u' alone would grow,
 *
 *     |u| theta' = -k (theta - theta*),     k = mu N m,     m the mobility of the point across u,
 *
 * within |u| / k: for an explicit method that is stiff, and where u begins, without end.  While a point that
 * began to slip is slower than `slow`, its friction therefore opposes the slip that it will have after
 * `look`:
 *
 *     d = w / |w|,     w = u + look u'(d)
 *
 * which is an equation for d, as the forces hang on it, and turns u within |u| / k + look.  Inserted: d lags
 * behind d* by |u| / k theta*', for every look, as it does without it; the rest is of second order, and the
 * slip is off by slow look theta*' at most.  With T = sqrt(L / k), the time in which friction would move the
 * body by its size L,
 *
 *     slow = 1e-5 k T,   look = 1e-4 T:     slow look theta*' = 1e-9 L theta*',
 *
 * 1e-9 of the speed at which a body that turns like d* moves: the integrator's own tolerance.  The factors
 * share it so that neither the steps before u = slow (of some look) nor those after it (of some slow / k) are
 * many. */
#ifndef DYNAMICS_ONSET_H
#define DYNAMICS_ONSET_H

#define ONSET_SLOW 1e-5
#define ONSET_LOOK 1e-4
/* A slide that begins has next to no u' across it, and against it no more than this part of k; otherwise
 * steps of |u| / k are few. */
#define ONSET_SLACK 0.1
/* The direction is found to this angle: far less than what the integrator's tolerance allows k h to err, */
#define ONSET_ANGLE 1e-9
/* in so many rounds at most. */
enum { ONSET_ROUNDS = 16 };

/* How far ahead the slip is looked at: less as it comes to be fast, without a jump in the rate. */
static inline double onset_look(double look, double slow, double speed) {
    double rest = slow > 0 ? 1 - speed / slow : 0;
    return rest > 0 ? look * rest * rest : 0;
}

#endif
