/* Contact kinematics of two smooth patches (Kry 2000, section 4.2 and appendix A, corrected), as pure
 * functions.
 *
 * Bodies 1 and 2 touch at c(s, t) of a patch of body 1 and d(u, v) of a patch of body 2.  Each patch has a
 * contact frame, its columns in its body's axes (4.5) x = c_s / |c_s|,   z = c_s x c_t / |...|  (outward), y
 * = z x x, and the frames, whose normals are opposite, are aligned by R_psi = [[cos, -sin, 0], [-sin, -cos,
 * 0], [0, 0, -1]]        (4.7, restored; its own inverse) The contact coordinates are q = (s, t, u, v, psi).
 * Body 1 seen from body 2: x_2 = R_2c R_psi R_1c^T (x_1 - c) + d                        (4.9) The relative
 * twist phi(2,1), of body 1 against body 2, in axes of frame 1c and of the material point of body 1 at the
 * contact, is H q': angular = -omega_1 (s', t') + R_psi omega_2 (u', v') + e_z psi' linear  = -v_1 (s', t') +
 * R_psi v_2 (u', v'),    third component zero which is minus A.10 as printed (A.10 is phi(1,2); ERRATA).
 * Nothing here knows which body is fixed: with the twist of body 2 given, that of body 1 follows, or the
 * other way round. */
#ifndef CONTACT_ROLLING_KINEMATICS_H
#define CONTACT_ROLLING_KINEMATICS_H

#include "abut/surface.h"
#include "math/vec.h"

/* One body's half: the contact frame, H_1 of A.7 by columns (s, t), and its derivatives by s and t. */
typedef struct rolling_half {
    vec3 point;
    mat3 frame;          /* columns x, y, z in body axes */
    vec3 omega[2], v[2]; /* twist of the contact frame in the body, per s' and t', in axes of the frame */
    vec3 omega_by[2][2], v_by[2][2]; /* [column][derivative by s, t] */
} rolling_half;

/* False where the patch is not regular (c_s x c_t = 0).  `partials` to third order; with only second order
 * the derivatives *_by are wrong. */
bool rolling_half_at(const abut_partials *partials, rolling_half *half);

/* Without the derivatives *_by; second order is enough. */
bool rolling_half_without_rates(const abut_partials *partials, rolling_half *half);

/* cos and sin of psi; the caller keeps the angle. */
typedef struct rolling_turn {
    double c, s;
} rolling_turn;

/* R_psi a */
static inline vec3 rolling_align(rolling_turn psi, vec3 a) {
    return (vec3){psi.c * a.x - psi.s * a.y, -psi.s * a.x - psi.c * a.y, -a.z};
}

/* Body 1 in the axes of body 2 (both about their origins): x_2 = rotation x_1 + position. */
void rolling_pose(const rolling_half *one, const rolling_half *two, rolling_turn psi, mat3 *rotation,
                  vec3 *position);

/* H (4.13 in axes of frame 1c) by columns of q; rows angular x, y, z, linear x, y, z.  linear z is zero. */
typedef struct rolling_matrix {
    double at[6][5];
} rolling_matrix;
void rolling_h(const rolling_half *one, const rolling_half *two, rolling_turn psi, rolling_matrix *h);
/* dH/dt for the rates q' (A.11, corrected: the second adjoint is that of 1c from 2c), still in axes of 1c. */
void rolling_h_rate(const rolling_half *one, const rolling_half *two, rolling_turn psi, const double rates[5],
                    rolling_matrix *h_rate);

/* The same two in axes of body 1, with the linear part at body 1's origin: 1H = Ad 1cH, and
 * d/dt 1H = Ad (d/dt 1cH + [phi(1,1c)] 1cH), [phi] = [[omega], 0; [v], [omega]]. */
void rolling_in_body(const rolling_half *one, const double rates[5], const rolling_matrix *h,
                     const rolling_matrix *h_rate, rolling_matrix *body_h, rolling_matrix *body_h_rate);

/* H q' */
void rolling_twist(const rolling_matrix *h, const double rates[5], vec3 *angular, vec3 *linear);

/* q' for a relative twist in axes of 1c (linear z must be 0): Montana's equations.  curvature gets the two
 * eigenvalues of the relative curvature of the surfaces (1/m, the smaller size first); when the smaller one
 * vanishes the surfaces conform and q' does not follow: false. */
bool rolling_rates(const rolling_half *one, const rolling_half *two, rolling_turn psi, vec3 angular,
                   vec3 linear, double rates[5], double curvature[2]);

/* Changing the patch of a body at the same place (4.53): psi grows by the angle from the old x axis to the
 * new one, for body 1 and for body 2 alike.  Returned as cos and sin. */
rolling_turn rolling_turn_of_patch(const rolling_half *old_half, const rolling_half *new_half);

#endif
