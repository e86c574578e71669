/* Contacts of a recording at any time, computed again: the recorded scene goes from a snapshot to there.
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

/* How many contacts there are at a time, in any order of times; the list lives until the next call.  -1: see
 * the error; ABUT_CANCELLED where it took too long. */
int replay_contacts(replay *r, abut_recording *recording, double time, const abut_contact **contacts,
                    abut_error *error);
void replay_free(replay *r);

#endif
