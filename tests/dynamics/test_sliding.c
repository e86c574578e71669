/* Sliding bodies in motion against the independent trajectories of ../shared/reference, family 08: vertices
 * on the plane z = 0, integrated here by the classical Runge-Kutta method; stick at the end. */
#include "little.h"

#include "math/angle.h"

enum { FEET = 4 };

typedef struct slider {
    little w;
    int body, count;
    vec3 feet[FEET]; /* body axes, from the centre of mass */
} slider;

static void open_slider(slider *s, double mass, vec3 inertia, double height, vec3 gravity, double mu) {
    memset(s, 0, sizeof *s);
    little_open(&s->w);
    little_fixed(&s->w);
    s->body = little_body(&s->w, mass, inertia, vec3_make(0, 0, height));
    little_gravity(&s->w, gravity);
    s->w.friction = (abut_friction){.stick = mu, .slide = mu};
}

static void add_foot(slider *s, vec3 foot) {
    s->feet[s->count++] = foot;
    little_contact(&s->w, s->body, 0, vec3_add(s->w.motions[s->body].center, foot), vec3_make(0, 0, 1));
}

/* Contact points where the feet are now. */
static void refresh(slider *s) {
    const motion *m = &s->w.motions[s->body];
    for (int i = 0; i < s->count; i++) {
        contact_point *p = &s->w.contacts[i].point;
        p->at = vec3_add(m->center, quat_rotate(m->rotation, s->feet[i]));
        p->at_rate = motion_velocity_at(m, p->at);
        p->gap = p->at.z;
    }
}

static spatial accelerate(slider *s) {
    forces_config config = forces_default_config();
    little *w = &s->w;
    refresh(s);
    assert_int_equal(
        forces_solve(&w->g, &config, &w->scratch, w->x, w->loads, w->multipliers, &w->forces, NULL), ABUT_OK);
    return w->x[s->body];
}

static motion advance(motion m, double h, spatial v, spatial a) {
    quat d = quat_rate(m.rotation, v.angular);
    m.center = vec3_axpy(m.center, h, v.linear);
    m.rotation = (quat){m.rotation.w + h * d.w, m.rotation.x + h * d.x, m.rotation.y + h * d.y,
                        m.rotation.z + h * d.z};
    m.velocity = spatial_axpy(m.velocity, h, a);
    return m;
}

/* The rotation is advanced with the mean spin, which is exact to second order; all motion here turns about z
 * only, for which the mean spin of Runge-Kutta is of fourth order and the quaternion step is taken as a chord
 * of the circle. */
static void step(slider *s, double h) {
    motion *m = &s->w.motions[s->body], start = *m;
    spatial v[4], a[4];
    const double at[4] = {0, 0.5, 0.5, 1};
    for (int k = 0; k < 4; k++) {
        *m = k ? advance(start, at[k] * h, v[k - 1], a[k - 1]) : start;
        m->rotation = quat_unit(m->rotation);
        v[k] = m->velocity, a[k] = accelerate(s);
    }
    spatial mean_v = {{0, 0, 0}, {0, 0, 0}}, mean_a = mean_v;
    const double weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    for (int k = 0; k < 4; k++)
        mean_v = spatial_axpy(mean_v, weight[k], v[k]), mean_a = spatial_axpy(mean_a, weight[k], a[k]);
    *m = start;
    spatial turn = {vec3_scale(mean_v.linear, h), vec3_scale(mean_v.angular, h)};
    project_displace(m, turn);
    m->velocity = spatial_axpy(start.velocity, h, mean_a);
}

static double angle_of(const slider *s) {
    mat3 r = quat_matrix(s->w.motions[s->body].rotation);
    return angle_atan2(r.cx.y, r.cx.x);
}

static void choose(slider *s) {
    refresh(s);
    little_choose(&s->w);
    assert_int_equal(s->w.forces.outcome, FORCES_SOLVED);
}

static void tripod(void **state) {
    (void)state;
    slider s;
    open_slider(&s, 1, vec3_make(0.05, 0.05, 0.1), 0.2, vec3_make(0, 0, -9.81), 0.2);
    s.w.motions[s.body].velocity = (spatial){{1, 0.3, 0}, {0, 0, 4}};
    add_foot(&s, vec3_make(0, 0.5, -0.2));
    add_foot(&s, vec3_make(-0.4330127018922193, -0.25, -0.2));
    add_foot(&s, vec3_make(0.4330127018922193, -0.25, -0.2));
    choose(&s);
    static const double want[3][7] = {{0.1, 0.09835076636845139, 0.028827230669995554, 0.353420601609955,
                                       0.9658534173648173, 0.2806251024408935, 3.0684752911030664},
                                      {0.2, 0.1920807421003127, 0.057031362042730856, 0.6157572624571228,
                                       0.8988882972966636, 0.28572357295090417, 2.204994606272661},
                                      {0.4, 0.34674477628244194, 0.11188060456908556, 0.9285358553907186,
                                       0.6308227769385277, 0.24438787318597655, 1.021988229504327}};
    int steps = 0;
    for (int i = 0; i < 3; i++) {
        for (; steps < (int)(want[i][0] * 1000 + 0.5); steps++) step(&s, 1e-3);
        const motion *m = &s.w.motions[s.body];
        assert_close(m->center.x, want[i][1], 1e-9);
        assert_close(m->center.y, want[i][2], 1e-9);
        assert_close(m->center.z, 0.2, 1e-12);
        assert_close(angle_of(&s), want[i][3], 1e-9);
        assert_close(m->velocity.linear.x, want[i][4], 1e-9);
        assert_close(m->velocity.linear.y, want[i][5], 1e-9);
        assert_close(m->velocity.angular.z, want[i][6], 1e-8);
    }
    little_close(&s.w);
}

/* 08-cross-slope: four corners, forces not unique, motion unique; the block does not turn. */
static void across_the_slope(void **state) {
    (void)state;
    slider s;
    double xx = 2.0 / 12 * (1 + 0.04), zz = 2.0 / 6;
    open_slider(&s, 2, vec3_make(xx, xx, zz), 0.1, vec3_make(4.3871653718545875, 0, -8.774330743709175), 0.3);
    s.w.motions[s.body].velocity.linear = vec3_make(0, 2, 0);
    for (int i = 0; i < 4; i++) add_foot(&s, vec3_make(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, -0.1));
    choose(&s);
    static const double want[2][4] = {
        {0.430524661511754, 0.704883847790052, 1.528740816160287, 0.9348419212012105},
        {1.440579533103776, 1.046883530880632, 2.4860049875723833, 0.5025973353047529}};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 500; k++) step(&s, 1e-3);
        const motion *m = &s.w.motions[s.body];
        assert_close(m->center.x, want[i][0], 1e-10);
        assert_close(m->center.y, want[i][1], 1e-10);
        assert_close(m->velocity.linear.x, want[i][2], 1e-10);
        assert_close(m->velocity.linear.y, want[i][3], 1e-10);
        assert_close(m->velocity.angular.z, 0, 1e-10);
    }
    little_close(&s.w);
}

/* 08-spin-three-feet: alpha = 24.525 constant; at w0/alpha the stool stands, sticks, and stays. */
static void stool_stops(void **state) {
    (void)state;
    slider s;
    open_slider(&s, 1, vec3_make(0.02, 0.02, 0.02), 0.1, vec3_make(0, 0, -9.81), 0.25);
    s.w.motions[s.body].velocity.angular.z = 8;
    double half = 0.5, root = 0.86602540378443864676;
    add_foot(&s, vec3_make(0.2, 0, -0.1));
    add_foot(&s, vec3_make(-0.2 * half, 0.2 * root, -0.1));
    add_foot(&s, vec3_make(-0.2 * half, -0.2 * root, -0.1));
    choose(&s);
    double stop = 8 / 24.525 - 1e-11; /* a little before, where friction still has a direction */
    for (int k = 0; k < 400; k++) step(&s, stop / 400);
    assert_close(s.w.motions[s.body].velocity.angular.z, 0, 3e-10);
    assert_close(angle_of(&s), 64 / (2 * 24.525), 1e-10);
    choose(&s); /* slip slower than slip_speed: all stick */
    for (int i = 0; i < 3; i++) assert_int_equal(s.w.contacts[i].mode, FRICTION_STICK);
    assert_close(vec3_length(s.w.x[s.body].angular) + vec3_length(s.w.x[s.body].linear), 0, 1e-10);
    little_close(&s.w);
}

/* Thrown up a slope (08-uphill): stops after 3/(g (sin + mu cos)), turns back, slides down with g (sin - mu
 * cos). */
static void uphill_and_back(void **state) {
    (void)state;
    slider s;
    open_slider(&s, 2, vec3_make(0.2, 0.2, 1.0 / 3), 0.25, vec3_make(5.886, 0, -7.848), 0.5);
    s.w.motions[s.body].velocity.linear.x = -3;
    for (int i = 0; i < 4; i++) add_foot(&s, vec3_make(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, -0.25));
    choose(&s);
    double up = 3 / (5.886 + 0.5 * 7.848) - 1e-11;
    for (int k = 0; k < 50; k++) step(&s, up / 50);
    assert_close(s.w.motions[s.body].velocity.linear.x, 0, 1e-10);
    assert_close(s.w.motions[s.body].center.x, -0.4587155963302752, 1e-12);
    choose(&s);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(s.w.contacts[i].mode, FRICTION_SLIP);
        assert_close(s.w.contacts[i].slip_along.x, 1, 1e-12);
    }
    double down = 0.9896232347094158 - up - 1e-11;
    for (int k = 0; k < 50; k++) step(&s, down / 50);
    assert_close(s.w.motions[s.body].center.x, 0, 1e-10);
    assert_close(s.w.motions[s.body].velocity.linear.x, 1.3416407864998736, 1e-10);
    little_close(&s.w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tripod),
        cmocka_unit_test(across_the_slope),
        cmocka_unit_test(stool_stops),
        cmocka_unit_test(uphill_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
