/* The blocks of data that the page reads (viewer/PROTOCOL.md), made from a recording: what `abut view` serves
 * and `abut export --to html` puts into the page. */
#ifndef CLI_VIEW_BLOCKS_H
#define CLI_VIEW_BLOCKS_H

#include "cli.h"
#include "replay.h"

/* Bytes that grow; after a failed allocation nothing more is added and `failed` is set. */
typedef struct view_bytes {
    char *data;
    size_t size, capacity;
    bool failed;
} view_bytes;
void view_put(view_bytes *bytes, const void *data, size_t size);
void view_put_f64(view_bytes *bytes, double number);
void view_put_u32(view_bytes *bytes, uint32_t number);
void view_put_vec3(view_bytes *bytes, abut_vec3 v);
void view_bytes_free(view_bytes *bytes);

/* How motions and contacts are written: full precision for few bodies, less for many. */
typedef struct view_layout {
    int scalar;  /* bytes a number: 4 or 8 */
    int numbers; /* numbers a body: 13 or 19 */
} view_layout;
view_layout view_layout_of(const abut_recording *recording);

/* head.json; the caller frees it.  NULL: see the error. */
json_t *view_head(abut_recording *recording, view_layout layout, abut_error *error);
abut_status view_geometry(abut_recording *recording, view_bytes *out, abut_error *error);
abut_status view_series(abut_recording *recording, view_bytes *out, abut_error *error);
/* Events from .. from + count - 1, as far as there are any. */
abut_status view_event_rows(abut_recording *recording, int64_t from, int64_t count, view_bytes *out,
                            abut_error *error);
/* Of the events from, from + stride, ..., at most `count`: the largest impulse, all times, all kinds. */
abut_status view_marks(abut_recording *recording, int64_t from, int64_t stride, int64_t count,
                       view_bytes *out, abut_error *error);
/* Frames from .. from + count - 1, as far as there are any. */
abut_status view_frames(abut_recording *recording, view_layout layout, int64_t from, int64_t count,
                        view_bytes *out, abut_error *error);
/* Every stride-th of them: from, from + stride, ... */
abut_status view_frames_apart(abut_recording *recording, view_layout layout, int64_t from, int64_t count,
                              int64_t stride, view_bytes *out, abut_error *error);
abut_status view_contacts(abut_recording *recording, view_layout layout, int64_t from, int64_t count,
                          view_bytes *out, abut_error *error);
/* Motions at any time, from the dense output. */
abut_status view_state(abut_recording *recording, view_layout layout, double time, view_bytes *out,
                       abut_error *error);
/* Contacts at any time, computed again by a replay that the caller keeps; where it has no limit of work it is
 * given two seconds (ABUT_CANCELLED). */
abut_status view_moment(abut_recording *recording, replay *again, view_layout layout, double time,
                        view_bytes *out, abut_error *error);
abut_status view_track(abut_recording *recording, int body, int64_t stride, view_bytes *out,
                       abut_error *error);
/* The index of a solid, cut across axis 0..2 at a fraction of its box.  The solid and its index are kept: the
 * next slice is most likely of the same. */
typedef struct view_index {
    abut_solid *solid;
    abut_index *index; /* NULL: none is kept */
    int geometry;
} view_index;
abut_status view_slice(abut_recording *recording, view_index *kept, int geometry, int axis, double at,
                       json_t **out, abut_error *error);
void view_index_free(view_index *kept);

/* Solids that were built, by the number of their geometry: the next touch is most likely of the same. */
typedef struct view_solids {
    struct {
        abut_solid *solid;
        abut_touch_solid *ready; /* NULL: not needed so far */
    } * kept;
    int count;
} view_solids;
void view_solids_free(view_solids *solids);
/* Where two bodies touch at a time, as contacts of frame -2 without forces; nothing for smooth shapes. */
abut_status view_touch(abut_recording *recording, view_solids *solids, view_layout layout, double time, int a,
                       int b, view_bytes *out, abut_error *error);
/* A recorded solid, built again. */
abut_status view_build_solid(const abut_recorded_geometry *geometry, abut_solid **solid, abut_error *error);

/* Parts of these, for runs that are not recorded. */
void view_put_series(view_bytes *out, double time, const abut_energy *energy, double deepest_overlap);
void view_put_event(view_bytes *out, const abut_event *event);
void view_put_scalar(view_bytes *out, view_layout layout, double number);
void view_put_motion(view_bytes *out, view_layout layout, const abut_motion *motion);
void view_put_contact(view_bytes *out, view_layout layout, int64_t frame, const abut_contact *contact);

double view_clock(void); /* seconds */

#endif
