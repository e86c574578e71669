/* The flat end of a cylinder and its rim in the exact clock: standing, tipping, rocking, rolling on the rim,
 * lying partly over an edge, all against closed forms. */
#include "trial.h"

#define PI 3.14159265358979323846
#define G  9.81

static double tilt_of(const trial *t, int body) { /* sine of the angle between the axis and the vertical */
    abut_quat q = abut_sim_motion(t->sim, body).rotation;
    double x = 2 * (q.x * q.z + q.w * q.y), y = 2 * (q.y * q.z - q.w * q.x);
    return sqrt(x * x + y * y);
}

/* On a slope a standing cylinder tips over just when tan(slope) > r / (h / 2), whichever way down is; here
 * gravity is tilted.  The time in which it is seen to: with I about the rim's point, theta'' = m g (h/2 sin -
 * r cos) / I at the start, so at a thousandth beyond balance theta is of order 1e-3 after 1 s. */
static void a_cylinder_tips_at_its_angle_whichever_way(void **state) {
    (void)state;
    const double r = 0.5, h = 1,
                 I = (3 * r * r + h * h) / 12 + r * r + h * h / 4; /* of 1 kg, about the rim */
    for (int i = 0; i < 16; i++) {
        double way = 0.2 + i * PI / 7, part = i % 2 ? 1.001 : 0.999, tan = part * r / (h / 2);
        double c = 1 / sqrt(1 + tan * tan), s = tan * c;
        char text[512];
        trial t;
        snprintf(text, sizeof text,
                 "world { gravity = {%.17g, %.17g, %.17g} }\nmaterial { friction = 3 }\n" FLOOR
                 "body { shape = cylinder {%g, %g}, position = {0, 0, %g} }",
                 G * s * cos(way), G * s * sin(way), -G * c, r, h, h / 2);
        start(&t, text);
        advance(&t, 0.1);
        double acceleration = part > 1 ? G * (h / 2 * s - r * c) / I : 0;
        /* the lever grows with theta: theta = a (cosh(k t) - 1) / k^2 with k^2 < g d / I < 12 /s^2, k t <
         * 0.35: 1 % */
        close_to(tilt_of(&t, 1), acceleration * 0.005, 0.02 * acceleration * 0.005);
        finish(&t);
    }
}

/* Rocking: a cylinder that tips to and fro over its rim turns about one point of it and then, without bounce,
 * about the opposite one; the impulses there are along the floor and up, so angular momentum about that point
 * is kept,
 *
 *     w'/w = (I_c + m (h^2/4 - r^2)) / (I_c + m (h^2/4 + r^2)),
 *
 * and from theta0 the first landing comes after T with theta0 -> 0 under theta'' = -m g (r cos - h/2 sin) /
 * I. */
static void a_cylinder_rocks_over_its_rim(void **state) {
    (void)state;
    const double r = 0.1, h = 0.4, theta0 = 0.2, Ic = (3 * r * r + h * h) / 12, d = h * h / 4,
                 I = Ic + d + r * r, ratio = (Ic + d - r * r) / I;
    const double energy =
        G * (r * sin(theta0) + h / 2 * cos(theta0) - h / 2); /* 1/2 I w^2 at the first landing */
    double w = sqrt(2 * energy / I);
    for (int i = 0; i < 5; i++) {
        double way = 0.1 + 1.3 * i;
        char text[512];
        trial t;
        snprintf(
            text, sizeof text,
            "material { friction = 1 }\n" FLOOR
            "body { shape = cylinder {%g, %g}, position = {0, 0, %.17g}, rotation = {%g, %.17g, %.17g, 0} }",
            r, h, r * sin(theta0) + h / 2 * cos(theta0), theta0, cos(way), sin(way));
        start(&t, text);
        advance(&t, 0.7);
        double expected = w;
        for (int k = 0; k < 3; k++) {
            const abut_event *e = nth(&t, ABUT_EVENT_IMPACT, k);
            if (!e) fail_msg("impact %d is missing", k);
            double mass = 1000 * PI * r * r * h, before = 0.5 * mass * I * expected * expected;
            close_to(e->energy_before, before, 1e-6 * before);
            close_to(e->energy_after, before * ratio * ratio, 1e-6 * before);
            expected *= ratio;
        }
        finish(&t);
    }
}

/* A disc that rolls in a circle (a thin cylinder of radius a and height 2 k, at lean theta between its plane
 * and the floor): with the precession W about the vertical and the spin n of the frame and body together
 * along the axis, the steady motion satisfies the balance of moments about the contact point.  In the frame
 * e1 (up the disc, from the rim to the centre), e2 (horizontal, along the way), e3 (axis): the angular
 * velocity is W sin e1 + s e3, the arm from the contact to the centre of mass is a e1 + k e3.  The centre
 * stays where it is when a s = -k W sin (then the contact runs around a fixed centre at the rate W and every
 * velocity is horizontal and zero): the motion looked at here has the centre at rest, forces N = m g alone,
 * and the moment of N about the centre turns the angular momentum:
 *
 *     (L turns at W about the vertical)    |W x L| = m g (a cos theta - k sin theta). */
static void a_disc_spins_on_its_rim_about_a_centre_at_rest(void **state) {
    (void)state;
    const double a = 0.2, k = 0.01, theta = 0.3, C = cos(theta), S = sin(theta);
    const double across = (3 * a * a + 4 * k * k) / 12, axial = a * a / 2; /* of 1 kg */
    /* up = S e1 + C e3; w = W S e1 + s e3 with s from w x (arm) = 0: (W S, 0, s) parallel to (a, 0, k) */
    const double s_over_W = k * S / a;
    /* L = W (across S e1 + axial s/W e3); up x L has only e2: W (C across S - S axial s/W) */
    const double turn = C * across * S - S * axial * s_over_W;
    const double W = sqrt(G * (a * C - k * S) / turn), spin1 = W * S, spin3 = W * s_over_W;
    trial t;
    char text[768];
    /* e3 leans from the vertical by theta towards -x: e3 = (-S, 0, C), e1 = (C, 0, S); centre at height a S +
     * k C */
    snprintf(text, sizeof text,
             "material { friction = 1 }\n" FLOOR
             "body { shape = cylinder {%g, %g}, position = {0, 0, %.17g}, rotation = {%.17g, 0, 1, 0}, "
             "spin = {%.17g, 0, %.17g} }",
             a, 2 * k, a * S + k * C, -theta, spin1 * C - spin3 * S, spin1 * S + spin3 * C);
    start(&t, text);
    advance(&t, 1);
    abut_motion m = abut_sim_motion(t.sim, 1);
    close_to(m.center.x, 0, 1e-6);
    close_to(m.center.y, 0, 1e-6);
    close_to(m.center.z, a * S + k * C, 1e-6);
    /* the axis has turned by W t about the vertical */
    abut_quat q = m.rotation;
    close_to(2 * (q.x * q.z + q.w * q.y), -S * cos(W), 1e-5);
    close_to(2 * (q.y * q.z - q.w * q.x), -S * sin(W), 1e-5);
    assert_int_equal(abut_sim_audit(t.sim).storms, 0);
    finish(&t);
}

/* The general steady rolling: the centre goes round in a circle of radius R at the rate W, the disc (thin: k
 * -> 0 in the formula, so k is small here and its terms kept) leans by theta and rolls without slip. Velocity
 * of the centre v = w x (a e1 + k e3) is along e2 and equals W R (about the vertical axis of the circle).
 * Newton: the contact force is m g up and m W^2 R inwards; Euler about the centre: W up x L = (-arm) x F. */
static void a_disc_rolls_in_a_circle(void **state) {
    (void)state;
    const double a = 0.2, k = 0.005, theta = 1.2, C = cos(theta), S = sin(theta), R = 0.7;
    const double across = (3 * a * a + 4 * k * k) / 12, axial = a * a / 2;
    /* e3 = (-S, 0, C) and e1 = (C, 0, S) at the start, the contact below the side -e1 of the centre: at x <
     * centre. w = W S e1 + s e3;  w x (a e1 + k e3) = (s a - W S k) e2, e2 = e3 x e1 = (0, 1, 0). The centre
     * of the circle is at x = R' from the body's centre, with velocity y of the body = -W R'. Inward
     * acceleration W^2 R' along +x.  F = m (W^2 R', 0, g). Moment about the centre: (-a e1 - k e3) x F = M
     * e2;  M = -(z-part): for p = (px, 0, pz): (p x F)_y = pz Fx - px Fz. up x L for L = (L1 e1 + L3 e3):
     * y-part = Lx, where Lx = L1 C - L3 S.  So W Lx = M. */
    const double px = -a * C + k * S, pz = -a * S - k * C;
    /* s = (-W R + W S k) / a =: W q, for R' = R */
    const double q = (-R + S * k) / a, lx = across * S * C - axial * q * S;
    /* W^2 lx = pz W^2 R - px g */
    const double W = sqrt(-px * G / (lx - pz * R));
    trial t;
    char text[768];
    snprintf(text, sizeof text,
             "material { friction = 5 }\n" FLOOR
             "body { shape = cylinder {%g, %g}, position = {%.17g, 0, %.17g}, rotation = {%.17g, 0, 1, 0}, "
             "velocity = {0, %.17g, 0}, spin = {%.17g, 0, %.17g} }",
             a, 2 * k, -R, a * S + k * C, -theta, -W * R, W * S * C - W * q * S, W * S * S + W * q * C);
    start(&t, text);
    advance(&t, 1);
    abut_motion m = abut_sim_motion(t.sim, 1);
    close_to(m.center.x, -R * cos(W), 1e-5);
    close_to(m.center.y, -R * sin(W), 1e-5);
    close_to(m.center.z, a * S + k * C, 1e-6);
    assert_int_equal(abut_sim_audit(t.sim).storms, 0);
    finish(&t);
}

/* A cylinder that stands with part of its end on a box falls just when its centre is beyond the edge,
 * whatever the direction of the edge is. */
static void a_cylinder_falls_when_its_centre_is_beyond_the_edge(void **state) {
    (void)state;
    for (int i = 0; i < 12; i++) {
        double way = 0.15 + i * PI / 6.5, beyond = i % 2 ? 1e-4 : -1e-4;
        char text[768];
        trial t;
        snprintf(text, sizeof text,
                 "material { friction = 1 }\n"
                 "body { shape = solid.box {1, 2, 1}, position = {%.17g, %.17g, -0.5}, rotation = {%.17g, 0, "
                 "0, 1}, "
                 "fixed = true }\n"
                 "body { shape = cylinder {0.2, 0.3}, position = {0, 0, 0.15} }",
                 -(0.5 + beyond) * cos(way), -(0.5 + beyond) * sin(way), way);
        start(&t, text);
        advance(&t, 0.5);
        if ((tilt_of(&t, 1) > 1e-6) != (beyond > 0))
            fail_msg("edge towards %g, centre %g beyond it: sine of the tilt %g", way, beyond,
                     tilt_of(&t, 1));
        finish(&t);
    }
}

/* x = v t - mu g t^2 / 2 until it stops; mu r < h/2 mu... it stays upright where mu h/2 < r. */
static void a_standing_cylinder_slides_to_rest(void **state) {
    (void)state;
    trial t;
    start(&t, "material { friction = 0.3 }\n" FLOOR
              "body { shape = cylinder {0.2, 0.3}, position = {0, 0, 0.15}, velocity = {0.6, 0.8, 0} }");
    advance(&t, 0.2);
    double way = 0.2 - 0.15 * G * 0.04;
    close_to(abut_sim_motion(t.sim, 1).center.x, 0.6 * way, 1e-8);
    close_to(abut_sim_motion(t.sim, 1).center.y, 0.8 * way, 1e-8);
    advance(&t, 1);
    double stop = 1 / (2 * 0.3 * G);
    close_to(abut_sim_motion(t.sim, 1).center.x, 0.6 * stop, 1e-7);
    close_to(abut_sim_motion(t.sim, 1).center.y, 0.8 * stop, 1e-7);
    finish(&t);
}

/* Spinning about its axis, the rim rubs: M = -mu m g r, I = m r^2 / 2, so w falls by 2 mu g / r a second. */
static void a_standing_cylinder_spins_down(void **state) {
    (void)state;
    trial t;
    start(&t, "material { friction = 0.2 }\n" FLOOR
              "body { shape = cylinder {0.2, 0.3}, position = {0, 0, 0.15}, spin = {0, 0, 10} }");
    advance(&t, 0.4);
    close_to(abut_sim_motion(t.sim, 1).spin.z, 10 - 2 * 0.2 * G / 0.2 * 0.4, 1e-7);
    advance(&t, 1);
    close_to(abut_sim_motion(t.sim, 1).spin.z, 0, 1e-9);
    close_to(abut_sim_motion(t.sim, 1).center.x, 0, 1e-8);
    finish(&t);
}

/* A thin disc flies against another, and their rims meet while a second minimum of the distance between them
 * appears: whatever the frames, which end steps, the impacts are the same, and nothing overlaps. */
static void rims_meet_while_their_places_change_number(void **state) {
    (void)state;
    const char *frames[2] = {"1/30", "1/2000"};
    double times[2];
    for (int k = 0; k < 2; k++) {
        char text[800];
        trial t;
        snprintf(
            text, sizeof text,
            "world { gravity = {0, 0, 0}, frame = %s }\n"
            "body { shape = cylinder {0.2, 0.02}, rotation = {2.9948330196384028, -0.0900766685925243, "
            "-0.4972133724880708, 0.04536157603466414}, fixed = true }\n"
            "body { shape = cylinder {0.3, 0.01}, mass = 1, position = {-1.1266, 0.1034, -0.9849}, "
            "rotation = {2.680874605626738, -0.685502152312735, 0.3689234914545821, -0.727090921166695}, "
            "velocity = {5.121, -0.191, 4.023}, spin = {0.398, 4.913, -2.9} }",
            frames[k]);
        start(&t, text);
        advance(&t, 0.3);
        const abut_event *second = nth(&t, ABUT_EVENT_IMPACT, 1);
        assert_non_null(second);
        times[k] = second->time;
        finish(&t);
    }
    close_to(times[0], times[1], 1e-8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cylinder_tips_at_its_angle_whichever_way),
        cmocka_unit_test(a_cylinder_rocks_over_its_rim),
        cmocka_unit_test(a_disc_spins_on_its_rim_about_a_centre_at_rest),
        cmocka_unit_test(a_disc_rolls_in_a_circle),
        cmocka_unit_test(a_cylinder_falls_when_its_centre_is_beyond_the_edge),
        cmocka_unit_test(a_standing_cylinder_slides_to_rest),
        cmocka_unit_test(a_standing_cylinder_spins_down),
        cmocka_unit_test(rims_meet_while_their_places_change_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
