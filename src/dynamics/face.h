/* Faces that press over their area (material option pressure = "uniform"): friction of a rigid slip.
 *
 * The places of a face carry normal forces N_i; together they are the load L = sum N_i (1, x_i, y_i) of the
 * face, all that matters of them.  Its pressure p is that of dynamics/pressure.h, and friction
 *
 *     slips    T = -mu_slide integral p u/|u|    with its torque: three numbers, linear in L for a given slip
 *     sticks   the motion in the plane is zero: three unknowns T, inside the limit surface (Goyal, Ruina and
 *              Papadopoulos 1991): T . q <= H(q) = mu_stick integral p |u_q|  for all twists q
 *
 * Motions are unique however many places the face has.  For translation this is Coulomb's law at the
 * vertices; a face that slides and spins comes to rest in both at the same time.
 *
 * Only forces: impulses act at the vertices. */
#ifndef DYNAMICS_FACE_H
#define DYNAMICS_FACE_H

#include "dynamics/forces.h"
#include "dynamics/system.h"

/* The laws of all faces and the unknowns of those that stick.  False when memory is out. */
bool face_make_laws(group_system *s, double slip_speed, arena *scratch);
/* Columns of the normals at slipping faces. */
void face_add_to_columns(group_system *s);

/* Whether the solution presses another part of a slipping face than its law was made for; the face remembers
 * it, and the system is to be made again.  *memory is false when memory is out. */
bool face_pressed_changed(const group_system *s, const double *z, arena *scratch, bool *memory);

/* Friction and margin of the places of faces: forces with the wrench of the face.  `margins`: also those of
 * sticking faces. False when memory is out. */
bool face_read_loads(const group_system *s, const double *z, bool margins, arena *scratch,
                     contact_load *loads);

/* The twist of a face, (v_x, v_y, w size) of A against B, and its rate for these accelerations. */
void face_twist(const group *g, const group_face *f, double slip[3]);
void face_twist_rate(const group *g, const group_face *f, const spatial *accelerations, double rate[3]);
/* The coordinates (1, x, y) of a place. */
void face_coordinates(const group_face *f, vec3 at, double x[3]);
void face_set_mode(group *g, int face, friction_mode mode, const double along[3]);

/* How much of the limit surface the wrench needs for the load: 1 is the onset of slip, in the twist q (read
 * as a first guess, written). */
bool face_use(const group_face *f, const double load[3], const double wrench[3], arena *scratch, double q[3],
              double *use);

/* forces_choose for groups with faces: `choose` is the choice of all other modes. */
typedef abut_status face_inner(group *g, const forces_config *config, const group_scratch *scratch,
                               spatial *accelerations, contact_load *loads, double *multipliers,
                               forces_result *result, abut_error *error);
abut_status face_choose(group *g, const forces_config *config, const group_scratch *scratch,
                        face_inner *choose, spatial *accelerations, contact_load *loads, double *multipliers,
                        forces_result *result, abut_error *error);

#endif
