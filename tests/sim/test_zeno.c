/* Bounces without end: their times form a geometric series, t_n = t_1 (1 + 2 (e + ... + e^(n-1))), which ends
 * at t_1 (1 + e) / (1 - e) with t_1 = sqrt(2 H / g).  The run sums what stays within epsilon and ends in
 * contact at that time. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_series_ends_in_contact),
        cmocka_unit_test(test_no_series),
        cmocka_unit_test(test_the_end_is_told_in_a_later_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
