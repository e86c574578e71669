/* Pulling a body by a spring: forces that a model gives to its bodies while somebody holds one of them. */
#ifndef CLI_VIEW_PULL_H
#define CLI_VIEW_PULL_H

#include "cli.h"

/* The spring: from a point of a body (body axes, from the centre of mass) to a place in the world. */
typedef struct view_grip {
    int body; /* -1: nothing is pulled */
    abut_vec3 at, to;
    double stiffness; /* factor on what is natural for the mass */
} view_grip;

typedef struct view_pull view_pull;

/* The same world with a force and a torque on every body that can move, both zero until view_pull_aim. */
view_pull *view_pull_create(const abut_world_def *world, abut_error *error);
const abut_model *view_pull_model(const view_pull *pull);
void view_pull_free(view_pull *pull);
/* The force of the next frame, from where the body is now; constant over the frame. */
void view_pull_aim(view_pull *pull, const abut_sim *run, const view_grip *grip);

#endif
