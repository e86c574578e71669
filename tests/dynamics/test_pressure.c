/* Pressure over a region and the friction of a rigid slip, against closed forms and against themselves. */
#include "dynamics/pressure.h"
#include "little.h"

#include "dynamics/face.h"

/* In [-1, 1). */
static double any_number(uint64_t *seed) { return support_vec(seed, 1).x; }

static double sum_of_squares(const double a[3]) { return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]; }

/* A polygon given by its corners. */
static int polygon(const double (*corners)[2], int count, border_piece *out) {
    for (int i = 0; i < count; i++) out[i] = border_edge(corners[i], corners[(i + 1) % count]);
    return count;
}

static int rectangle(double x0, double y0, double x1, double y1, border_piece *out) {
    const double corners[4][2] = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
    return polygon(corners, 4, out);
}

/* Integral of sqrt(x^2 + y^2) over [0,a] x [0,b]: a b d/3 + a^3/6 ln((b+d)/a) + b^3/6 ln((a+d)/b). */
static double from_corner(double a, double b) {
    double sign = (a < 0) != (b < 0) ? -1 : 1;
    a = fabs(a), b = fabs(b);
    if (a == 0 || b == 0) return 0;
    double d = hypot(a, b);
    return sign * (a * b * d / 3 + a * a * a / 6 * log((b + d) / a) + b * b * b / 6 * log((a + d) / b));
}

/* The same over a rectangle, from the point o. */
static double distances(double x0, double y0, double x1, double y1, const double o[2]) {
    return from_corner(x1 - o[0], y1 - o[1]) - from_corner(x0 - o[0], y1 - o[1]) -
           from_corner(x1 - o[0], y0 - o[1]) + from_corner(x0 - o[0], y0 - o[1]);
}

/* A square of side 1 that spins about its centre: torque (sqrt 2 + ln(1 + sqrt 2))/6 = 0.3826 of mu N a; a
 * disc: 2/3 of mu N R. */
static void spin_of_square_and_disc(void **state) {
    (void)state;
    border_piece p[8];
    const double spin[3] = {0, 0, 1}, back[3] = {0, 0, -3}, zero[2] = {0, 0};
    double g[3][3];
    border_slip(p, rectangle(-0.5, -0.5, 0.5, 0.5, p), spin, g);
    assert_close(g[2][0], 0.38259785823210635, 1e-15);
    assert_close(g[0][0], 0, 1e-15);
    border_slip(p, 4, back, g);
    assert_close(g[2][0], -0.38259785823210635, 1e-15);
    border_circle(zero, 1, p);
    border_slip(p, 8, spin, g);
    assert_close(g[2][0], 2.0 / 3 * acos(-1), 1e-14);
    /* a ring: the hole runs the other way round */
    border_piece ring[16];
    border_circle(zero, 1, ring);
    border_circle(zero, 0.5, p);
    for (int i = 0; i < 8; i++) {
        ring[8 + i] = p[7 - i];
        memcpy(ring[8 + i].from, p[7 - i].to, sizeof p->to),
            memcpy(ring[8 + i].to, p[7 - i].from, sizeof p->to);
    }
    border_slip(ring, 16, spin, g);
    assert_close(g[2][0], 2.0 / 3 * acos(-1) * (1 - 0.125), 1e-14);
}

/* H = w times the integral of the distance from the centre of rotation o, wherever that lies: inside, on a
 * side, in a corner, next to one, outside, far away. */
static void slip_of_rectangles(void **state) {
    (void)state;
    const double centers[][2] = {{0.1, 0.2},  {-0.5, 0.1},    {0.5, 0.3},        {0.5, -0.3 + 1e-9},
                                 {0.9, -0.2}, {2.5, 0},       {1.8, 1.3},        {0.5 + 1e-12, 0.1},
                                 {0, -0.3},   {3e3, 1e3},     {0.5 - 1e-6, 0.3}, {-0.5, -0.3},
                                 {1.5, 1.6},  {-1e6, 2.5e-1}, {0.4999, 0.2999},  {2.2, -0.7}};
    border_piece p[4];
    int count = rectangle(-0.5, -0.3, 0.5, 0.3, p);
    for (size_t i = 0; i < sizeof centers / sizeof *centers; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double *o = centers[i], w = 2.0 * sign;
            const double q[3] = {w * o[1], -w * o[0], w}; /* u(o) = 0 */
            double g[3][3], h = 0, far = hypot(o[0], o[1]), scale = 0.6 * 2 * (1 + far);
            border_slip(p, count, q, g);
            for (int k = 0; k < 3; k++) h += g[k][0] * q[k];
            /* the closed form itself cancels where o is far */
            double exact = 2 * distances(-0.5, -0.3, 0.5, 0.3, o);
            assert_close(h, exact, 4e-14 * scale + 1e-16 * far * far * far);
        }
}

/* Two parts of a region have the friction of the whole, wherever it is cut; and the wrench is the gradient of
 * H = integral p |u|. */
static void parts_and_gradients(void **state) {
    (void)state;
    const double corners[6][2] = {{-0.6, -0.5}, {0.7, -0.5}, {0.7, 0.1}, {0.1, 0.1}, {0.1, 0.6}, {-0.6, 0.6}};
    const double hole[2] = {-0.2, -0.1};
    border_piece p[14], cut[2][BORDER_CLIPPED(14)];
    uint64_t seed = 5;
    polygon(corners, 6, p);
    border_circle(hole, 0.2, p + 6);
    for (int i = 6; i < 10; i++) { /* turn the circle round */
        border_piece swap = p[i];
        p[i] = p[19 - i], p[19 - i] = swap;
    }
    for (int i = 6; i < 14; i++)
        for (int k = 0; k < 2; k++) {
            double swap = p[i].from[k];
            p[i].from[k] = p[i].to[k], p[i].to[k] = swap;
        }
    double m[3][3];
    border_moments(p, 14, m);
    assert_close(m[0][0], 1.3 * 1.1 - 0.6 * 0.5 - acos(-1) * 0.04, 1e-14);
    for (int n = 0; n < 300; n++) {
        double q[3], line[3], other[3], whole[3][3], parts[3][3] = {{0}}, g[3][3];
        for (int k = 0; k < 3; k++) q[k] = any_number(&seed), line[k] = any_number(&seed);
        line[0] *= 0.3;
        if (n % 5 == 0) q[2] *= 1e-3;
        for (int k = 0; k < 3; k++) other[k] = -line[k];
        border_slip(p, 14, q, whole);
        for (int side = 0; side < 2; side++) {
            border_slip(cut[side], border_clip(p, 14, side ? other : line, cut[side]), q, g);
            for (int i = 0; i < 9; i++) parts[i / 3][i % 3] += g[i / 3][i % 3];
        }
        for (int i = 0; i < 9; i++) assert_close(parts[i / 3][i % 3], whole[i / 3][i % 3], 2e-13);
        for (int k = 0; k < 3; k++) {
            double h[2] = {0, 0}, e = 1e-6;
            for (int side = 0; side < 2; side++) {
                double beside[3] = {q[0], q[1], q[2]};
                beside[k] += side ? -e : e;
                border_slip(p, 14, beside, g);
                for (int i = 0; i < 3; i++) h[side] += g[i][0] * beside[i];
            }
            /* H'' is at most of the size 1/|q|: the error of the difference is e^2 H''' / 6, and rounding/e
             */
            assert_close((h[0] - h[1]) / (2 * e), whole[k][0], 1e-7 / sqrt(sum_of_squares(q)));
        }
    }
}

/* A load beside the core of a rectangle presses a triangle of three times its distance from the side. */
static void pressure_beside_the_core(void **state) {
    (void)state;
    border_piece p[4], pressed[BORDER_CLIPPED(4)];
    int count = rectangle(-0.5, -1, 0.5, 1, p);
    double k[3], m[3][3];
    const double middle[3] = {3, 0, 0}, core[3] = {3, 3 * 0.125, 0}, beside[3] = {3, 3 * 0.4, 0};
    pressure_fit(p, count, middle, pressed, k);
    assert_close(k[0], 1.5, 1e-14);
    assert_close(k[1], 0, 1e-14);
    /* p = N/A (1 + 12 e x) */
    pressure_fit(p, count, core, pressed, k);
    assert_close(k[1], 1.5 * 12 * 0.125, 1e-13);
    /* 0.1 from the side x = 0.5: pressed from x = 0.2 on, with the highest pressure 2 N/(0.3 * 2) */
    int n = pressure_fit(p, count, beside, pressed, k);
    border_moments(pressed, n, m);
    assert_close(m[0][0], 0.6, 1e-12);
    assert_close(k[0] + 0.2 * k[1], 0, 1e-11);
    assert_close(k[0] + 0.5 * k[1], 10, 1e-11);
    assert_close(m[0][0] * k[0] + m[0][1] * k[1], 3, 1e-12);
    assert_close(m[0][1] * k[0] + m[1][1] * k[1], 1.2, 1e-12);
}

/* ---- a square face on the ground */

static const double mass = 2, weight = 20, friction = 0.5;

/* A thin plate of side 1 whose centre of mass lies in the plane of contact, so that friction tilts nothing.
 */
static void plate(little *w, group_face *f, border_piece *pieces, double stick) {
    little_open(w);
    w->friction = (abut_friction){.stick = stick, .slide = friction};
    int body = little_body(w, mass, vec3_make(mass / 12, mass / 12, mass / 6), vec3_zero()),
        ground = little_fixed(w);
    for (int i = 0; i < 4; i++)
        little_contact(w, body, ground, vec3_make(i % 2 ? 0.5 : -0.5, i / 2 ? 0.5 : -0.5, 0),
                       vec3_make(0, 0, 1));
    *f = (group_face){.a = body,
                      .b = ground,
                      .point = w->contacts[0].point,
                      .size = 1,
                      .pieces = pieces,
                      .piece_count = rectangle(-0.5, -0.5, 0.5, 0.5, pieces),
                      .friction = w->friction,
                      .mode = FRICTION_STICK};
    f->point.at = vec3_zero(), f->point.at_rate = vec3_zero();
    f->axis[0] = vec3_make(1, 0, 0), f->axis[1] = vec3_make(0, 1, 0);
    w->g.faces = f, w->g.face_count = 1;
    for (int i = 0; i < 4; i++) w->contacts[i].face = 1;
    little_gravity(w, vec3_make(0, 0, -10));
}

/* The plate spins: w' = -mu N 0.3826 / I; the loads add up to that torque. */
static void plate_spins(void **state) {
    (void)state;
    little w;
    group_face f;
    border_piece pieces[4];
    plate(&w, &f, pieces, friction);
    w.motions[0].velocity.angular = vec3_make(0, 0, 3);
    little_choose(&w);
    double torque = friction * weight * 0.38259785823210635, sum = 0;
    assert_int_equal(f.mode, FRICTION_SLIP);
    assert_close(w.x[0].angular.z, -torque / (mass / 6), 1e-12);
    assert_close(vec3_length(w.x[0].linear), 0, 1e-12);
    for (int i = 0; i < 4; i++) sum += vec3_cross(w.contacts[i].point.at, w.loads[i].friction).z;
    assert_close(sum, -torque, 1e-12);
    little_close(&w);
}

/* A torque holds to mu N 0.3826, a push to mu N; beyond, the plate begins to slip, in translation or spin
 * alone by symmetry. */
static void plate_holds_and_slips(void **state) {
    (void)state;
    const double most[2] = {0.6 * weight, 0.6 * weight * 0.38259785823210635};
    for (int kind = 0; kind < 2; kind++)
        for (int beyond = 0; beyond < 2; beyond++) {
            little w;
            group_face f;
            border_piece pieces[4];
            plate(&w, &f, pieces, 0.6);
            double pull = most[kind] * (beyond ? 1 + 1e-8 : 1 - 1e-8);
            if (kind == 0)
                w.wrenches[0].linear.x += pull;
            else
                w.wrenches[0].angular.z += pull;
            little_choose(&w);
            assert_int_equal(f.mode, beyond ? FRICTION_SLIP : FRICTION_STICK);
            double left = beyond ? pull - most[kind] * friction / 0.6 : 0;
            assert_close(w.x[0].linear.x, kind == 0 ? left / mass : 0, 1e-10);
            assert_close(w.x[0].angular.z, kind == 1 ? left / (mass / 6) : 0, 1e-10);
            if (!beyond) assert_close(w.loads[0].margin, 1e-8 + FORCES_ALLOWANCE, 1e-11);
            little_close(&w);
        }
}

/* Pushed beside its centre the plate begins to slide and turn at once: the acceleration is the twist that
 * friction opposes, which is the least of |r|^2_M / 2 - pull . r + H(r) (no other twist has less). */
static void plate_begins_with_least(void **state) {
    (void)state;
    uint64_t seed = 77;
    for (int n = 0; n < 50; n++) {
        little w;
        group_face f;
        border_piece pieces[4];
        plate(&w, &f, pieces, friction);
        double pull[3];
        for (int k = 0; k < 3; k++) pull[k] = any_number(&seed) * (k < 2 ? 2 : 1) * friction * weight;
        w.wrenches[0].linear.x += pull[0], w.wrenches[0].linear.y += pull[1],
            w.wrenches[0].angular.z += pull[2];
        little_choose(&w);
        const double r[3] = {w.x[0].linear.x, w.x[0].linear.y, w.x[0].angular.z};
        double value = 0;
        for (int trial = 0; trial < 40; trial++) {
            double q[3], g[3][3], h = 0;
            for (int k = 0; k < 3; k++)
                q[k] = r[k] + (trial ? any_number(&seed) * (trial % 2 ? 1e-2 : 1) : 0);
            border_slip(pieces, 4, q, g);
            for (int k = 0; k < 3; k++) h += (friction * weight * g[k][0] - pull[k]) * q[k];
            h += mass * (q[0] * q[0] + q[1] * q[1]) / 2 + mass / 6 * q[2] * q[2] / 2;
            if (trial == 0) value = h;
            if (h < value - 1e-12) fail_msg("case %d: the value %.17g is below %.17g", n, h, value);
        }
        assert_int_equal(w.forces.outcome, FORCES_SOLVED);
        little_close(&w);
    }
}

static abut_status choose_once(const abut_context *context, void *user) {
    (void)user;
    little w;
    group_face f;
    border_piece pieces[4];
    plate(&w, &f, pieces, friction);
    w.wrenches[0].linear.x = friction * weight, w.wrenches[0].angular.z = friction * weight;
    forces_config config = forces_default_config();
    arena memory;
    arena_init(&memory, context);
    group_scratch scratch = {&memory, w.scratch.lcp};
    abut_status status = forces_choose(&w.g, &config, &scratch, w.x, w.loads, w.multipliers, &w.forces, NULL);
    arena_free(&memory);
    little_close(&w);
    return status;
}

static void memory_runs_out(void **state) {
    (void)state;
    assert_true(support_fail_each(choose_once, NULL) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spin_of_square_and_disc),
                                       cmocka_unit_test(slip_of_rectangles),
                                       cmocka_unit_test(parts_and_gradients),
                                       cmocka_unit_test(pressure_beside_the_core),
                                       cmocka_unit_test(plate_spins),
                                       cmocka_unit_test(plate_holds_and_slips),
                                       cmocka_unit_test(plate_begins_with_least),
                                       cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
