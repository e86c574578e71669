/* Hinges: from definitions to rows (see hinge.h for the table of rows). */
#include "dynamics/hinge.h"

#include "math/angle.h"
#include "numerics/difference.h"

/* What a kind is made of. */
enum {
    POINT = 1,    /* e_i . d */
    ACROSS = 2,   /* xb . d, yb . d */
    NORMAL = 4,   /* zb . d */
    PARALLEL = 8, /* za . xb, za . yb */
    CROSS = 16,   /* za . xb */
    LOCK = 32,    /* ya . zb, za . xb, xa . yb */
    LENGTH = 64,  /* |d| - length */
    THREAD = 128  /* zb . d - pitch angle */
};
static const struct {
    int parts;
    hinge_coordinate_kind coordinate;
} kinds[] = {
    [ABUT_HINGE_BALL] = {POINT, HINGE_NO_COORDINATE},
    [ABUT_HINGE_PIN] = {POINT | PARALLEL, HINGE_ANGLE},
    [ABUT_HINGE_SLIDER] = {ACROSS | LOCK, HINGE_TRAVEL},
    [ABUT_HINGE_CYLINDER] = {ACROSS | PARALLEL, HINGE_TRAVEL},
    [ABUT_HINGE_UNIVERSAL] = {POINT | CROSS, HINGE_ANGLE},
    [ABUT_HINGE_PLANAR] = {NORMAL | PARALLEL, HINGE_ANGLE},
    [ABUT_HINGE_WELD] = {POINT | LOCK, HINGE_NO_COORDINATE},
    [ABUT_HINGE_ROD] = {LENGTH, HINGE_NO_COORDINATE},
    [ABUT_HINGE_SCREW] = {ACROSS | PARALLEL | THREAD, HINGE_ANGLE},
    [ABUT_HINGE_POINT_ON_PLANE] = {NORMAL, HINGE_NO_COORDINATE},
    [ABUT_HINGE_POINT_ON_LINE] = {ACROSS, HINGE_TRAVEL},
};

/* ---- compile */

static abut_status refuse(const abut_hinge_def *def, abut_error *error, const char *why) {
    if (!def->name) return fail(error, ABUT_INVALID, "hinge.%s: %s", abut_hinge_name(def->kind), why);
    return fail(error, ABUT_INVALID, "hinge.%s `%s`: %s", abut_hinge_name(def->kind), def->name, why);
}

static abut_status check_definition(const abut_hinge_def *def, abut_error *error) {
    if (def->cookie != ABUT_DEF_COOKIE)
        return refuse(def, error, "not initialised; start from abut_default_hinge()");
    if ((unsigned)def->kind >= (unsigned)COUNT_OF(kinds)) return refuse(def, error, "unknown kind");
    if (def->a < 0) return refuse(def, error, "has no body a; name the body that it holds");
    if (def->a == def->b) return refuse(def, error, "holds a body to itself; give two bodies");
    if (!vec3_is_finite(def->at) || !vec3_is_finite(def->at_b) || !vec3_is_finite(def->axis) ||
        !vec3_is_finite(def->axis_b) || !isfinite(def->pitch))
        return refuse(def, error, "at, axis and pitch must be finite numbers");
    int parts = kinds[def->kind].parts;
    if ((parts & ~(POINT | LENGTH | LOCK)) && !(vec3_length(def->axis) > 0))
        return refuse(def, error, "the axis is zero; give a direction");
    if (parts & LENGTH && !(vec3_distance(def->at, def->at_b) > 0))
        return refuse(def, error, "the two ends coincide; give at and at_b apart, or use a ball");
    bool wants = def->has_limits || def->has_motor || def->stiffness != 0 || def->damping != 0;
    if (wants && kinds[def->kind].coordinate == HINGE_NO_COORDINATE)
        return refuse(def, error,
                      "has no free coordinate for limits, a motor or a spring; use a pin, slider, "
                      "cylinder, universal, planar, screw or point_on_line");
    if (def->has_limits && !(def->limits[0] <= 0 && 0 <= def->limits[1]))
        return refuse(def, error,
                      "limits must be {lo, hi} with lo <= 0 <= hi: the coordinate is 0 at the start");
    if (def->has_motor && !(def->motor_max_force >= 0 && isfinite(def->motor_speed)))
        return refuse(def, error, "the motor needs a finite speed and max_force >= 0");
    if (!(def->stiffness >= 0 && def->damping >= 0 && isfinite(def->stiffness) && isfinite(def->damping) &&
          isfinite(def->rest)))
        return refuse(def, error, "stiffness and damping must be finite and not negative");
    if (!(def->break_force > 0)) return refuse(def, error, "break_force must be positive");
    return ABUT_OK;
}

/* x, y, z with z along the axis; x along axis_b where that is given. */
static abut_status make_frame(const abut_hinge_def *def, mat3 *out, abut_error *error) {
    vec3 z = vec3_length(def->axis) > 0 ? vec3_unit(def->axis) : vec3_make(0, 0, 1), x = vec3_orthogonal(z);
    if (def->kind == ABUT_HINGE_UNIVERSAL && vec3_length(def->axis_b) > 0) {
        vec3 given = vec3_unit(def->axis_b);
        if (fabs(vec3_dot(given, z)) > 1e-6)
            return refuse(def, error, "axis and axis_b must be orthogonal, as the arms of the cross are");
        x = vec3_unit(vec3_axpy(given, -vec3_dot(given, z), z));
    }
    *out = (mat3){x, vec3_cross(z, x), z};
    return ABUT_OK;
}

static mat3 into_body(mat3 frame, const motion *m) {
    return (mat3){quat_unrotate(m->rotation, frame.cx), quat_unrotate(m->rotation, frame.cy),
                  quat_unrotate(m->rotation, frame.cz)};
}

static const motion ground = {.rotation = {1, 0, 0, 0}};

abut_status hinge_compile(const abut_hinge_def *def, const motion *a, const motion *b, hinge *out,
                          abut_error *error) {
    mat3 frame;
    abut_status status = check_definition(def, error);
    if (status == ABUT_OK) status = make_frame(def, &frame, error);
    if (status != ABUT_OK) return status;
    if (!b) b = &ground;
    vec3 at_b = def->kind == ABUT_HINGE_ROD ? def->at_b : def->at;
    bool locked = def->has_limits && def->limits[0] == def->limits[1];
    *out = (hinge){.kind = def->kind,
                   .coordinate = kinds[def->kind].coordinate,
                   .a = def->a,
                   .b = def->b,
                   .pa = quat_unrotate(a->rotation, vec3_sub(def->at, a->center)),
                   .pb = quat_unrotate(b->rotation, vec3_sub(at_b, b->center)),
                   .frame_a = into_body(frame, a),
                   .frame_b = into_body(frame, b),
                   .length = vec3_distance(def->at, at_b),
                   .pitch = def->pitch,
                   .locked = locked,
                   .has_limits = def->has_limits && !locked,
                   .has_motor = def->has_motor && !locked,
                   .limits = {def->limits[0], def->limits[1]},
                   .motor_speed = def->motor_speed,
                   .motor_max_force = def->motor_max_force,
                   .motor_function = def->motor_function,
                   .motor_user = def->motor_user,
                   .stiffness = def->stiffness,
                   .damping = def->damping,
                   .rest = def->rest,
                   .break_force = def->break_force};
    return ABUT_OK;
}

/* ---- rows */

/* Anchors and frames in the world. */
typedef struct placed {
    const motion *a, *b;
    vec3 ra, rb;
    mat3 fa, fb;
} placed;

static mat3 out_of_body(mat3 frame, const motion *m) {
    return (mat3){quat_rotate(m->rotation, frame.cx), quat_rotate(m->rotation, frame.cy),
                  quat_rotate(m->rotation, frame.cz)};
}

static placed place(const hinge *h, const motion *a, const motion *b) {
    if (!b) b = &ground;
    return (placed){a,
                    b,
                    quat_rotate(a->rotation, h->pa),
                    quat_rotate(b->rotation, h->pb),
                    out_of_body(h->frame_a, a),
                    out_of_body(h->frame_b, b)};
}

/* p + s q, of two rows of the same bodies */
static row combine(row p, double s, row q) {
    p.ja = spatial_axpy(p.ja, s, q.ja), p.jb = spatial_axpy(p.jb, s, q.jb);
    p.drift += s * q.drift, p.error += s * q.error;
    return p;
}

/* J v for the two motions of a row whose bodies are not numbered yet */
static double rate_of(const row *r, const placed *p) {
    return spatial_dot(r->ja, p->a->velocity) + spatial_dot(r->jb, p->b->velocity);
}

/* angle = atan2(s, c) with s = -ya . xb, c = xa . xb, and rho = s^2 + c^2:
 *     angle'  = (c s' - s c') / rho
 *     angle'' = (c s'' - s c'') / rho - angle' rho' / rho,   rho' = 2 (s s' + c c') */
static row angle_row(const placed *p, double last) {
    row sine = row_vectors(p->a, p->b, p->fa.cy, vec3_neg(p->fb.cx));
    row cosine = row_vectors(p->a, p->b, p->fa.cx, p->fb.cx);
    double s = sine.error, c = cosine.error, rho = s * s + c * c;
    double ds = rate_of(&sine, p), dc = rate_of(&cosine, p);
    row r = sine;
    r.ja = spatial_scale(spatial_axpy(spatial_scale(sine.ja, c), -s, cosine.ja), 1 / rho);
    r.jb = spatial_scale(spatial_axpy(spatial_scale(sine.jb, c), -s, cosine.jb), 1 / rho);
    double rate = (c * ds - s * dc) / rho;
    r.drift = (c * sine.drift - s * cosine.drift) / rho - rate * 2 * (s * ds + c * dc) / rho;
    r.error = angle_unwrap(angle_atan2(s, c), last);
    return r;
}

static row travel_row(const placed *p) { return row_point_along(p->a, p->b, p->ra, p->rb, p->fb.cz); }

int hinge_rows(const hinge *h, const motion *a, const motion *b, double coordinate, row out[HINGE_MAX_ROWS]) {
    placed p = place(h, a, b);
    int parts = kinds[h->kind].parts, n = 0;
    if (parts & POINT)
        for (int i = 0; i < 3; i++)
            out[n++] = row_point_fixed(p.a, p.b, p.ra, p.rb, vec3_make(i == 0, i == 1, i == 2));
    if (parts & ACROSS) {
        out[n++] = row_point_along(p.a, p.b, p.ra, p.rb, p.fb.cx);
        out[n++] = row_point_along(p.a, p.b, p.ra, p.rb, p.fb.cy);
    }
    if (parts & NORMAL) out[n++] = travel_row(&p);
    if (parts & (PARALLEL | CROSS)) out[n++] = row_vectors(p.a, p.b, p.fa.cz, p.fb.cx);
    if (parts & PARALLEL) out[n++] = row_vectors(p.a, p.b, p.fa.cz, p.fb.cy);
    if (parts & LOCK) {
        out[n++] = row_vectors(p.a, p.b, p.fa.cy, p.fb.cz);
        out[n++] = row_vectors(p.a, p.b, p.fa.cz, p.fb.cx);
        out[n++] = row_vectors(p.a, p.b, p.fa.cx, p.fb.cy);
    }
    if (parts & LENGTH) out[n++] = row_distance(p.a, p.b, p.ra, p.rb, h->length);
    if (parts & THREAD) out[n++] = combine(travel_row(&p), -h->pitch, angle_row(&p, coordinate));
    if (h->locked) out[n++] = h->coordinate == HINGE_ANGLE ? angle_row(&p, coordinate) : travel_row(&p);
    for (int i = 0; i < n; i++) out[i].a = h->a, out[i].b = h->b;
    return n;
}

bool hinge_coordinate(const hinge *h, const motion *a, const motion *b, double last, double *value,
                      double *rate, row *out) {
    if (h->coordinate == HINGE_NO_COORDINATE) return false;
    placed p = place(h, a, b);
    *out = h->coordinate == HINGE_ANGLE ? angle_row(&p, last) : travel_row(&p);
    *value = out->error, *rate = rate_of(out, &p);
    out->a = h->a, out->b = h->b;
    return true;
}

/* ---- limits, motor, spring, strength */

row hinge_limit_row(const row *coordinate, const hinge *h, int side) {
    row r = *coordinate;
    r.lo = 0;
    if (side < 0) {
        r.error -= h->limits[0];
        return r;
    }
    r.ja = spatial_scale(r.ja, -1), r.jb = spatial_scale(r.jb, -1), r.drift = -r.drift;
    r.error = h->limits[1] - r.error;
    return r;
}

row hinge_motor_row(const row *coordinate, const hinge *h, int pull, double speed, double speed_rate) {
    row r = *coordinate;
    r.error = 0, r.rate = speed, r.acceleration = speed_rate;
    r.lo = -h->motor_max_force, r.hi = h->motor_max_force;
    if (pull != 0) r.lo = r.hi = pull * h->motor_max_force;
    return r;
}

int hinge_motor_pull(const hinge *h, double rate, double speed, double tolerance) {
    if (!isfinite(h->motor_max_force) || fabs(rate - speed) <= tolerance) return 0;
    return rate < speed ? 1 : -1;
}

/* The derivative at the `at`-th of seven values.  Where the slopes on both sides differ by more than the
 * larger one's half, the function jumps or bends there: what a bounded motor can follow is the flatter side,
 * until it jumps. */
static double slope(const double *value, int at, double step, bool bounded) {
    if (bounded && at >= 2) {
        const double *v = value + at;
        double left = (3 * v[0] - 4 * v[-1] + v[-2]) / (2 * step),
               right = (4 * v[1] - 3 * v[0] - v[2]) / (2 * step);
        if (fabs(left - right) > 0.5 * fmax(fabs(left), fabs(right)))
            return fabs(left) < fabs(right) ? left : right;
        /* no farther than those look: a jump beyond is none yet */
        return (8 * (v[1] - v[-1]) - (v[2] - v[-2])) / (12 * step);
    }
    return difference_first(value, 1, at, step);
}

abut_status hinge_motor_speed(const hinge *h, double time, double *speed, double *speed_rate,
                              abut_error *error) {
    *speed = h->motor_speed, *speed_rate = 0;
    if (!h->motor_function) return ABUT_OK;
    const double step = 1e-3;
    int at = difference_at(time, step);
    double v[DIFFERENCE_SAMPLES] = {0};
    for (int i = 0; i < DIFFERENCE_SAMPLES; i++)
        if (!h->motor_function(h->motor_user, time + (i - at) * step, &v[i], 1))
            return fail(error, ABUT_CANCELLED,
                        "the motor's speed function failed at %g s; see the scene's message", time);
    *speed = v[at], *speed_rate = slope(v, at, step, isfinite(h->motor_max_force));
    if (!isfinite(*speed) || !isfinite(*speed_rate))
        return fail(error, ABUT_INVALID,
                    "the motor's speed at %g s is not a finite number; correct its function", time);
    return ABUT_OK;
}

void hinge_motor_stalls(const hinge *h, int side, double *speed, double *speed_rate) {
    if (isfinite(h->motor_max_force) || side * *speed <= 0) return;
    *speed = *speed_rate = 0;
}

double hinge_spring_force(const hinge *h, double value, double rate) {
    return -h->stiffness * (value - h->rest) - h->damping * rate;
}

double hinge_spring_energy(const hinge *h, double value) {
    return h->stiffness * (value - h->rest) * (value - h->rest) / 2;
}

void hinge_reaction(const hinge *h, const motion *a, const row *rows, const double *multipliers, int count,
                    vec3 *force, vec3 *torque) {
    spatial sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < count; i++) sum = spatial_axpy(sum, multipliers[i], rows[i].ja);
    *force = sum.linear;
    *torque = vec3_sub(sum.angular, vec3_cross(quat_rotate(a->rotation, h->pa), sum.linear));
}
