/* abut/record.h: recordings (SQLite): written while a run goes on, read back by any program that speaks SQL.
 *
 *     abut_recorder *recorder = NULL;
 *     abut_sim *sim = NULL;
 *     abut_error error = {0};
 *     abut_recorder_create(NULL, "stack.abut", scene, model, NULL, &recorder, &error);
 *     abut_sim_options options = abut_recorder_options(recorder);
 *     abut_sim_create(NULL, model, &options, &sim, &error);
 *     abut_recorder_frame(recorder, sim, &error); // frame 0, then one after each abut_sim_advance
 *     abut_recorder_finish(recorder, sim, "completed", 0.1, &error);
 *
 * Rows are written in transactions a fraction of a second long, so a kill at any moment loses at most that.
 * docs/recording.md has the tables.
 */
#ifndef ABUT_RECORD_H
#define ABUT_RECORD_H

#include "abut/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_recorder abut_recorder;
typedef struct abut_recording abut_recording;

typedef struct abut_recorder_def {
    double snapshot_interval; /* simulated seconds between snapshots; 0: 1 */
    double commit_interval;   /* wall seconds between transactions; 0: 0.2 */
    const char *const *set;   /* the --set words of the scene, kept so that the scene can be loaded again */
    uint64_t seed;
    double duration; /* planned, seconds */
} abut_recorder_def;

/* Makes a new file (an old one is replaced) with the scene's text, its bodies and their geometry. */
ABUT_API abut_status abut_recorder_create(const abut_context *context, const char *path,
                                          const abut_scene *scene, const abut_model *model,
                                          const abut_recorder_def *def, abut_recorder **recorder,
                                          abut_error *error);
/* Opens an existing recording to append to it from its last snapshot at a whole frame (see
 * abut_recording_resume_time): everything behind that snapshot is removed. */
ABUT_API abut_status abut_recorder_resume(const abut_context *context, const char *path,
                                          abut_recorder **recorder, abut_error *error);
/* Another planned duration than that of the recording so far: what a later resume goes on to. */
ABUT_API abut_status abut_recorder_plan(abut_recorder *recorder, double duration, abut_error *error);
ABUT_API void abut_recorder_free(abut_recorder *recorder);
/* Hooks that record events and dense output. */
ABUT_API abut_sim_options abut_recorder_options(abut_recorder *recorder);
/* A function that sees each event after it was recorded; false ends the run. */
ABUT_API void abut_recorder_watch(abut_recorder *recorder, bool (*event)(void *user, const abut_event *event),
                                  void *user);
/* State, energy and contacts of the run at its present time, and now and then a snapshot. */
ABUT_API abut_status abut_recorder_frame(abut_recorder *recorder, abut_sim *run, abut_error *error);
/* Writes what is left, the audit, and how the run ended ("completed", "stopped"). */
ABUT_API abut_status abut_recorder_finish(abut_recorder *recorder, const abut_sim *run, const char *status,
                                          double wall_seconds, abut_error *error);

/* ---- reading */

ABUT_API abut_status abut_recording_open(const abut_context *context, const char *path,
                                         abut_recording **recording, abut_error *error);
ABUT_API void abut_recording_close(abut_recording *recording);
ABUT_API int abut_recording_bodies(const abut_recording *recording);
ABUT_API const char *abut_recording_body_name(const abut_recording *recording, int body);
ABUT_API int abut_recording_find_body(const abut_recording *recording, const char *name); /* -1: none */
ABUT_API int64_t abut_recording_frames(const abut_recording *recording);
ABUT_API double abut_recording_end(const abut_recording *recording); /* time of the last frame */
/* A value of the table `meta`; NULL when missing.  Lives until the recording is closed. */
ABUT_API const char *abut_recording_meta(abut_recording *recording, const char *key);

/* A body as it was when the recording began. */
typedef struct abut_recorded_body {
    const char *name;
    char shape[16]; /* word */
    double mass;    /* infinite: fixed or kinematic */
    bool fixed;
    abut_vec3 center; /* of mass, in shape axes: where the motions are */
    float color[4];
    int geometry;
} abut_recorded_body;
ABUT_API abut_status abut_recording_body(abut_recording *recording, int body, abut_recorded_body *out,
                                         abut_error *error);

/* A shape as it is drawn, in shape axes: the numbers of an analytic shape (radius, length, half axes, normal,
 * offset), or triangles and edges of a solid or a smooth surface (whose edges are the borders of its
 * patches).  Memory is kept until the recording is closed. */
typedef struct abut_recorded_geometry {
    char kind[16];
    double size[9];
    int64_t point_count, triangle_count, edge_count;
    const abut_vec3 *points, *normals; /* normals NULL: flat triangles */
    const int32_t *triangles, *edges;  /* three, two numbers of points each */
    int64_t patch_count;               /* of a surface whose patches are all bicubic; otherwise 0 */
    const double *patches; /* 16 points each, weighted: x w, y w, z w, w; first parameter fastest */
} abut_recorded_geometry;
ABUT_API abut_status abut_recording_geometry(abut_recording *recording, int geometry,
                                             abut_recorded_geometry *out, abut_error *error);

typedef struct abut_frame {
    double time;
    abut_energy energy;
    double deepest_overlap;
} abut_frame;
ABUT_API abut_status abut_recording_frame(abut_recording *recording, int64_t frame, abut_frame *out,
                                          abut_error *error);
ABUT_API abut_status abut_recording_frame_motion(abut_recording *recording, int64_t frame, int body,
                                                 abut_motion *motion, abut_error *error);
/* The motions of all bodies at a frame. */
ABUT_API abut_status abut_recording_motions(abut_recording *recording, int64_t frame, abut_motion *motions,
                                            abut_error *error);
/* From the dense output; at an impact the state just after it.  The live clock has none: on straight lines
 * between two frames. */
ABUT_API abut_status abut_recording_motion(abut_recording *recording, int body, double time,
                                           abut_motion *motion, abut_error *error);
/* Events in order; `visit` returns false to end.  They are numbered from 0: `from` is the first one. */
ABUT_API abut_status abut_recording_events(abut_recording *recording,
                                           bool (*visit)(void *user, const abut_event *event), void *user,
                                           abut_error *error);
ABUT_API abut_status abut_recording_events_from(abut_recording *recording, int64_t from,
                                                bool (*visit)(void *user, const abut_event *event),
                                                void *user, abut_error *error);
/* What a timeline draws of the events from, from + stride, ..., at most `count` of them: much less than whole
 * events, of which a long run has millions.  How many there are; -1: see the error. */
typedef struct abut_mark {
    double time, impulse; /* its size */
    abut_event_kind kind;
} abut_mark;
ABUT_API int64_t abut_recording_marks(abut_recording *recording, int64_t from, int64_t stride, int64_t count,
                                      abut_mark *marks, abut_error *error);
ABUT_API int64_t abut_recording_event_count(const abut_recording *recording);
/* Contacts at a frame; the array lives until the next call on this recording.  -1: see the error. */
ABUT_API int abut_recording_contacts(abut_recording *recording, int64_t frame, const abut_contact **contacts,
                                     abut_error *error);
/* The frame whose time is within 1e-9 s of `time`; -1: none. */
ABUT_API int64_t abut_recording_find_frame(abut_recording *recording, double time);
/* The last snapshot at or before a time; the block lives until the next call of this function. */
ABUT_API abut_status abut_recording_snapshot(abut_recording *recording, double time, const void **block,
                                             size_t *size, double *at, abut_error *error);
/* The time of the snapshot from which the recording goes on: the last one, but where the run ended within a
 * frame the last before that, so that it becomes the run that had not ended there. */
ABUT_API double abut_recording_resume_time(abut_recording *recording);
/* Tells the scene's functions what they were told up to the last snapshot at or before a time (events, and
 * the times of every()), so that what they keep is as it was then. */
ABUT_API abut_status abut_recording_retell(abut_recording *recording, double until, abut_scene *scene,
                                           const abut_model *model, abut_error *error);
/* Loads the scene of the recording again, with the same parameters. */
ABUT_API abut_status abut_recording_scene(const abut_context *context, abut_recording *recording,
                                          abut_scene **scene, abut_error *error);

/* ---- certifying */

/* What an independent look at the recorded states finds: overlap by classification in the B-rep index and by
 * closed forms (not by the feature pairs that the clock uses), energies and momenta summed anew from the
 * states, impulses added anew from the events against the jumps of velocities in the dense output (of bodies
 * without hinges, whose impulses are not recorded; the live clock has no dense output), and the hinges by the
 * points and directions of the scene. */
typedef struct abut_certificate {
    bool kept;
    int64_t frames, pairs;  /* looked at */
    double deepest_overlap; /* metres; 0: none deeper than epsilon was found */
    double overlap_limit; /* what the clock of the run promises: epsilon, or more where it was the live one */
    double overlap_time;
    char overlap_bodies[2][128];
    double energy_error, momentum_error; /* relative: recorded against summed anew; balance over the run */
    double energy_time;
    int64_t impacts, impacts_that_gain; /* impacts whose energy rose without a kinematic body */
    double impulse_error; /* m/s: the largest jump of a velocity that the recorded impulses do not explain */
    double impulse_limit; /* some speeds of rest: contacts that are held are closed without an event */
    double impulse_time;
    char impulse_body[128];
    double path_error; /* metres: the largest jump of a place in the dense output, or from it to a frame */
    double path_time;
    char path_body[128];
    double hinge_error, hinge_limit; /* metres that a hinge stands open in a frame, and what is promised */
    double hinge_time;
    int hinge;        /* entry of the world's hinges */
    char broken[512]; /* the first broken promise, in words */
} abut_certificate;
ABUT_API abut_status abut_recording_certify(const abut_context *context, abut_recording *recording,
                                            abut_certificate *certificate, abut_error *error);

#ifdef __cplusplus
}
#endif
#endif
