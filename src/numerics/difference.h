/* Derivatives of a function of time by differences of its values.
 *
 * Seven samples at the distance h, of which the `at`-th is the place (3: the middle; less where the function
 * begins): the derivatives of the polynomial of degree six through them.  In the middle they are off by
 * h^6 f^(7) / 140 (five samples have the speed of a table that shakes ten times a second wrong by 5e-7 of it,
 * seven by 4e-10). */
#ifndef NUMERICS_DIFFERENCE_H
#define NUMERICS_DIFFERENCE_H

enum { DIFFERENCE_SAMPLES = 7 };

/* Which sample is at the time, of a function that begins at 0. */
static inline int difference_at(double time, double h) {
    return time >= 3 * h ? 3 : time >= 2 * h ? 2 : time >= h ? 1 : 0;
}

/* Samples lie `stride` numbers apart. */
static inline double difference_first(const double *f, int stride, int at, double h) {
    static const double weights[4][DIFFERENCE_SAMPLES] = {{-147, 360, -450, 400, -225, 72, -10},
                                                          {-10, -77, 150, -100, 50, -15, 2},
                                                          {2, -24, -35, 80, -30, 8, -1},
                                                          {-1, 9, -45, 0, 45, -9, 1}};
    double sum = 0;
    for (int i = 0; i < DIFFERENCE_SAMPLES; i++) sum += weights[at][i] * f[i * stride];
    return sum / (60 * h);
}

static inline double difference_second(const double *f, int stride, int at, double h) {
    static const double weights[4][DIFFERENCE_SAMPLES] = {{812, -3132, 5265, -5080, 2970, -972, 137},
                                                          {137, -147, -255, 470, -285, 93, -13},
                                                          {-13, 228, -420, 200, 15, -12, 2},
                                                          {2, -27, 270, -490, 270, -27, 2}};
    double sum = 0;
    for (int i = 0; i < DIFFERENCE_SAMPLES; i++) sum += weights[at][i] * f[i * stride];
    return sum / (180 * h * h);
}

#endif
