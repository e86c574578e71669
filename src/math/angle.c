/* The inverse tangent by reduction and series.
 *
 * For 0 <= t <= 1 take the nearest k/8 =: c:
 *     atan t = atan c + atan z,   z = (t - c) / (1 + t c),   |z| <= 1/16
 * and the alternating series of atan z up to z^15, whose rest is below 16^-17 / 17. */
#include "math/angle.h"

static const double atan_of_eighths[9] = {0,
                                          0.12435499454676144,
                                          0.24497866312686414,
                                          0.35877067027057225,
                                          0.4636476090008061,
                                          0.5585993153435624,
                                          0.6435011087932844,
                                          0.7188299996216245,
                                          0.7853981633974483};

static double atan_unit(double t) {
    int k = (int)(8 * t + 0.5);
    double c = k / 8.0, z = (t - c) / (1 + t * c), q = z * z;
    double tail = -1.0 / 15;
    for (int n = 13; n >= 3; n -= 2) tail = ((n / 2) % 2 ? -1.0 : 1.0) / n + q * tail;
    return atan_of_eighths[k] + (z + z * q * tail);
}

double angle_atan2(double y, double x) {
    double ax = fabs(x), ay = fabs(y);
    if (!(ax > 0) && !(ay > 0)) return 0;
    double angle = ay <= ax ? atan_unit(ay / ax) : ANGLE_PI / 2 - atan_unit(ax / ay);
    if (x < 0) angle = ANGLE_PI - angle;
    return y < 0 ? -angle : angle;
}

double angle_unwrap(double angle, double last) {
    const double turn = 2 * ANGLE_PI;
    return angle + turn * floor((last - angle) / turn + 0.5);
}
