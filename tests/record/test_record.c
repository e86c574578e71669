/* Recordings through the command, as a user makes them: written, read back, killed at random moments,
 * resumed, certified. */
#define _POSIX_C_SOURCE 200809L
#include "abut/record.h"
#include "support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char scene[] =
    "world { duration = 1.5, frame = 1/100 }\nmaterial { restitution = 0.4, friction = 0.3 }\n"
    "body { name = 'floor', shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }\n"
    "for i = 1, 3 do\n"
    "  body { name = 'box' .. i, shape = solid.box {0.3, 0.2, 0.4}, position = {0.05 * i, 0, 0.6 * i},\n"
    "         rotation = {0.3 * i, 1, 2, 3}, spin = {i, 1, 0} }\n"
    "end\n";

static const char *write_scene(void) {
    const char *path = support_temporary("scene.lua");
    support_write(path, scene, sizeof scene - 1);
    return path;
}

static void run_to(const char *scene_path, const char *recording) {
    support_output out = support_run(NULL, "run", scene_path, "-o", recording, "-q", "--strict", NULL);
    if (out.status != 0) fail_msg("run: %s%s", out.out, out.err);
    support_output_free(&out);
}

static char *track(const char *recording, const char *body) {
    support_output out = support_run(NULL, "track", recording, "--body", body, NULL);
    if (out.status != 0) fail_msg("track: %s", out.err);
    char *text = strdup(out.out);
    support_output_free(&out);
    return text;
}

/* The dense output passes through the frames, and its velocity is the rate of its place. */
static void dense_output_agrees_with_frames(void **state) {
    (void)state;
    const char *recording = support_temporary("dense.abut");
    run_to(write_scene(), recording);
    abut_recording *r = NULL;
    abut_error error = {0};
    assert_int_equal(abut_recording_open(NULL, recording, &r, &error), ABUT_OK);
    int body = abut_recording_find_body(r, "box2");
    assert_true(body > 0 && abut_recording_find_body(r, "nobody") == -1);
    assert_int_equal(abut_recording_frames(r), 151);
    for (int64_t k = 0; k < abut_recording_frames(r); k++) {
        abut_frame f;
        abut_motion m, d, before, after;
        assert_int_equal(abut_recording_frame(r, k, &f, &error), ABUT_OK);
        assert_int_equal(abut_recording_frame_motion(r, k, body, &m, &error), ABUT_OK);
        assert_int_equal(abut_recording_motion(r, body, f.time, &d, &error), ABUT_OK);
        assert_true(vec3_distance(m.center, d.center) <
                    1e-9); /* frames are corrected for drift, steps are not */
        if (k == 0 || k == 150) continue;
        const double h = 1e-6; /* central differences: h^2 a' and u/h, both below 1e-6 away from impacts */
        double t = f.time + 0.0037;
        assert_int_equal(abut_recording_motion(r, body, t - h, &before, &error), ABUT_OK);
        assert_int_equal(abut_recording_motion(r, body, t + h, &after, &error), ABUT_OK);
        assert_int_equal(abut_recording_motion(r, body, t, &m, &error), ABUT_OK);
        vec3 rate = vec3_scale(vec3_sub(after.center, before.center), 0.5 / h);
        if (vec3_distance(before.velocity, after.velocity) < 1e-4)
            assert_true(vec3_distance(rate, m.velocity) < 1e-5);
    }
    abut_motion m;
    assert_int_equal(abut_recording_motion(r, body, 99, &m, &error), ABUT_INVALID);
    abut_recording_close(r);
}

/* A triple pendulum and bouncing balls: never at rest, and slow enough to be killed on the way. */
static const char restless[] =
    "world { duration = 2, frame = 1/100 }\nmaterial { restitution = 0.9 }\n"
    "body { name = 'floor', shape = halfspace { normal = {0, 0, 1}, offset = -3 }, fixed = true }\n"
    "for i = 1, 3 do\n"
    "  body { name = 'box' .. i, shape = solid.box {1, 0.1, 0.1}, position = {i - 0.5, 0, 0}, group = 'bars' "
    "}\n"
    "  hinge.pin {'box' .. i, i > 1 and 'box' .. (i - 1) or nil, at = {i - 1, 0, 0}, axis = {0, 1, 0}}\n"
    "  body { shape = sphere {0.1}, position = {5 + i, 0, i} }\n"
    "end\n";

static double wall_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Killed at a random moment the recording opens, and resuming gives the rows of the run that was not. */
static void kill_and_resume(int kills) {
    char path[512], killed[512]; /* names from support_temporary last for a few calls only */
    snprintf(path, sizeof path, "%s", support_temporary("restless.lua"));
    support_write(path, restless, sizeof restless - 1);
    snprintf(killed, sizeof killed, "%s", support_temporary("killed.abut"));
    const char *whole = support_temporary("whole.abut");
    double started = wall_clock();
    run_to(path, whole);
    double needed = wall_clock() - started;
    char *wanted = track(whole, "box3");
    uint64_t seed = 5;
    int resumes = 0;
    for (int i = 0; i < kills; i++) {
        remove(killed);
        pid_t child = fork();
        if (child == 0) {
            if (!freopen("/dev/null", "w", stdout)) _exit(1);
            execl(ABUT_COMMAND, "abut", "run", path, "-o", killed, "-q", (char *)NULL);
            _exit(127);
        }
        double pause = random_unit(&seed) * needed;
        struct timespec wait = {(time_t)pause, (long)(1e9 * (pause - floor(pause)))};
        nanosleep(&wait, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        support_output out = support_run(NULL, "resume", killed, "-q", NULL);
        if (out.status != 0 && strstr(out.err, "snapshot") == NULL && strstr(out.err, "opened") == NULL &&
            strstr(out.err, "no such table") == NULL)
            fail_msg("resume: %s", out.err);
        bool resumed = out.status == 0;
        support_output_free(&out);
        if (!resumed) continue; /* killed before the first commit: there is nothing to resume */
        char *got = track(killed, "box3");
        assert_string_equal(got, wanted);
        free(got);
        resumes++;
    }
    free(wanted);
    assert_true(resumes > kills / 4);
}

static void a_killed_run_resumes_bit_for_bit(void **state) {
    (void)state;
    kill_and_resume(25);
}

static void two_hundred_killed_runs_resume_bit_for_bit(void **state) {
    (void)state;
    kill_and_resume(200);
}

static void a_recording_is_certified(void **state) {
    (void)state;
    const char *recording = support_temporary("certified.abut");
    run_to(write_scene(), recording);
    support_output out = support_run(NULL, "certify", recording, NULL);
    if (out.status != 0) fail_msg("%s%s", out.out, out.err);
    support_output_free(&out);
    /* a body moved into the floor by hand is found */
    const char *argv[] = {
        "sqlite3", recording,
        "UPDATE frame SET motions = (SELECT motions FROM frame WHERE id = 0) WHERE id = 0;"
        "UPDATE meta SET value = replace(value, 'offset = 0', 'offset = 0.5') WHERE key = 'source'",
        NULL};
    out = support_run_program(NULL, argv);
    bool have_sqlite = out.status == 0;
    support_output_free(&out);
    if (!have_sqlite) return;
    out = support_run(NULL, "certify", recording, NULL);
    assert_int_equal(out.status, 1);
    assert_non_null(strstr(out.out, "overlap"));
    support_output_free(&out);
}

/* A run that is complete has nothing left to do, and can be made longer: the rows of one that was so from the
 * start. */
static void a_finished_run_resumes(void **state) {
    (void)state;
    const char *path = write_scene(), *whole = support_temporary("whole.abut"),
               *part = support_temporary("part.abut");
    run_to(path, whole);
    support_output out = support_run(NULL, "run", path, "-o", part, "-q", "--duration", "0.4", NULL);
    assert_int_equal(out.status, 0);
    support_output_free(&out);
    static const char *const durations[] = {"0.4", "0.1", "1.5", "1.5"};
    for (int i = 0; i < COUNT_OF(durations); i++) {
        out = support_run(NULL, "resume", part, "-q", "--duration", durations[i], NULL);
        if (out.status != 0) fail_msg("resume to %s: %s", durations[i], out.err);
        support_output_free(&out);
    }
    char *rows = track(whole, "box3"), *again = track(part, "box3");
    assert_string_equal(rows, again);
    free(rows), free(again);
}

/* A scene given as the recording by mistake is still there afterwards. */
static void other_files_are_not_overwritten(void **state) {
    (void)state;
    const char *path = write_scene();
    support_output out = support_run(NULL, "run", path, "-o", path, "-q", NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "no recording"));
    support_output_free(&out);
    run_to(path, support_temporary("after.abut"));
    run_to(path, support_temporary("after.abut")); /* an older recording may go */
}

/* Marks are the times, sizes of impulses and kinds of the events; with a stride those of every so many. */
enum { EVENTS_MOST = 2000 };
typedef struct event_list {
    abut_event events[EVENTS_MOST];
    int64_t count;
} event_list;

static bool keep_event(void *user, const abut_event *event) {
    event_list *list = user;
    list->events[list->count++] = *event;
    return list->count < EVENTS_MOST;
}

static void marks_are_those_of_the_events(void **state) {
    (void)state;
    const char *recording = support_temporary("marks.abut");
    run_to(write_scene(), recording);
    abut_recording *r = NULL;
    abut_error error = {0};
    static event_list list;
    static abut_mark marks[EVENTS_MOST];
    assert_int_equal(abut_recording_open(NULL, recording, &r, &error), ABUT_OK);
    assert_int_equal(abut_recording_events(r, keep_event, &list, &error), ABUT_OK);
    assert_int_equal(list.count, abut_recording_event_count(r));
    assert_true(list.count > 10 && list.count < EVENTS_MOST);
    const int64_t strides[] = {1, 3, 7, EVENTS_MOST}, firsts[] = {0, 5, list.count - 1, list.count};
    for (int i = 0; i < COUNT_OF(strides); i++)
        for (int j = 0; j < COUNT_OF(firsts); j++) {
            int64_t n = abut_recording_marks(r, firsts[j], strides[i], EVENTS_MOST, marks, &error);
            assert_int_equal(n, (list.count - firsts[j] + strides[i] - 1) / strides[i]);
            for (int64_t k = 0; k < n; k++) {
                const abut_event *e = &list.events[firsts[j] + k * strides[i]];
                assert_true(marks[k].time == e->time && marks[k].kind == e->kind);
                assert_true(marks[k].impulse == vec3_length(e->impulse));
            }
        }
    assert_int_equal(abut_recording_marks(r, 2, 1, 4, marks, &error), 4);
    assert_true(marks[3].time == list.events[5].time);
    abut_recording_close(r);
}

/* Running a recording says what it is. */
static void a_recording_is_no_scene(void **state) {
    (void)state;
    const char *recording = support_temporary("scene.abut");
    run_to(write_scene(), recording);
    support_output out = support_run(NULL, "run", recording, NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "is a recording"));
    support_output_free(&out);
}

static void what_is_no_recording_is_refused(void **state) {
    (void)state;
    const char *garbage = support_temporary("garbage.abut");
    support_write(garbage, "not a database at all, but long enough to be looked at as one", 60);
    static const char *const commands[] = {"events", "energy", "resume", "certify"};
    for (int i = 0; i < COUNT_OF(commands); i++) {
        support_output out = support_run(NULL, commands[i], garbage, NULL);
        assert_int_equal(out.status, 2);
        assert_non_null(strstr(out.err, "garbage.abut"));
        support_output_free(&out);
        out = support_run(NULL, commands[i], "missing.abut", NULL);
        assert_int_equal(out.status, 2);
        support_output_free(&out);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest slow[] = {cmocka_unit_test(two_hundred_killed_runs_resume_bit_for_bit)};
    if (argc > 1 && strcmp(argv[1], "slow") == 0) return cmocka_run_group_tests(slow, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_output_agrees_with_frames), cmocka_unit_test(a_killed_run_resumes_bit_for_bit),
        cmocka_unit_test(a_finished_run_resumes),          cmocka_unit_test(a_recording_is_no_scene),
        cmocka_unit_test(other_files_are_not_overwritten), cmocka_unit_test(a_recording_is_certified),
        cmocka_unit_test(marks_are_those_of_the_events),   cmocka_unit_test(what_is_no_recording_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
