/* Kry's scene files (Kry 2000, appendix B.1), read as they are:
 *
 *     view V1 { Translate [x y z]; Rotate degrees [x y z]; ... };
 *     World NAME {
 *         LightSource L1 arealight { point = [x y z]; colour = [r g b]; pointintensity = 1; ... };
 *         Object NAME Bezier { scale, rotate = radians [axis], offset, mass, inertia, fixed, controlp };
 *         Object NAME Loop   { scale, offset, objfileroot = "data/bowl"; ... };
 *         Contact NAME { objectA = floor; objectB = rattleback; coords = s t u v psi; dcoords = ...; };
 *     };
 *
 * and turned into the calls of a scene, which run as those of a JSON file do.  The reading is that of
 * ERRATA: a point is scaled, rotated, offset; the body's origin is its centre of mass; the inertia is
 * absolute; (s, t) lie on objectB.  What the format does not have: gravity is 9.81 downwards, the duration a
 * minute, friction 0.3 unless the contact has `mu`, `wmuxy` (rolling) or `wmuz` (spinning).
 *
 * Comments are those of C++.  A comment that was ended twice (as the listing's is, by the one inside it)
 * takes with it what stood between its two ends; signs and backslashes that stand apart from their numbers
 * are taken as part of them. */
#include "scene/scene.h"

#include <ctype.h>
#include <stdlib.h>

enum { TOKEN = 256, VALUES = 64 };

typedef struct reader {
    abut_scene *scene;
    const char *at;
    int line;
    char token[TOKEN];
    json_t *calls;
    size_t before_comment; /* calls when the last comment began */
    double friction[3];    /* mu, rolling, spinning */
    abut_error *error;
} reader;

/* A setting: its numbers, or its word. */
typedef struct setting {
    char key[TOKEN], word[TOKEN];
    double numbers[VALUES];
    int count;
} setting;

static abut_status complain(reader *r, const char *what) {
    return fail_at(r->error, ABUT_INVALID, r->scene->name, r->line, "%s", what);
}

/* ---- tokens */

static void end_of_comment(reader *r) {
    while (json_array_size(r->calls) > r->before_comment)
        json_array_remove(r->calls, json_array_size(r->calls) - 1);
    r->at += 2;
}

static void skip_blank(reader *r) {
    for (;; r->at++) {
        if (*r->at == '\n') r->line++;
        if (isspace((unsigned char)*r->at)) continue;
        if (r->at[0] == '\\') { /* of the listing's typesetting: a backslash, perhaps with a word */
            while (isalpha((unsigned char)r->at[1])) r->at++;
        } else if (r->at[0] == '/' && r->at[1] == '/') {
            while (r->at[1] && r->at[1] != '\n') r->at++;
        } else if (r->at[0] == '/' && r->at[1] == '*') {
            r->before_comment = json_array_size(r->calls);
            for (r->at += 2; *r->at && !(r->at[0] == '*' && r->at[1] == '/'); r->at++)
                if (*r->at == '\n') r->line++;
            if (!*r->at) return;
            r->at++;
        } else if (r->at[0] == '*' && r->at[1] == '/') {
            end_of_comment(r);
            r->at--;
        } else {
            return;
        }
    }
}

/* A word or number, the inside of a string, or one sign; false at the end. */
static bool next(reader *r) {
    size_t n = 0;
    skip_blank(r);
    if (*r->at == 0) return false;
    if (*r->at == '"') {
        for (r->at++; *r->at && *r->at != '"'; r->at++) {
            if (*r->at == '\n') r->line++;
            if (n + 1 < TOKEN) r->token[n++] = *r->at;
        }
        if (*r->at) r->at++;
    } else if (isalnum((unsigned char)*r->at) || strchr("+-._", *r->at)) {
        do {
            if (n + 1 < TOKEN) r->token[n++] = *r->at;
            r->at++;
            if (n == 1 && r->token[0] == '-') skip_blank(r); /* a sign apart from its number */
        } while (isalnum((unsigned char)*r->at) || (*r->at && strchr("+-._", *r->at)));
    } else {
        r->token[n++] = *r->at++;
    }
    r->token[n] = 0;
    return true;
}

static bool is(const reader *r, const char *word) { return strcmp(r->token, word) == 0; }

static abut_status expect(reader *r, const char *word) {
    if (next(r) && is(r, word)) return ABUT_OK;
    return fail_at(r->error, ABUT_INVALID, r->scene->name, r->line, "`%s` is missing here; add it", word);
}

/* KEY = values;   or   KEY values;   *done at the closing bracket. */
static abut_status read_setting(reader *r, setting *s, bool *done) {
    memset(s, 0, sizeof *s);
    if (!next(r)) return complain(r, "the file ends inside brackets; close them with };");
    *done = is(r, "}");
    if (*done) return ABUT_OK;
    strcpy(s->key, r->token);
    while (next(r)) {
        char *end;
        if (is(r, ";")) return ABUT_OK;
        if (is(r, "=") || is(r, "[") || is(r, "]")) continue;
        double number = strtod(r->token, &end);
        if (end == r->token || *end) {
            strcpy(s->word, r->token);
        } else {
            if (s->count == VALUES || !isfinite(number)) return complain(r, "too many or too large numbers");
            s->numbers[s->count++] = number;
        }
    }
    return complain(r, "a setting does not end; write ; after it");
}

/* ---- JSON */

static json_t *list(const double *x, int count) {
    json_t *a = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(a, json_real(x[i]));
    return a;
}

static json_t *single(const char *key, json_t *value) {
    json_t *o = json_object();
    json_object_set_new(o, key, value);
    return o;
}

static void add_call(reader *r, const char *name, json_t *arguments) {
    json_array_append_new(r->calls, single(name, arguments));
}

/* ---- view: camera = R world + T, looking along z with y up */

static vec3 to_world(quat q, vec3 v) { return quat_unrotate(q, v); }

static abut_status read_view(reader *r) {
    setting s;
    bool done = false;
    vec3 shift = vec3_zero();
    quat q = quat_identity();
    abut_status status = next(r) ? expect(r, "{") : complain(r, "a view needs a name and brackets");
    while (status == ABUT_OK && (status = read_setting(r, &s, &done)) == ABUT_OK && !done) {
        if (strcmp(s.key, "Translate") == 0 && s.count == 3)
            shift = vec3_add(shift, quat_rotate(q, vec3_make(s.numbers[0], s.numbers[1], s.numbers[2])));
        if (strcmp(s.key, "Rotate") == 0 && s.count == 4) {
            vec3 axis = {s.numbers[1], s.numbers[2], s.numbers[3]};
            q = quat_mul(q, abut_quat_from_axis_angle(axis, s.numbers[0] * (3.14159265358979323846 / 180)));
        }
    }
    if (status != ABUT_OK) return status;
    vec3 eye = vec3_neg(to_world(q, shift)), ahead = to_world(q, vec3_make(0, 0, 1)),
         up = to_world(q, vec3_make(0, 1, 0)), target = vec3_add(eye, ahead);
    json_t *camera = json_object();
    json_object_set_new(camera, "position", list(&eye.x, 3));
    json_object_set_new(camera, "target", list(&target.x, 3));
    json_object_set_new(camera, "up", list(&up.x, 3));
    add_call(r, "camera", camera);
    return ABUT_OK;
}

/* ---- lights: those with a place */

static abut_status read_light(reader *r) {
    setting s;
    bool done = false, placed = false;
    double point[3] = {0, 0, 0}, color[3] = {1, 1, 1}, intensity = 1;
    if (!next(r) || !next(r)) return complain(r, "a light needs a name and a kind");
    abut_status status = expect(r, "{");
    while (status == ABUT_OK && (status = read_setting(r, &s, &done)) == ABUT_OK && !done) {
        if (strcmp(s.key, "point") == 0 && s.count == 3)
            memcpy(point, s.numbers, sizeof point), placed = true;
        if (strcmp(s.key, "colour") == 0 && s.count == 3) memcpy(color, s.numbers, sizeof color);
        if (strcmp(s.key, "pointintensity") == 0 && s.count == 1) intensity = s.numbers[0];
    }
    if (status != ABUT_OK || !placed) return status;
    json_t *light = json_object();
    json_object_set_new(light, "position", list(point, 3));
    json_object_set_new(light, "color", list(color, 3));
    json_object_set_new(light, "intensity", json_real(intensity));
    add_call(r, "light", light);
    return ABUT_OK;
}

/* ---- objects */

typedef struct object {
    double scale[3], rotate[4], offset[3], inertia[9], mass, control[48];
    bool fixed, has_inertia, has_control;
    char file[TOKEN];
} object;

static abut_status take(reader *r, const setting *s, object *o) {
    struct {
        const char *key;
        double *to;
        int count;
    } wanted[] = {{"scale", o->scale, 3},     {"rotate", o->rotate, 4}, {"offset", o->offset, 3},
                  {"inertia", o->inertia, 9}, {"mass", &o->mass, 1},    {"controlp", o->control, 48}};
    for (int i = 0; i < COUNT_OF(wanted); i++) {
        if (strcmp(s->key, wanted[i].key) != 0) continue;
        if (s->count != wanted[i].count)
            return fail_at(r->error, ABUT_INVALID, r->scene->name, r->line,
                           "`%s` has %d numbers; it needs %d", s->key, s->count, wanted[i].count);
        memcpy(wanted[i].to, s->numbers, (size_t)s->count * sizeof(double));
        o->has_inertia |= i == 3, o->has_control |= i == 5;
    }
    if (strcmp(s->key, "fixed") == 0) o->fixed = strcmp(s->word, "true") == 0;
    if (strcmp(s->key, "objfileroot") == 0) strcpy(o->file, s->word);
    return ABUT_OK;
}

static json_t *bezier_of(const object *o) {
    json_t *control = json_array(), *shape = json_object(), *rotate = json_array();
    for (int i = 0; i < 16; i++) json_array_append_new(control, list(o->control + 3 * i, 3));
    json_array_append_new(rotate, json_real(o->rotate[0]));
    json_array_append_new(rotate, list(o->rotate + 1, 3));
    json_object_set_new(shape, "control", control);
    json_object_set_new(shape, "scale", list(o->scale, 3));
    json_object_set_new(shape, "rotate", rotate);
    json_object_set_new(shape, "offset", list(o->offset, 3));
    return single("surface.bezier", shape);
}

static json_t *loop_of(const object *o) {
    char file[TOKEN + 4];
    strcpy(file, o->file);
    strcat(file, ".obj");
    json_t *shape = json_object();
    json_object_set_new(shape, "file", json_string(file));
    json_object_set_new(shape, "scale", json_real(o->scale[0]));
    return single("surface.loop", shape);
}

static abut_status add_body(reader *r, const char *name, const object *o, bool loop) {
    if (loop && !(o->scale[0] == o->scale[1] && o->scale[1] == o->scale[2]))
        return complain(r, "a Loop object is scaled by the same factor in all directions");
    if (loop && o->rotate[0] != 0) return complain(r, "a Loop object cannot be rotated; rotate its OBJ file");
    if (loop ? !o->file[0] : !o->has_control)
        return complain(r, loop ? "the Loop object has no objfileroot; name its OBJ file"
                                : "the Bezier object has no controlp; give 16 points");
    json_t *body = json_object();
    json_object_set_new(body, "name", json_string(name));
    json_object_set_new(body, "shape", loop ? loop_of(o) : bezier_of(o));
    if (o->fixed) json_object_set_new(body, "fixed", json_true());
    if (loop) json_object_set_new(body, "position", list(o->offset, 3));
    if (o->mass > 0) json_object_set_new(body, "mass", json_real(o->mass));
    if (o->has_inertia) {
        const double *m = o->inertia, entries[6] = {m[0], m[4], m[8], m[1], m[2], m[5]};
        double origin[3] = {0, 0, 0}, back[3] = {-o->offset[0], -o->offset[1], -o->offset[2]};
        json_object_set_new(body, "inertia", list(entries, 6));
        json_object_set_new(body, "center", list(loop ? back : origin, 3));
    }
    add_call(r, "body", body);
    return ABUT_OK;
}

static abut_status read_object(reader *r) {
    setting s;
    bool done = false;
    char name[TOKEN];
    object o = {.scale = {1, 1, 1}, .rotate = {0, 0, 0, 1}};
    if (!next(r)) return complain(r, "an object needs a name and a kind");
    strcpy(name, r->token);
    if (!next(r) || (!is(r, "Bezier") && !is(r, "Loop")))
        return fail_at(r->error, ABUT_INVALID, r->scene->name, r->line,
                       "object `%s` is of an unknown kind; Bezier and Loop are known", name);
    bool loop = is(r, "Loop");
    abut_status status = expect(r, "{");
    while (status == ABUT_OK && (status = read_setting(r, &s, &done)) == ABUT_OK && !done)
        status = take(r, &s, &o);
    return status == ABUT_OK ? add_body(r, name, &o, loop) : status;
}

/* ---- contacts */

static abut_status read_contact(reader *r) {
    setting s;
    bool done = false;
    json_t *contact = json_object();
    abut_status status = next(r) ? expect(r, "{") : complain(r, "a contact needs a name and brackets");
    while (status == ABUT_OK && (status = read_setting(r, &s, &done)) == ABUT_OK && !done) {
        if (strcmp(s.key, "objectA") == 0) json_object_set_new(contact, "b", json_string(s.word));
        if (strcmp(s.key, "objectB") == 0) json_object_set_new(contact, "a", json_string(s.word));
        bool place = strcmp(s.key, "coords") == 0, rate = strcmp(s.key, "dcoords") == 0;
        if ((place || rate) && s.count != 5) status = complain(r, "a contact has 5 coordinates: s t u v psi");
        if (place) json_object_set_new(contact, "coordinates", list(s.numbers, s.count));
        if (rate) json_object_set_new(contact, "rates", list(s.numbers, s.count));
        static const char *const resistances[] = {"mu", "wmuxy", "wmuz"};
        for (int i = 0; i < 3; i++)
            if (strcmp(s.key, resistances[i]) == 0 && s.count == 1) r->friction[i] = fabs(s.numbers[0]);
    }
    if (status == ABUT_OK)
        add_call(r, "contact", contact);
    else
        json_decref(contact);
    return status;
}

/* ---- the file */

/* World and material come first: the calls that the rest needs. */
static json_t *scene_of_calls(const reader *r, const char *title) {
    json_t *calls = json_array(), *world = json_object(), *friction = json_object(), *all = json_object();
    json_object_set_new(world, "title", json_string(title));
    json_object_set_new(world, "duration", json_real(60));
    json_object_set_new(friction, "static", json_real(r->friction[0]));
    json_object_set_new(friction, "dynamic", json_real(r->friction[0]));
    json_object_set_new(friction, "rolling", json_real(r->friction[1]));
    json_object_set_new(friction, "spinning", json_real(r->friction[2]));
    json_array_append_new(calls, single("world", world));
    json_array_append_new(calls, single("material", single("friction", friction)));
    json_array_extend(calls, r->calls);
    json_object_set_new(all, "abut", json_integer(1));
    json_object_set_new(all, "calls", calls);
    return all;
}

static abut_status read_all(reader *r, char *title) {
    abut_status status = ABUT_OK;
    while (status == ABUT_OK && next(r)) {
        if (is(r, "view"))
            status = read_view(r);
        else if (is(r, "LightSource"))
            status = read_light(r);
        else if (is(r, "Object"))
            status = read_object(r);
        else if (is(r, "Contact"))
            status = read_contact(r);
        else if (is(r, "World")) {
            if (!next(r)) return complain(r, "a World needs a name and brackets");
            strcpy(title, r->token);
            status = expect(r, "{");
        } else if (!is(r, "}") && !is(r, ";"))
            status = fail_at(r->error, ABUT_INVALID, r->scene->name, r->line,
                             "`%s` is unknown here; view, World, LightSource, Object and Contact are known",
                             r->token);
    }
    return status;
}

abut_status scene_run_kry(abut_scene *scene, abut_error *error) {
    char title[TOKEN] = "scene";
    reader r = {.scene = scene,
                .at = scene->source,
                .line = 1,
                .calls = json_array(),
                .friction = {0.3, 0, 0},
                .error = error};
    if (!r.calls) return fail_memory(error);
    abut_status status = read_all(&r, title);
    json_t *all = status == ABUT_OK ? scene_of_calls(&r, title) : NULL;
    char *text = all ? json_dumps(all, JSON_REAL_PRECISION(17)) : NULL;
    json_decref(all);
    json_decref(r.calls);
    if (status == ABUT_OK)
        status = text ? scene_run_json(scene, text, strlen(text), error) : fail_memory(error);
    free(text);
    return status;
}
