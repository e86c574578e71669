/* The one contact type.  However contact was found (regions of polyhedra, manifolds of convex shapes, closest
 * points of smooth ones), a contact is a list of points, and a point is a function of the two bodies'
 * motions:
 *
 *     at, at_rate          where the bodies touch, and how fast that place moves (it is not a material point)
 *     normal, normal_rate  unit, from B to A, and its time derivative
 *     gap                  signed distance along the normal
 *
 * From these follow all rows.  With r_A = at - c_A, u = v_A(at) - v_B(at) the relative velocity of the
 * material points:
 *
 *     gap'  = n . u
 *     u'    = [a_A + alpha_A x r_A] - [a_B + alpha_B x r_B] + w_A x (at' - v_A) - w_B x (at' - v_B)
 *     gap'' = n . u' + n' . u                                        (Baraff 1989, appendix A, for every kind
 * of feature)
 *
 * The square brackets are linear in the unknown accelerations: J a.  The rest is the drift, known from the
 * state. */
#ifndef CONTACT_CONTACT_H
#define CONTACT_CONTACT_H

#include "math/motion.h"

typedef struct contact_point {
    vec3 at, at_rate;
    vec3 normal, normal_rate;
    double gap;
} contact_point;

/* u: velocity of A's material point relative to B's, at the contact. */
static inline vec3 contact_slip(const contact_point *p, const motion *a, const motion *b) {
    return vec3_sub(motion_velocity_at(a, p->at), motion_velocity_at(b, p->at));
}

/* The part of u' that does not depend on accelerations: w_A x (at' - v_A) - w_B x (at' - v_B). */
static inline vec3 contact_slip_drift(const contact_point *p, const motion *a, const motion *b) {
    vec3 da = vec3_cross(a->velocity.angular, vec3_sub(p->at_rate, a->velocity.linear));
    vec3 db = vec3_cross(b->velocity.angular, vec3_sub(p->at_rate, b->velocity.linear));
    return vec3_sub(da, db);
}

/* The part of gap'' that does not depend on accelerations. */
static inline double contact_gap_drift(const contact_point *p, const motion *a, const motion *b) {
    return vec3_dot(p->normal, contact_slip_drift(p, a, b)) + vec3_dot(p->normal_rate, contact_slip(p, a, b));
}

#endif
