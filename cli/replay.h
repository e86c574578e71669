/* Contacts and motions of a recording at any time, computed again: the recorded scene goes from a snapshot to
 * there.
 *
 *     snapshot ---- frame ---- frame ---- frame ---- frame ----
 *         `-- along, whole frames only --'
 *                                     `-- ahead --> the instant
 *
 * What goes along ends at whole frames, as the recorded run did, so it is that run bit for bit, and the next
 * instant is reached from where it stands.  A copy of it goes ahead to the instant. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "cli.h"

typedef struct replay {
    /* Ends what takes too long: both are set by the caller. */
    double deadline;   /* of view_clock; 0: none */
    int64_t work_most; /* steps of bodies; 0: any */

    int64_t work; /* done so far */
    abut_scene *scene;
    abut_model *model;
    abut_sim *along, *ahead;
    void *block; /* a snapshot on its way from one to the other */
    size_t block_size;
} replay;

/* The live clock knows forces and accelerations by its steps, of which there is none before time 0: there
 * those of a short first one are given. */
bool replay_is_before_steps(abut_recording *recording, double time);

/* How many contacts there are at a time, in any order of times; the list lives until the next call.  -1: see
 * the error; ABUT_CANCELLED where it took too long. */
int replay_contacts(replay *r, abut_recording *recording, double time, const abut_contact **contacts,
                    abut_error *error);
/* The motion of a body at a time between frames, as the clock of the recording comes there; left as it is
 * where that is too near behind a frame for a step. */
abut_status replay_motion(replay *r, abut_recording *recording, int body, double time, abut_motion *motion,
                          abut_error *error);
void replay_free(replay *r);

#endif
