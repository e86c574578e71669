/* Bounces without end: their times form a geometric series, t_n = t_1 (1 + 2 (e + ... + e^(n-1))), which ends
 * at t_1 (1 + e) / (1 - e) with t_1 = sqrt(2 H / g).  The run sums what stays within epsilon and ends in
 * contact at that time.  So do blows that several places take in turn. */
#include "trial.h"

static const abut_event *last(const trial *t, abut_event_kind kind) {
    const abut_event *found = NULL;
    for (int i = 0; i < t->event_count; i++)
        if (t->events[i].kind == kind) found = &t->events[i];
    return found;
}

static int count_of(const trial *t, abut_event_kind kind) {
    int count = 0;
    for (int i = 0; i < t->event_count; i++) count += t->events[i].kind == kind;
    return count;
}

/* Whatever falls from 0.5 m without turning, for several e and rest speeds. */
static void ends_when_the_series_does(const char *body, double e, const char *tolerance) {
    trial t;
    char text[512];
    snprintf(text, sizeof text,
             "world { gravity = {0, 0, -10}, frame = 1/50%s }\nmaterial { restitution = %g }\n" FLOOR "%s",
             tolerance, e, body);
    start(&t, text);
    double first = sqrt(2 * 0.5 / 10), end = first * (1 + e) / (1 - e);
    advance(&t, ceil(50 * end) / 50 + 0.1);
    const abut_event *sum = last(&t, ABUT_EVENT_IMPACT), *made = last(&t, ABUT_EVENT_CONTACT_MADE);
    assert_int_equal(count_of(&t, ABUT_EVENT_CONTACT_MADE), 1);
    assert_int_equal(count_of(&t, ABUT_EVENT_CONTACT_LOST), 0);
    close_to(made->time, end, 1e-9);
    /* the last impact stands for those that follow; the one before was told alone */
    assert_true(sum->count > 1);
    double time = first, speed = 10 * first;
    for (int i = 0; i < t.event_count; i++) {
        if (t.events[i].kind != ABUT_EVENT_IMPACT) continue;
        close_to(t.events[i].time, time, 1e-9);
        if (&t.events[i] != sum) assert_int_equal(t.events[i].count, 1);
        /* its flight would have been higher than epsilon: (e v)^2 / (2 g) */
        bool low = e * e * speed * speed / 20 <= abut_model_tolerances(t.model).touching;
        assert_true(low == (&t.events[i] == sum));
        speed *= e, time += 2 * speed / 10;
    }
    abut_motion m = abut_sim_motion(t.sim, 1);
    close_to(m.velocity.z, 0, 1e-12);
    finish(&t);
}

static void test_the_series_ends_in_contact(void **state) {
    (void)state;
    const char *ball = "body { shape = sphere {0.1}, position = {0, 0, 0.6} }",
               *block = "body { shape = solid.box {0.4, 0.3, 0.2}, position = {0, 0, 0.6} }";
    const double es[] = {0.1, 0.5, 0.8, 0.9};
    for (int i = 0; i < 4; i++) {
        ends_when_the_series_does(ball, es[i], "");
        ends_when_the_series_does(block, es[i], "");
        /* where the slowest impacts are elastic too nothing changes: no storm of events */
        ends_when_the_series_does(ball, es[i], ", tolerance = { rest_speed = 1e-12 }");
    }
}

/* e = 1 goes on for ever, and e = 0 has no series. */
static void test_no_series(void **state) {
    (void)state;
    for (int e = 0; e <= 1; e++) {
        trial t;
        char text[512];
        snprintf(text, sizeof text,
                 "world { gravity = {0, 0, -10}, frame = 1/50 }\nmaterial { restitution = %d }\n" FLOOR
                 "body { shape = sphere {0.1}, position = {0, 0, 0.6} }",
                 e);
        start(&t, text);
        advance(&t, 2);
        assert_int_equal(count_of(&t, ABUT_EVENT_CONTACT_MADE), e == 0);
        assert_int_equal(count_of(&t, ABUT_EVENT_IMPACT), e == 0 ? 1 : 3); /* at 1, 3, 5 times 0.316 s */
        for (int i = 0; i < t.event_count; i++) assert_int_equal(t.events[i].count, 1);
        if (e == 0) close_to(last(&t, ABUT_EVENT_CONTACT_MADE)->time, sqrt(0.1), 1e-9);
        finish(&t);
    }
}

/* A snapshot within the series, which a sleeper does not outlast: frames of 0.1 ms, the end still told once
 * and at its time. */
static void test_the_end_is_told_in_a_later_frame(void **state) {
    (void)state;
    trial t, u;
    const char *text =
        "world { gravity = {0, 0, -10}, frame = 1/10000 }\nmaterial { restitution = 0.5 }\n" FLOOR
        "body { shape = sphere {0.1}, position = {0, 0, 0.1000005}, velocity = {0.3, 0, 0} }";
    double first = sqrt(2 * 5e-7 / 10), end = first * 3;
    start(&t, text);
    advance(&t, 5e-4);
    assert_null(last(&t, ABUT_EVENT_CONTACT_MADE));
    size_t size = abut_sim_snapshot_size(t.sim);
    void *block = malloc(size);
    abut_error error;
    abut_sim_snapshot(t.sim, block);
    start(&u, text);
    assert_int_equal(abut_sim_restore(u.sim, block, size, &error), ABUT_OK);
    free(block);
    advance(&t, 2e-3), advance(&u, 2e-3);
    close_to(last(&t, ABUT_EVENT_CONTACT_MADE)->time, end, 1e-9);
    assert_int_equal(count_of(&t, ABUT_EVENT_CONTACT_MADE), 1);
    assert_true(abut_sim_hash(t.sim) == abut_sim_hash(u.sim));
    assert_true(last(&u, ABUT_EVENT_CONTACT_MADE)->time == last(&t, ABUT_EVENT_CONTACT_MADE)->time);
    close_to(abut_sim_motion(t.sim, 1).velocity.x, 0.3, 1e-12);
    finish(&t), finish(&u);
}

/* Two balls and a wall on a line, without forces (McNamara and Young 1992): gaps wall-1 and 1-2, speeds. */
typedef struct row_of_two {
    double gap[2], v[2], time;
    int hits;
} row_of_two;

/* One blow after the other, in the order of time; false when none follows. */
static bool strike_next(row_of_two *r, double e, double m1, double m2) {
    double rate[2] = {r->v[0], r->v[1] - r->v[0]}, dt = INFINITY;
    int hit = -1;
    for (int i = 0; i < 2; i++)
        if (rate[i] < 0 && -r->gap[i] / rate[i] < dt) dt = -r->gap[i] / rate[i], hit = i;
    if (hit < 0) return false;
    for (int i = 0; i < 2; i++) r->gap[i] = i == hit ? 0 : r->gap[i] + rate[i] * dt;
    double mean = (m1 * r->v[0] + m2 * r->v[1]) / (m1 + m2), apart = -e * rate[1];
    if (hit == 0)
        r->v[0] *= -e;
    else
        r->v[0] = mean - m2 / (m1 + m2) * apart, r->v[1] = mean + m1 / (m1 + m2) * apart;
    r->time += dt, r->hits++;
    return true;
}

static const double GAP = 0.05;

/* The heavier ball comes with 1 m/s, the lighter one waits between it and the wall. */
static void start_row(trial *t, double e, double m2) {
    char text[1024];
    snprintf(text, sizeof text,
             "world { gravity = {0, 0, 0}, frame = 1/50, tolerance = { rest_speed = 1e-12 } }\n"
             "material { restitution = %g, friction = 0.3 }\n"
             "body { shape = halfspace { normal = {1, 0, 0}, offset = 0 }, fixed = true }\n"
             "body { shape = sphere {0.1}, mass = 1, position = {%.17g, 0, 0} }\n"
             "body { shape = sphere {0.1}, mass = %g, position = {%.17g, 0, 0}, velocity = {-1, 0, 0} }",
             e, 0.1 + GAP, m2, 0.3 + 2 * GAP);
    start(t, text);
    advance(t, 0.5);
    assert_int_equal(abut_sim_audit(t->sim).storms, 0);
}

/* Infinitely many blows in a finite time, after which all are at rest on each other. */
static void collapses(double e, double m2) {
    trial t;
    row_of_two r = {.gap = {GAP, GAP}, .v = {0, -1}};
    start_row(&t, e, m2);
    int told = count_of(&t, ABUT_EVENT_IMPACT);
    assert_true(told > 8);
    for (int i = 0; i < told; i++) {
        const abut_event *hit = nth(&t, ABUT_EVENT_IMPACT, i);
        if (hit->count > 1) break; /* the sum: of both pairs, at the time of one of them */
        assert_true(strike_next(&r, e, 1, m2));
        close_to(hit->time, r.time, 1e-9);
    }
    while (r.gap[0] + r.gap[1] > 1e-25 && r.hits < 400) assert_true(strike_next(&r, e, 1, m2));
    assert_true(last(&t, ABUT_EVENT_IMPACT)->count > 1);
    assert_int_equal(count_of(&t, ABUT_EVENT_CONTACT_MADE), 2);
    for (int i = 0; i < 2; i++) close_to(nth(&t, ABUT_EVENT_CONTACT_MADE, i)->time, r.time, 1e-8);
    for (int i = 1; i <= 2; i++) close_to(abut_sim_motion(t.sim, i).velocity.x, 0, 1e-9);
    finish(&t);
}

static void test_blows_between_three_bodies_end(void **state) {
    (void)state;
    collapses(0.1, 1), collapses(0.4, 10), collapses(0.5, 30);
}

/* With e = 0.2 there are nine blows, and both balls leave. */
static void test_a_series_that_ends_by_itself(void **state) {
    (void)state;
    trial t;
    row_of_two r = {.gap = {GAP, GAP}, .v = {0, -1}};
    start_row(&t, 0.2, 1);
    while (strike_next(&r, 0.2, 1, 1)) {
    }
    assert_int_equal(r.hits, 9);
    assert_int_equal(count_of(&t, ABUT_EVENT_IMPACT), r.hits);
    for (int i = 0; i < 2; i++) close_to(abut_sim_motion(t.sim, i + 1).velocity.x, r.v[i], 1e-12);
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_series_ends_in_contact),
        cmocka_unit_test(test_no_series),
        cmocka_unit_test(test_the_end_is_told_in_a_later_frame),
        cmocka_unit_test(test_blows_between_three_bodies_end),
        cmocka_unit_test(test_a_series_that_ends_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
