/* Angles without libm: the same bits on every machine. */
#ifndef MATH_ANGLE_H
#define MATH_ANGLE_H

#include "math/vec.h"

#define ANGLE_PI 3.14159265358979323846

/* The angle of (x, y) in (-pi, pi], to 2 ulp; 0 for the zero vector. */
double angle_atan2(double y, double x);
/* The angle that differs from `angle` by full turns and is nearest to `last`. */
double angle_unwrap(double angle, double last);

#endif
