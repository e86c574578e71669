/* Reading surfaces: text files of Bezier control points, and the Bezier objects of Kry's scene files
 * (Kry 2000, appendix B.1).
 *
 *   points     three numbers a line, 16 lines a patch, `#` starts a comment
 *   .scene     Object NAME Bezier { scale = [x y z]; rotate = angle [x y z]; offset = [x y z];
 *              controlp = [x y z] x 16; ... };   anything else is skipped; comments as in C++.
 *              A point is scaled, then rotated, then offset. */
#include "surface/surface.h"

#include <ctype.h>
#include <stdlib.h>

typedef ARRAY(vec3) vec3_array;

typedef struct reader {
    const abut_context *context;
    const char *name, *at;
    int line;
    vec3_array points;
    abut_error *error;
} reader;

static abut_status complain(reader *r, const char *message) {
    return fail_at(r->error, ABUT_INVALID, r->name, r->line, "%s", message);
}

/* ---- plain points */

/* One line: nothing, or three finite numbers. */
static abut_status read_point_line(reader *r) {
    double x[3];
    int count = 0;
    for (;;) {
        while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r') r->at++;
        if (*r->at == '#')
            while (*r->at && *r->at != '\n') r->at++;
        if (*r->at == '\n' || *r->at == 0) break;
        char *end;
        double number = strtod(r->at, &end);
        if (end == r->at || !isfinite(number))
            return complain(r, "this is not a finite number; a line has three numbers, x y z");
        if (count == 3) return complain(r, "a fourth number; a line has three numbers, x y z");
        x[count++] = number, r->at = end;
    }
    if (count == 0) return ABUT_OK;
    if (count < 3) return complain(r, "fewer than three numbers; a line has three numbers, x y z");
    return array_push(r->context, &r->points, vec3_make(x[0], x[1], x[2])) ? ABUT_OK : fail_memory(r->error);
}

static abut_status read_points(reader *r) {
    abut_status status = ABUT_OK;
    for (r->line = 1; status == ABUT_OK; r->line++) {
        status = read_point_line(r);
        if (*r->at == 0) break;
        if (status == ABUT_OK) r->at++;
    }
    if (status == ABUT_OK && (r->points.count == 0 || r->points.count % 16 != 0))
        return fail_at(r->error, ABUT_INVALID, r->name, r->line,
                       "%lld control points; a bicubic Bezier patch has 16, one a line",
                       (long long)r->points.count);
    return status;
}

/* ---- scene files */

static void skip_blank(reader *r) {
    for (;;) {
        if (*r->at == '\n') r->line++;
        if (isspace((unsigned char)*r->at)) {
            r->at++;
        } else if (r->at[0] == '/' && r->at[1] == '/') {
            while (*r->at && *r->at != '\n') r->at++;
        } else if (r->at[0] == '/' && r->at[1] == '*') {
            for (r->at += 2; *r->at && !(r->at[0] == '*' && r->at[1] == '/'); r->at++)
                if (*r->at == '\n') r->line++;
            if (*r->at) r->at += 2;
        } else if (*r->at == '\\') { /* of the thesis's typesetting: a backslash, perhaps with a word */
            for (r->at++; isalpha((unsigned char)*r->at); r->at++) continue;
        } else {
            return;
        }
    }
}

/* The next token: a word, a string, or one sign; false at the end. */
static bool next_token(reader *r, char *token, size_t size) {
    skip_blank(r);
    size_t n = 0;
    if (*r->at == 0) return false;
    if (*r->at == '"') {
        do {
            if (*r->at == '\n') r->line++;
            r->at++;
        } while (*r->at && *r->at != '"');
        if (*r->at) r->at++;
        token[n++] = '"';
    } else if (isalnum((unsigned char)*r->at) || strchr("+-._", *r->at)) {
        do {
            if (n + 1 < size) token[n++] = *r->at;
            r->at++;
            if (n == 1 && token[0] == '-') skip_blank(r); /* a sign apart from its number */
        } while (isalnum((unsigned char)*r->at) || (*r->at && strchr("+-._", *r->at)));
    } else {
        token[n++] = *r->at++;
    }
    token[n] = 0;
    return true;
}

static abut_status read_number(reader *r, double *number) {
    char token[64], *end;
    if (!next_token(r, token, sizeof token)) return complain(r, "the file ends inside an object; close it");
    *number = strtod(token, &end);
    if (end == token || *end || !isfinite(*number))
        return fail_at(r->error, ABUT_INVALID, r->name, r->line, "`%s` stands where a number must stand",
                       token);
    return ABUT_OK;
}

static abut_status expect(reader *r, char sign) {
    char token[64];
    if (next_token(r, token, sizeof token) && token[0] == sign && token[1] == 0) return ABUT_OK;
    return fail_at(r->error, ABUT_INVALID, r->name, r->line, "`%c` is missing here; add it", sign);
}

/* [x y z] */
static abut_status read_vector(reader *r, vec3 *v) {
    abut_status status = expect(r, '[');
    if (status == ABUT_OK) status = read_number(r, &v->x);
    if (status == ABUT_OK) status = read_number(r, &v->y);
    if (status == ABUT_OK) status = read_number(r, &v->z);
    return status == ABUT_OK ? expect(r, ']') : status;
}

typedef struct placing {
    vec3 scale, axis, offset;
    double angle;
} placing;

static abut_status read_setting(reader *r, const char *key, placing *place) {
    abut_status status = ABUT_OK;
    if (strcmp(key, "scale") == 0)
        status = read_vector(r, &place->scale);
    else if (strcmp(key, "offset") == 0)
        status = read_vector(r, &place->offset);
    else if (strcmp(key, "rotate") == 0) {
        status = read_number(r, &place->angle);
        if (status == ABUT_OK) status = read_vector(r, &place->axis);
    } else if (strcmp(key, "controlp") == 0) {
        for (int i = 0; i < 16 && status == ABUT_OK; i++) {
            vec3 point;
            status = read_vector(r, &point);
            if (status == ABUT_OK && !array_push(r->context, &r->points, point))
                status = fail_memory(r->error);
        }
    } else {
        char token[64];
        while (next_token(r, token, sizeof token))
            if (strcmp(token, ";") == 0) return ABUT_OK;
        return complain(r, "the file ends inside an object; close it");
    }
    return status == ABUT_OK ? expect(r, ';') : status;
}

/* { key = value; ... } of a Bezier object; its points are placed at the end. */
static abut_status read_object(reader *r) {
    placing place = {.scale = {1, 1, 1}, .axis = {0, 0, 1}};
    int64_t first = r->points.count;
    char token[64];
    abut_status status = expect(r, '{');
    while (status == ABUT_OK) {
        if (!next_token(r, token, sizeof token))
            return complain(r, "the file ends inside an object; close it");
        if (strcmp(token, "}") == 0) break;
        status = expect(r, '=');
        if (status == ABUT_OK) status = read_setting(r, token, &place);
    }
    if (status != ABUT_OK) return status;
    quat q = abut_quat_from_axis_angle(place.axis, place.angle);
    for (int64_t i = first; i < r->points.count; i++) {
        vec3 p = r->points.data[i], s = place.scale;
        r->points.data[i] =
            vec3_add(quat_rotate(q, vec3_make(p.x * s.x, p.y * s.y, p.z * s.z)), place.offset);
    }
    return ABUT_OK;
}

/* Finds `Object NAME Bezier` anywhere; all the rest is for the scene reader. */
static abut_status read_scene(reader *r) {
    char token[64], kind[64];
    abut_status status = ABUT_OK;
    r->line = 1;
    while (status == ABUT_OK && next_token(r, token, sizeof token))
        if (strcmp(token, "Object") == 0 && next_token(r, token, sizeof token) &&
            next_token(r, kind, sizeof kind) && strcmp(kind, "Bezier") == 0)
            status = read_object(r);
    if (status == ABUT_OK && r->points.count == 0)
        return fail_at(r->error, ABUT_INVALID, r->name, 0,
                       "the scene has no Bezier object; for a Loop object give its OBJ cage");
    return status;
}

abut_status abut_surface_read(const abut_context *context, const char *text, size_t size, const char *name,
                              abut_surface **surface, abut_error *error) {
    char *copy = mem_alloc(context, size + 1, 1);
    if (!copy) return fail_memory(error);
    if (size) memcpy(copy, text, size);
    copy[size] = 0;
    reader r = {.context = context, .name = name ? name : "", .at = copy, .error = error};
    size_t length = strlen(r.name);
    bool scene = length >= 6 && strcmp(r.name + length - 6, ".scene") == 0;
    abut_status status = scene ? read_scene(&r) : read_points(&r);
    if (status == ABUT_OK)
        status = abut_surface_bezier(context, r.points.data, r.points.count / 16, surface, error);
    array_free(context, &r.points);
    mem_free(context, copy, size + 1, 1);
    return status;
}

abut_status abut_surface_load(const abut_context *context, const char *path, abut_surface **surface,
                              abut_error *error) {
    char *bytes;
    size_t size;
    abut_status status = file_read(context, path, &bytes, &size, error);
    if (status != ABUT_OK) return status;
    status = abut_surface_read(context, bytes, size, path, surface, error);
    file_free(context, bytes, size);
    return status;
}
