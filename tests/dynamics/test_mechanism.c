/* Mechanisms in motion: hinges, resting forces and projection together, integrated here by the classical
 * Runge-Kutta method and compared with the independent trajectories of ../shared/reference, family 10
 * (Lagrangian equations, 12 digits), and with closed forms. */
#include "little.h"

#include "math/angle.h"

enum { MAX_HINGES = 8 };

typedef struct mechanism {
    little w;
    hinge hinges[MAX_HINGES];
    int count;
} mechanism;

static void add_hinge(mechanism *m, abut_hinge_kind kind, int a, int b, vec3 at, vec3 axis, double pitch) {
    abut_hinge_def def = abut_default_hinge();
    def.kind = kind, def.a = a, def.b = b, def.at = at, def.axis = axis, def.pitch = pitch;
    little_hinge(&m->w, &def, &m->hinges[m->count++]);
}

/* Rows of all hinges for the present motions. */
static void refresh(mechanism *m) {
    m->w.g.row_count = 0;
    for (int i = 0; i < m->count; i++) {
        const hinge *h = &m->hinges[i];
        const motion *b = h->b >= 0 ? &m->w.motions[h->b] : NULL;
        m->w.g.row_count += hinge_rows(h, &m->w.motions[h->a], b, 0, m->w.rows + m->w.g.row_count);
    }
}

typedef struct rate {
    vec3 center;
    quat rotation;
    spatial velocity;
} rate;

static void accelerate(mechanism *m, rate *out) {
    forces_config config = forces_default_config();
    refresh(m);
    assert_int_equal(forces_solve(&m->w.g, &config, &m->w.scratch, m->w.x, m->w.loads, m->w.multipliers,
                                  &m->w.forces, NULL),
                     ABUT_OK);
    assert_int_equal(m->w.forces.outcome, FORCES_SOLVED);
    for (int i = 0; i < m->w.g.body_count; i++) {
        const motion *b = &m->w.motions[i];
        out[i] = (rate){b->velocity.linear, quat_rate(b->rotation, b->velocity.angular), m->w.x[i]};
    }
}

static motion advance(motion m, double h, rate r) {
    m.center = vec3_axpy(m.center, h, r.center);
    m.rotation = (quat){m.rotation.w + h * r.rotation.w, m.rotation.x + h * r.rotation.x,
                        m.rotation.y + h * r.rotation.y, m.rotation.z + h * r.rotation.z};
    m.velocity = spatial_axpy(m.velocity, h, r.velocity);
    return m;
}

/* Newton steps of the positions, then the velocities. */
static double project(mechanism *m) {
    project_result p;
    for (int step = 0; step < 2; step++) {
        refresh(m);
        assert_int_equal(project_positions(&m->w.g, &m->w.scratch, false, m->w.x, &p, NULL), ABUT_OK);
        assert_int_equal(p.outcome, PROJECT_DONE);
        for (int i = 0; i < m->w.g.body_count; i++) project_displace(&m->w.motions[i], m->w.x[i]);
    }
    refresh(m);
    assert_int_equal(project_velocities(&m->w.g, &m->w.scratch, m->w.x, &p, NULL), ABUT_OK);
    for (int i = 0; i < m->w.g.body_count; i++) m->w.motions[i].velocity = m->w.x[i];
    double worst = 0;
    for (int i = 0; i < m->w.g.row_count; i++) worst = fmax(worst, fabs(m->w.rows[i].error));
    return worst;
}

static void step(mechanism *m, double h) {
    enum { N = LITTLE_BODIES };
    motion start[N];
    rate k[4][N];
    int n = m->w.g.body_count;
    memcpy(start, m->w.motions, sizeof start);
    const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < n; i++)
            m->w.motions[i] = s ? advance(start[i], at[s] * h, k[s - 1][i]) : start[i];
        accelerate(m, k[s]);
    }
    for (int i = 0; i < n; i++) {
        m->w.motions[i] = start[i];
        for (int s = 0; s < 4; s++) m->w.motions[i] = advance(m->w.motions[i], h * weight[s], k[s][i]);
        m->w.motions[i].rotation = quat_unit(m->w.motions[i].rotation);
    }
}

static double angle_of(const mechanism *m, int body) {
    mat3 r = quat_matrix(m->w.motions[body].rotation);
    return angle_atan2(r.cx.y, r.cx.x);
}

static double energy_of(const mechanism *m, double g) {
    double sum = 0;
    for (int i = 0; i < m->w.g.body_count; i++)
        sum += body_kinetic_energy(&m->w.inertias[i], &m->w.motions[i]) +
               m->w.inertias[i].mass * g * m->w.motions[i].center.y;
    return sum;
}

static int add_bar(mechanism *m, double mass, double inertia, vec3 center, double angle, vec3 velocity,
                   double spin) {
    int b = little_body(&m->w, mass, vec3_make(inertia, inertia, inertia), center);
    m->w.motions[b].rotation = abut_quat_from_axis_angle(vec3_make(0, 0, 1), angle);
    m->w.motions[b].velocity = (spatial){velocity, {0, 0, spin}};
    return b;
}

/* The difference of two angles, within half a turn. */
static double turn(double a, double b) { return angle_unwrap(a - b, 0); }

static void double_pendulum(void **state) {
    (void)state;
    mechanism m = {.count = 0};
    little_open(&m.w);
    int bar1 =
        add_bar(&m, 1, 1.0 / 12, vec3_make(0.4987474933020272, -0.03536860083385145, 0), 1.5, vec3_zero(), 0);
    int bar2 = add_bar(&m, 0.5, 0.026666666666666672, vec3_make(1.3208935481318904, 0.16466324523443543, 0.2),
                       2.2, vec3_zero(), 0);
    little_gravity(&m.w, vec3_make(0, -9.81, 0));
    vec3 z = {0, 0, 1};
    add_hinge(&m, ABUT_HINGE_PIN, bar1, -1, vec3_zero(), z, 0);
    add_hinge(&m, ABUT_HINGE_PIN, bar2, bar1, vec3_make(0.9974949866040544, -0.0707372016677029, 0), z, 0);
    double before = energy_of(&m, 9.81);
    static const double want[2][4] = {
        {-1.4155889210209176, -0.8366071593898092, -2.884815673521002, 0.3801302361736901},
        {0.362765001824807, 1.3695564092577168, 3.558247282891907, 6.521249187942037}};
    for (int second = 0; second < 2; second++) {
        for (int i = 0; i < 1000; i++) step(&m, 1e-3), assert_true(project(&m) < 1e-12);
        /* Runge-Kutta with h = 1e-3: some h^4 times derivatives of the order of 10^4 */
        assert_close(turn(angle_of(&m, bar1), want[second][0]), 0, 3e-8);
        assert_close(turn(angle_of(&m, bar2), want[second][1]), 0, 3e-8);
        assert_close(m.w.motions[bar1].velocity.angular.z, want[second][2], 3e-7);
        assert_close(m.w.motions[bar2].velocity.angular.z, want[second][3], 3e-7);
    }
    assert_close(energy_of(&m, 9.81), before, 1e-8);
    little_close(&m.w);
}

/* Four pins in a loop: 20 rows, of which 3 are redundant. */
static void four_bar(void **state) {
    (void)state;
    mechanism m = {.count = 0};
    little_open(&m.w);
    int crank = add_bar(&m, 1, 1.0 / 12, vec3_make(0.2701511529340699, 0.42073549240394825, 0), 1,
                        vec3_make(-2.5244129544236893, 1.6209069176044193, 0), 6);
    int coupler =
        add_bar(&m, 3, 2.25, vec3_make(1.7903385971632193, 1.6705724686114434, 0.2), 0.5856417730643093,
                vec3_make(-3.9894349076292355, 1.6445700429062158, 0), -1.2777579366498428);
    int rocker = add_bar(&m, 2.5, 1.3020833333333333, vec3_make(3.0201874442291494, 1.2498369762074952, 0.4),
                         1.5546456692877555, vec3_make(-1.4650219532055462, 0.02366312530179643, 0),
                         1.1721704359003748);
    little_gravity(&m.w, vec3_make(0, -9.81, 0));
    vec3 z = {0, 0, 1};
    add_hinge(&m, ABUT_HINGE_PIN, crank, -1, vec3_zero(), z, 0);
    add_hinge(&m, ABUT_HINGE_PIN, coupler, crank, vec3_make(0.5403023058681398, 0.8414709848078965, 0), z, 0);
    add_hinge(&m, ABUT_HINGE_PIN, rocker, coupler, vec3_make(3.040374888458299, 2.4996739524149905, 0), z, 0);
    add_hinge(&m, ABUT_HINGE_PIN, rocker, -1, vec3_make(3, 0, 0), z, 0);
    double before = energy_of(&m, 9.81);
    for (int i = 0; i < 1000; i++) step(&m, 1e-3), assert_true(project(&m) < 1e-12);
    assert_close(turn(angle_of(&m, crank), 1.0971250166056539), 0, 1e-8);
    assert_close(m.w.motions[crank].velocity.angular.z, 5.520343298667583, 1e-7);
    assert_close(energy_of(&m, 9.81), before, 1e-7);
    project_result p;
    refresh(&m);
    assert_int_equal(project_velocities(&m.w.g, &m.w.scratch, m.w.x, &p, NULL), ABUT_OK);
    assert_int_equal(p.rows, 20);
    assert_int_equal(p.rank, 17);
    little_close(&m.w);
}

/* The loop a little open, as between two corrections: its redundant rows disagree by about as much, which is
 * no contradiction; wide open it is one. */
static void slightly_open_loop(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        little w;
        little_open(&w);
        int plank = little_body(&w, 2, vec3_make(1, 1, 1), vec3_zero());
        w.motions[plank].velocity.angular = vec3_make(0, 0, 3);
        little_gravity(&w, vec3_make(0, -10, 0));
        abut_hinge_def def = abut_default_hinge();
        def.kind = ABUT_HINGE_PIN, def.a = plank;
        hinge h[2];
        little_hinge(&w, &def, &h[0]);
        def.at.z = 0.5; /* a second pin on the same axis: 5 redundant rows */
        little_hinge(&w, &def, &h[1]);
        h[1].pb.x += wide ? 0.1 : 1e-7; /* not quite on it */
        h[1].pa.x -= wide ? 0.1 : 1e-7;
        int count = hinge_rows(&h[0], &w.motions[plank], NULL, 0, w.rows);
        hinge_rows(&h[1], &w.motions[plank], NULL, 0, w.rows + count);
        little_solve(&w);
        assert_int_equal(w.forces.outcome, wide ? FORCES_INCONSISTENT : FORCES_SOLVED);
        assert_close(w.x[plank].linear.y, 0, wide ? 10 : 1e-5);
        little_close(&w);
    }
}

/* A nut on a screw under gravity: travel = pitch * angle, so (m p^2 + I) angle'' = -m g p. */
static void screw_under_gravity(void **state) {
    (void)state;
    mechanism m = {.count = 0};
    little_open(&m.w);
    int nut = little_body(&m.w, 2, vec3_make(0.3, 0.3, 0.05), vec3_make(0, 0, 0));
    little_gravity(&m.w, vec3_make(0, 0, -9.81));
    add_hinge(&m, ABUT_HINGE_SCREW, nut, -1, vec3_make(0.1, 0, 0), vec3_make(0, 0, 1), 0.2);
    little_solve(&m.w);
    /* the axis stands 0.1 beside the centre: I about it is 0.05 + 2 * 0.01 */
    double alpha = -2 * 9.81 * 0.2 / (2 * 0.04 + 0.07);
    assert_close(m.w.x[nut].angular.z, alpha, 1e-12);
    assert_close(m.w.x[nut].linear.z, 0.2 * alpha, 1e-12);
    little_close(&m.w);
}

/* Cardan's joint between two shafts on pins, bent by beta in the plane x = 0.  The ratio of the speeds is
 * cos beta / (1 - sin^2 beta sin^2 theta), theta the angle of the driving shaft's arm from the x axis: cos
 * beta when the arm lies along x, 1 / cos beta a quarter turn later. */
static void cardan_joint(void **state) {
    (void)state;
    double beta = 0.7;
    for (int arm = 0; arm < 2; arm++) {
        mechanism m = {.count = 0};
        little_open(&m.w);
        int drive = little_body(&m.w, 1, vec3_make(1, 1, 1), vec3_make(0, 0, -1));
        vec3 out = vec3_make(0, sin(beta), cos(beta));
        int driven = little_body(&m.w, 1, vec3_make(1, 1, 1), out);
        add_hinge(&m, ABUT_HINGE_PIN, drive, -1, vec3_make(0, 0, -1), vec3_make(0, 0, 1), 0);
        add_hinge(&m, ABUT_HINGE_PIN, driven, -1, out, out, 0);
        /* the cross: one arm fixed in `drive`, orthogonal to z; the other fixed in `driven`, orthogonal to
         * `out` */
        abut_hinge_def def = abut_default_hinge();
        def.kind = ABUT_HINGE_UNIVERSAL, def.a = drive, def.b = driven;
        def.axis = arm ? vec3_make(0, 1, 0) : vec3_make(1, 0, 0);
        def.axis_b = arm ? vec3_make(1, 0, 0) : vec3_cross(out, vec3_make(1, 0, 0));
        m.w.g.row_count = 0;
        refresh(&m);
        int first = m.w.g.row_count;
        hinge h;
        little_hinge(&m.w, &def, &h);
        /* the ball part of the joint is already held by the pins' geometry: keep the angular row only */
        m.w.rows[first] = m.w.rows[first + 3], m.w.g.row_count = first + 1;
        m.w.motions[drive].velocity.angular = vec3_make(0, 0, 1);
        project_result p;
        /* a velocity with the drive at exactly 1: add a motor row */
        m.w.rows[m.w.g.row_count] = (row){
            .a = drive, .b = -1, .ja = {{0, 0, 0}, {0, 0, 1}}, .rate = 1, .lo = -INFINITY, .hi = INFINITY};
        m.w.g.row_count++;
        assert_int_equal(project_velocities(&m.w.g, &m.w.scratch, m.w.x, &p, NULL), ABUT_OK);
        assert_int_equal(p.outcome, PROJECT_DONE);
        assert_close(m.w.x[drive].angular.z, 1, 1e-13);
        double ratio = vec3_dot(m.w.x[driven].angular, out);
        assert_close(fabs(ratio), arm ? 1 / cos(beta) : cos(beta), 1e-12);
        little_close(&m.w);
    }
}

/* Four corners of a face on a plane, the normal of one of them turned by d and its gap e. */
static int face_of_four(little *w, int floor, double d, double e) {
    int block = little_body(w, 2, vec3_make(1, 1, 1), vec3_make(0, 0, 1));
    for (int k = 0; k < 4; k++) {
        vec3 at = vec3_make(k & 1 ? 1 : -1, k & 2 ? 1 : -1, 0), up = vec3_make(0, 0, 1);
        vec3 normal = k == 3 ? vec3_unit(vec3_make(d, 0, 1)) : up;
        group_contact *c = &w->contacts[little_contact(w, block, floor, at, normal)];
        c->pressed = true, c->point.gap = k == 3 ? e : 0;
    }
    return block;
}

/* Three corners say that the face lies flat, the fourth differs from them by d along the face.  Errors of
 * rounding are not chased along it, nor is the slip stopped; where d is an angle that can be seen the place
 * follows: e / d. */
static void nearly_dependent_rows_move_nothing_aside(void **state) {
    (void)state;
    const double turns[] = {1e-3, 1e-7, 1e-9};
    for (int i = 0; i < 3; i++) {
        double d = turns[i], e = 1e-13;
        little w;
        little_open(&w);
        int block = face_of_four(&w, little_fixed(&w), d, e);
        w.motions[block].velocity.linear = vec3_make(3, 4, 0);
        project_result p;
        assert_int_equal(project_positions(&w.g, &w.scratch, false, w.x, &p, NULL), ABUT_OK);
        double moved = vec3_length(w.x[block].linear) + vec3_length(w.x[block].angular);
        bool seen = d > 1e-4;
        assert_true(moved <= (seen ? 3 * e / d : 1e2 * e));
        assert_true(p.remaining <= (seen ? 1e-3 * e : e));
        assert_int_equal(project_velocities(&w.g, &w.scratch, w.x, &p, NULL), ABUT_OK);
        assert_close(w.x[block].linear.y, 4, 1e-9);
        if (!seen) assert_close(w.x[block].linear.x, 3, 4 * d);
        assert_true(fabs(w.x[block].linear.z) <= 4 * d);
        little_close(&w);
    }
}

/* The same beside a body that sticks, which holds itself and not the others: an error that is no rounding is
 * not chased along the face either, and the body that sticks goes to its anchor. */
static void a_point_that_sticks_holds_its_own_body(void **state) {
    (void)state;
    const double d = 1e-7, e = 1e-9;
    little w;
    little_open(&w);
    int floor = little_fixed(&w), block = face_of_four(&w, floor, d, e);
    int other = little_body(&w, 2, vec3_make(1, 1, 1), vec3_make(5, 0, 1));
    group_contact *c = &w.contacts[little_contact(&w, other, floor, vec3_make(5, 0, 0), vec3_make(0, 0, 1))];
    c->pressed = c->anchored = true, c->mode = FRICTION_STICK;
    c->anchor_a = vec3_make(0, 0, -1), c->anchor_b = vec3_make(5 - e, 0, 0);
    project_result p;
    assert_int_equal(project_positions(&w.g, &w.scratch, false, w.x, &p, NULL), ABUT_OK);
    assert_true(vec3_length(w.x[block].linear) + vec3_length(w.x[block].angular) <= 1e2 * e);
    double tip = w.x[other].linear.x - w.x[other].angular.y; /* of the point one below the centre */
    assert_close(tip, -e, 1e-15);
    little_close(&w);
}

/* A plank on two points 5 mm apart, whose gaps are e and -e: on both it lies turned by 2 e / 5 mm, which
 * lifts its end, a metre away, by 400 e.  Roughly, nothing moves by more than 30 times the error. */
static void roughly_means_not_far(void **state) {
    (void)state;
    const double e = 1e-9;
    for (int roughly = 0; roughly < 2; roughly++) {
        little w;
        little_open(&w);
        int floor = little_fixed(&w);
        int plank = little_body(&w, 1, vec3_make(1.0 / 3, 1.0 / 3, 1.0 / 3), vec3_make(0, 0, 0));
        for (int i = 0; i < 2; i++) {
            int c = little_contact(&w, plank, floor, vec3_make(0.005 * i, 0, 0), vec3_make(0, 0, 1));
            w.contacts[c].point.gap = i ? -e : e, w.contacts[c].pressed = true;
        }
        project_result p;
        assert_int_equal(project_positions(&w.g, &w.scratch, roughly, w.x, &p, NULL), ABUT_OK);
        double end = w.x[plank].linear.z - w.x[plank].angular.y;
        if (roughly)
            assert_true(fabs(end) <= 30 * e && p.remaining <= 2 * e * (1 + 1e-9));
        else
            assert_close(end, 399 * e, 1e-9 * e);
        little_close(&w);
    }
}

/* Projection: quadratic convergence from a large error; least movement: a light body yields to a heavy one.
 */
static void projection_is_newton_in_the_metric_of_masses(void **state) {
    (void)state;
    mechanism m = {.count = 0};
    little_open(&m.w);
    int light = little_body(&m.w, 1, vec3_make(1, 1, 1), vec3_make(0, 0, 0));
    int heavy = little_body(&m.w, 9, vec3_make(9, 9, 9), vec3_make(2, 0, 0));
    add_hinge(&m, ABUT_HINGE_BALL, light, heavy, vec3_make(1, 0, 0), vec3_make(0, 0, 1), 0);
    m.w.motions[light].center.x -= 0.1; /* along the line of centres: no turning; shares 9 : 1 */
    refresh(&m);
    project_result p;
    assert_int_equal(project_positions(&m.w.g, &m.w.scratch, false, m.w.x, &p, NULL), ABUT_OK);
    assert_close(m.w.x[light].linear.x, 0.09, 1e-14);
    assert_close(m.w.x[heavy].linear.x, -0.01, 1e-14);
    assert_close(p.before, 0.1, 1e-15);

    m.w.motions[light].center = vec3_make(0.1, -0.2, 0.15);
    m.w.motions[heavy].rotation = abut_quat_from_axis_angle(vec3_make(0, 0.6, 0.8), 0.3);
    double errors[5];
    for (int k = 0; k < 5; k++) {
        refresh(&m);
        assert_int_equal(project_positions(&m.w.g, &m.w.scratch, false, m.w.x, &p, NULL), ABUT_OK);
        errors[k] = p.before;
        for (int i = 0; i < 2; i++) project_displace(&m.w.motions[i], m.w.x[i]);
    }
    assert_true(errors[1] < 0.2 * errors[0] && errors[2] < 0.2 * errors[1] && errors[4] < 1e-14);
    for (int k = 0; k < 3; k++) assert_true(errors[k + 1] < 2 * errors[k] * errors[k] + 1e-15);
    little_close(&m.w);
}

/* Two rods of different lengths between the same two points: no position satisfies both; the least-squares
 * answer is the mean, and it has a name. */
static void contradicting_hinges_are_named(void **state) {
    (void)state;
    mechanism m = {.count = 0};
    little_open(&m.w);
    int body = little_body(&m.w, 1, vec3_make(1, 1, 1), vec3_make(0, 0, 0));
    abut_hinge_def def = abut_default_hinge();
    def.kind = ABUT_HINGE_ROD, def.a = body, def.at_b = vec3_make(3, 0, 0);
    little_hinge(&m.w, &def, &m.hinges[m.count++]);
    little_hinge(&m.w, &def, &m.hinges[m.count++]);
    m.hinges[1].length = 4;
    refresh(&m);
    project_result p;
    assert_int_equal(project_positions(&m.w.g, &m.w.scratch, false, m.w.x, &p, NULL), ABUT_OK);
    assert_int_equal(p.outcome, PROJECT_INCONSISTENT);
    assert_close(m.w.x[body].linear.x, -0.5, 1e-14);
    assert_close(p.remaining, 0.5, 1e-14);
    assert_int_equal(p.rank, 1);
    little_close(&m.w);
}

/* A sticking point is brought back to its anchor; a slipping one only to the surface. */
static void anchors_hold(void **state) {
    (void)state;
    for (int sticks = 0; sticks < 2; sticks++) {
        little w;
        little_open(&w);
        int floor = little_fixed(&w),
            body = little_body(&w, 1, vec3_make(1, 1, 1), vec3_make(0.3, 0.2, 0.49));
        int c = little_contact(&w, body, floor, vec3_make(0.3, 0.2, -0.01), vec3_make(0, 0, 1));
        w.contacts[c].point.gap = -0.01;
        w.contacts[c].mode = sticks ? FRICTION_STICK : FRICTION_SLIP;
        w.contacts[c].anchored = true;
        w.contacts[c].anchor_a = vec3_make(0, 0, -0.5), w.contacts[c].anchor_b = vec3_zero();
        project_result p;
        for (int k = 0; k < 6; k++) {
            assert_int_equal(project_positions(&w.g, &w.scratch, false, w.x, &p, NULL), ABUT_OK);
            project_displace(&w.motions[body], w.x[body]);
            vec3 tip = vec3_add(w.motions[body].center,
                                quat_rotate(w.motions[body].rotation, w.contacts[c].anchor_a));
            w.contacts[c].point.at = tip, w.contacts[c].point.gap = tip.z;
        }
        vec3 tip = w.contacts[c].point.at;
        assert_close(tip.z, 0, 1e-14);
        if (sticks)
            assert_close(hypot(tip.x, tip.y), 0, 1e-13);
        else
            assert_close(hypot(tip.x, tip.y), hypot(0.3, 0.2), 1e-3);
        little_close(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_pendulum),
        cmocka_unit_test(four_bar),
        cmocka_unit_test(slightly_open_loop),
        cmocka_unit_test(screw_under_gravity),
        cmocka_unit_test(cardan_joint),
        cmocka_unit_test(nearly_dependent_rows_move_nothing_aside),
        cmocka_unit_test(a_point_that_sticks_holds_its_own_body),
        cmocka_unit_test(roughly_means_not_far),
        cmocka_unit_test(projection_is_newton_in_the_metric_of_masses),
        cmocka_unit_test(contradicting_hinges_are_named),
        cmocka_unit_test(anchors_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
