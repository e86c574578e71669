/* What all exports draw from a recording: bodies with their triangles and colours, the chosen frames, the
 * motion of a body over all of them, the marks of contacts (areas, lines, points, arrows of forces), camera
 * and lights.
 *
 *     frames in the recording      0   1   2   3   4   5 ...        one blob each: all bodies at an instant
 *     track of body 1              p0  p1  p2  p3  p4  p5 ...       what an animation wants: one body at all
 * instants
 *
 * Turning rows into columns needs all frames at once; so bodies are taken in blocks that fit into a bounded
 * memory, and the recording is read once for each block. */
#ifndef RECORD_EXPORT_SCENE_H
#define RECORD_EXPORT_SCENE_H

#include "record/export_out.h"
#include "record/tessellate.h"

/* A geometry of the recording, ready to draw. */
typedef struct export_shape {
    abut_shape_kind kind;
    abut_shape analytic; /* numbers of an analytic shape */
    tessellation drawn;  /* with normals: solids have three points of their own a triangle */
    box bounds;
    double radius; /* of the ball about the shape's origin; infinite for half-spaces and cavities */
    abut_recorded_geometry recorded;
} export_shape;

typedef struct export_body {
    const char *name;
    int shape;
    bool fixed, moves; /* moves: some frame has it elsewhere than the first */
    vec3 center;       /* of mass, shape axes */
    double color[4];
    pose start; /* of the shape's origin, at the first frame */
} export_body;

/* ---- marks: unit meshes that are placed, turned and stretched */

/* X(constant, word, r, g, b) */
#define MARK_LIST(X)                    \
    X(AREA, "area", 0.10, 0.45, 0.90)   \
    X(LINE, "line", 0.95, 0.60, 0.05)   \
    X(POINT, "point", 0.85, 0.10, 0.55) \
    X(FORCE, "force", 0.80, 0.15, 0.10)
typedef enum mark_kind {
#define MARK_CONSTANT(name, word, r, g, b) MARK_##name,
    MARK_LIST(MARK_CONSTANT)
#undef MARK_CONSTANT
        MARK_KINDS
} mark_kind;
const char *mark_name(mark_kind kind);
vec3 mark_color(mark_kind kind);

/* AREA   the right triangle (0,0,0) (1,0,0) (0,1,0)
 * LINE   a thin bar from the origin to (0,0,1)
 * POINT  a ball of radius 1
 * FORCE  an arrow from the origin to (0,0,1) */
typedef struct export_mark {
    pose at;
    vec3 scale; /* zero: hidden */
} export_mark;
abut_status mark_mesh(const abut_context *context, mark_kind kind, tessellation *t, abut_error *error);

/* A place for a mark: the `number`-th of its kind between two bodies. */
typedef struct export_slot {
    int body[2];
    mark_kind kind;
    int number;
    int64_t keys;      /* frames at which it changes */
    export_mark first; /* at the first of them, which is frame 0 */
    int64_t last;      /* frame of the last of them */
    export_mark shown; /* while walking: as of the present frame */
    int64_t seen;      /* the last frame that had it */
} export_slot;

/* All marks of one kind between two bodies. */
typedef struct export_group {
    int64_t frame; /* that `used` is about */
    int used;
} export_group;

typedef struct export_key {
    int64_t frame; /* entry of scene->times */
    export_mark mark;
} export_key;

/* ---- the scene */

typedef struct export_scene {
    const abut_context *context;
    abut_recording *recording;
    const char *title;
    export_body *bodies;
    int body_count;
    export_shape *shapes;
    int shape_count;

    int64_t *frames; /* numbers in the recording */
    double *times;
    int64_t frame_count;
    double rate;          /* frames a second */
    abut_motion *motions; /* of the present frame, one a body */

    box bounds;  /* of all bodies of finite size, at the first frame */
    box swept;   /* of their centres over all frames */
    double size; /* mean radius of the bodies that move: marks are drawn to it */
    double largest_force, metres_per_newton;
    abut_camera camera; /* given, or one that sees everything */
    abut_light *lights;
    int light_count, light_used; /* allocated, and how many there are */

    bool without_contacts;
    ARRAY(export_slot) slots;
    ARRAY(export_group) groups;
    map64 slot_of, group_of;
    ARRAY(int32_t) visible; /* slots, while walking */
    int64_t left_out;

    size_t memory; /* for blocks */
    pose *track;   /* of the bodies first .. first + count - 1 that move, frame by frame */
    int track_first, track_bodies;
    size_t track_capacity;
    ARRAY(export_key) keys; /* of slots first .. first + count - 1 */
    ARRAY(int64_t) key_starts;
    int key_first, key_slots;
} export_scene;

abut_status export_scene_open(const abut_context *context, abut_recording *recording,
                              const abut_export_options *options, export_scene *scene, abut_error *error);
void export_scene_close(export_scene *scene);

/* Reads a frame: `motions`, and with marks what the contacts of the frame add. */
abut_status export_frame_motions(export_scene *scene, int64_t frame, abut_error *error);
/* The pose of a body's shape from the motion of its centre of mass. */
pose export_pose(const export_body *body, const abut_motion *motion);

/* The pose of a body at all frames, quaternions turned to the half of their neighbour; asked for in order of
 * bodies, it is read in blocks.  NULL: see the error. */
const pose *export_track(export_scene *scene, int body, abut_error *error);
/* The same for the changes of a slot. */
const export_key *export_slot_keys(export_scene *scene, int slot, abut_error *error);

/* ---- export_marks.c */

/* Calls `put` for each mark of a contact. */
typedef bool mark_visitor(void *user, mark_kind kind, export_mark mark);
bool mark_contact(const export_scene *scene, const abut_contact *contact, mark_visitor *put, void *user);
/* Walks over all frames and calls `changed` where a slot shows something else than at the frame before; makes
 * the slots that are missing. */
typedef bool slot_visitor(void *user, int slot, int64_t frame, export_mark mark);
abut_status export_walk_slots(export_scene *scene, slot_visitor *changed, void *user, abut_error *error);

/* ---- export_view.c */
abut_status export_read_view(export_scene *scene, abut_error *error);
/* Right, up and back of the camera as a pose: it looks along its negative z axis. */
pose export_camera_pose(const abut_camera *camera);

/* ---- the formats */
abut_status export_glb(export_scene *scene, const char *path, abut_export_report *report, abut_error *error);
abut_status export_rib(export_scene *scene, const char *path, abut_export_report *report, abut_error *error);
abut_status export_usda(export_scene *scene, const char *path, abut_export_report *report, abut_error *error);
abut_status export_csv(export_scene *scene, const char *path, abut_export_report *report, abut_error *error);

#endif
