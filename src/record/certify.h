/* What the parts of the certificate share. */
#ifndef RECORD_CERTIFY_H
#define RECORD_CERTIFY_H

#include "record/overlap.h"
#include "record/recording.h"

typedef struct ball {
    vec3 center;
    double radius; /* INFINITY: a half-space, a cavity */
} ball;

typedef struct certifier {
    const abut_context *context;
    abut_recording *recording;
    abut_scene *scene;
    abut_model *model;
    const abut_world_def *world;
    overlap_shape *shapes;
    abut_index **indexes;
    abut_motion *motions, *first; /* of the frame that is looked at, and of frame 0 */
    double *breaks;               /* the time at which a hinge broke; INFINITY: never */
    ball *balls;                  /* around the bodies, in the frame that is looked at */
    double epsilon;
    abut_certificate *out;
    double slack; /* that an impact may gain */
} certifier;

static inline bool certify_moves(const certifier *c, int body) {
    return !c->world->bodies[body].fixed && !c->world->bodies[body].kinematic;
}

/* How far the hinges that are not broken stand open in this frame. */
void certify_hinges(certifier *c, double time);
/* Whether the dense output hangs together, and changes velocities by the recorded impulses only. */
abut_status certify_paths(certifier *c, abut_error *error);

#endif
