/* The scene at work: the Lua state, and the growing definitions that its functions fill.
 *
 *   sandbox.c   the Lua state: bounded memory and instructions, libraries without a way out, errors with
 * place table.c     reading a table: positional and named values, unknown keys with the nearest known one
 *   hints.c     what messages of Lua mean in a scene
 *   guards.c    functions of Lua's libraries that the sandbox bounds
 *   patterns.c  string.find and its kin, counted step by step
 *   shapes.c    solid.*, sphere, ellipsoid, capsule, cylinder, halfspace
 *   surfaces.c  surface.bezier, surface.loop, contact
 *   world.c     world, material, pair, body
 *   links.c     hinge.*, spring, force, torque, contact
 *   watch.c     watch
 *   control.c   param, on, every, camera, light
 *   json.c      the calls of a scene as JSON, and back
 *   kry.c       scene files of Kry's thesis, turned into such calls
 *   scene.c     loading, freeing, and what the public header promises */
#ifndef SCENE_SCENE_H
#define SCENE_SCENE_H

#include "abut/scene.h"
#include "abut/surface.h"
#include "base/base.h"
#include "math/vec.h"

#include <jansson.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/* A Lua function that the run calls later. */
typedef struct scene_function {
    abut_scene *scene;
    int reference;    /* in the registry */
    const char *what; /* "the motion of body `x`" */
    int line;         /* where it was given */
    double scale;     /* metres, where it returns a length or a position; 1 otherwise */
} scene_function;

/* The function of a watch. */
typedef struct scene_watch {
    const scene_function *function;
    int body_count;
    int line; /* of `value` */
} scene_watch;

typedef struct scene_handler {
    int kind; /* abut_event_kind; -1: every() */
    int reference;
    double period;
    double next, last; /* multiples of it to be called, within abut_scene_every */
} scene_handler;

/* A shape, and the call that made it, for the dump: {"solid.box": [2, 1, 0.5]}. */
typedef struct scene_shape {
    abut_shape shape;
    json_t *call;
} scene_shape;

struct abut_scene {
    abut_context context;
    arena memory; /* names, definitions' strings, functions */
    lua_State *lua;
    size_t lua_bytes, lua_limit;
    int64_t instructions_left;
    bool is_built;                    /* from then on only functions that the run calls */
    bool is_retold;                   /* what functions are told has been told before: print() is silent */
    int memory_line;                  /* where the last allocation was refused */
    const char *name, *folder, *root; /* of the file; for messages and for files it reads */
    const char *source;               /* its text, to find the line of a key */
    size_t source_size;
    const char *const *set;
    double unit;       /* metres a unit of length */
    bool lengths_used; /* a length was read: too late to change the unit */

    abut_world_def world;
    vec3 *shifts; /* in the arena; NULL: bodies start where the scene says */
    ARRAY(abut_material_def) materials;
    ARRAY(abut_pair_def) pairs;
    ARRAY(abut_body_def) bodies;
    ARRAY(abut_hinge_def) hinges;
    ARRAY(abut_spring_def) springs;
    ARRAY(abut_force_def) forces;
    ARRAY(abut_watch_def) watches;
    ARRAY(abut_rolling_def) rollings;
    ARRAY(scene_shape) shapes;
    ARRAY(abut_solid *) solids;
    ARRAY(abut_surface *) surfaces;
    ARRAY(scene_handler) handlers;
    ARRAY(abut_param) params;
    ARRAY(abut_light) lights;
    abut_camera camera;
    json_t *calls;          /* every call in order: [{"world": {...}}, {"body": {...}}, ...] */
    const char *undumpable; /* the first thing that JSON cannot hold: a function */
    abut_error failure;     /* of a function called later */
    bool has_failed;
};

/* Instructions of a scene, of the order of a second; of a function that the run calls; and what a call of the
 * language counts for: it takes memory outside Lua, about a kilobyte, so that a million of them is all a
 * scene may make.  An error that is caught unwinds the stack, and memory must be filled: so many bytes an
 * instruction. */
enum {
    SCENE_INSTRUCTIONS = 200000000,
    SCENE_CALL_INSTRUCTIONS = 10000000,
    SCENE_CALL_COST = 200,
    SCENE_CATCH_COST = 100,
    SCENE_BYTES = 64
};

/* ---- sandbox.c */
abut_scene *scene_of(lua_State *L);
abut_status scene_open(abut_scene *scene, uint64_t seed, abut_error *error);
/* Runs the chunk on top of the stack with `arguments` arguments and `results` results; errors get file, line
 * and message. */
abut_status scene_call(abut_scene *scene, int arguments, int results, abut_error *error);
/* Instructions from now on, and what something costs that is not counted by itself. */
void scene_allow(abut_scene *scene, int64_t instructions);
void scene_charge(lua_State *L, int64_t instructions);
/* Raises a Lua error at the line of the call (or, if key is given, at the line of the key): does not return.
 */
int scene_raise(lua_State *L, const char *key, const char *format, ...) ABUT_PRINTF(3, 4);
int scene_line(lua_State *L);                     /* that is being run; allocates nothing */
int scene_line_of(lua_State *L, const char *key); /* that gives the key its value in the call being run */
/* Raises for out of memory. */
int scene_raise_memory(lua_State *L);
/* An abut_time_function that calls the Lua function of a scene_function. */
bool scene_time_function(void *user, double time, double *out, int count);
/* Keeps the function on top of the stack (and pops it); `scale`: of the number or the position it returns. */
scene_function *scene_keep_function(lua_State *L, const char *what, double scale);

/* Raises where a function of the language is called by one that the run calls. */
void scene_check_building(lua_State *L, const char *name);

/* ---- hints.c */
/* What may be meant, to be put behind a message of Lua; "" where nothing is known. */
void scene_hint(const char *text, char *out, size_t size);

/* ---- guards.c, patterns.c */
void scene_guard_libraries(lua_State *L);
void scene_register_patterns(lua_State *L);

/* ---- table.c */
typedef struct table {
    lua_State *L;
    int index;        /* absolute */
    const char *what; /* "sphere" */
} table;
/* Opens the table that is argument 1.  `keys` are all it may have, separated by spaces; `positional` how many
 * unnamed values. */
table table_open(lua_State *L, const char *what, const char *keys, int positional);
table table_nested(const table *t, const char *key, const char *what, const char *keys, int positional);
/* Pushes the value of a key, or of the position (0: none) if there is no such key; false and nothing pushed
 * if both are missing. */
bool table_get(const table *t, const char *key, int position);
/* Numbers are finite (or the call raises); `_length` ones are scaled to metres.  False: missing, and *out is
 * left as it is. */
bool table_number(const table *t, const char *key, int position, double *out);
bool table_length(const table *t, const char *key, int position, double *out);
bool table_integer(const table *t, const char *key, int position, int low, int high, int *out);
bool table_flag(const table *t, const char *key, bool *out);
bool table_string(const table *t, const char *key, int position, const char **out); /* kept in the arena */
bool table_vector(const table *t, const char *key, int position, vec3 *out);
bool table_position(const table *t, const char *key, int position, vec3 *out); /* scaled to metres */
/* One of the words, separated by spaces: its number; -1 when missing. */
int table_word(const table *t, const char *key, const char *words);
/* Between least and most numbers in a nested list; returns how many (0: missing). */
int table_numbers(const table *t, const char *key, int position, int least, int most, double *out);
/* A function or a number/vector: true if it is a function, which is then pushed. */
bool table_function(const table *t, const char *key);
/* A body: its name, or what body{} returned. -1 when missing. */
int table_body(const table *t, const char *key, int position);
/* Reads numbers from the list at the top of the stack (does not pop). */
int table_list(lua_State *L, const char *what, int least, int most, double *out);
int scene_find_body(lua_State *L, const char *name); /* world.c; -1: there is none */
/* The nearest word of a list, or NULL. */
const char *table_nearest(const char *word, const char *words, char *buffer, size_t size);

/* ---- the functions of the language */
void scene_register_shapes(lua_State *L);
void scene_register_surfaces(lua_State *L);
void scene_register_world(lua_State *L);
void scene_register_links(lua_State *L);
void scene_register_watch(lua_State *L);
void scene_register_control(lua_State *L);
/* Sets a key of the table on top of the stack (control.c). */
void scene_push_vec3(lua_State *L, const char *key, vec3 v);
void scene_set_function(lua_State *L, const char *name, lua_CFunction function); /* global */
/* A function of the language: calls are recorded for the dump.  `name` may have one dot: "solid.box" goes
 * into the table `solid`. */
void scene_set_call(lua_State *L, const char *name, lua_CFunction function);
/* The path of a scene's file: below the root after all links and dots are resolved, or an error is raised. */
void scene_resolve(lua_State *L, const char *what, const char *file, char *path, size_t size);
/* Reads the list of points (of `size` numbers, lengths) on top of the stack into memory that Lua collects. */
double *scene_read_points(lua_State *L, const char *what, int size, int *count);
/* Keeps a shape (and the call being made) and pushes its handle. */
int scene_return_shape(lua_State *L, abut_shape shape);

/* ---- json.c */
abut_status scene_run_json(abut_scene *scene, const char *text, size_t size, abut_error *error);

/* ---- kry.c */
abut_status scene_run_kry(abut_scene *scene, abut_error *error);

/* Shapes and bodies are userdata that hold their number. */
void scene_push_handle(lua_State *L, const char *type, int number);
int scene_handle(lua_State *L, int index, const char *type); /* -1: not one */
#define SCENE_SHAPE "abut.shape"
#define SCENE_BODY  "abut.body"
const char *scene_copy(abut_scene *scene, const char *text); /* in the arena; NULL when memory is out */

#endif
