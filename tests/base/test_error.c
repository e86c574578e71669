/* Status words, error messages, the log hook, the clock and whole files. */
#include "base/base.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

static void test_status_words(void **unused) {
    (void)unused;
    assert_string_equal(abut_status_name(ABUT_OK), "ok");
    assert_string_equal(abut_status_name(ABUT_NO_MEMORY), "no-memory");
    assert_string_equal(abut_status_name((abut_status)999), "unknown");
    assert_string_equal(abut_status_name((abut_status)-1), "unknown");
    for (int i = 0; strcmp(abut_status_name((abut_status)i), "unknown") != 0; i++) {
        assert_true(strlen(abut_status_text((abut_status)i)) > 3);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(abut_status_name((abut_status)i), abut_status_name((abut_status)j));
    }
}

static void test_messages(void **unused) {
    (void)unused;
    abut_error error = {0};
    assert_int_equal(fail(&error, ABUT_INVALID, "face %d; drop it", 7), ABUT_INVALID);
    assert_int_equal(error.status, ABUT_INVALID);
    assert_string_equal(error.message, "face 7; drop it");
    assert_string_equal(error.file, "");
    assert_int_equal(error.line, 0);
    assert_int_equal(fail_at(&error, ABUT_IO, "a.obj", 12, "%s", "no"), ABUT_IO);
    assert_string_equal(error.file, "a.obj");
    assert_int_equal(error.line, 12);
    assert_int_equal(fail_memory(&error), ABUT_NO_MEMORY);
    assert_string_equal(error.file, ""); /* the old place is gone */
    assert_int_equal(fail(NULL, ABUT_BUDGET, "nobody listens"), ABUT_BUDGET);
}

/* Texts longer than the fields are cut, and end with a 0. */
static void test_long_messages(void **unused) {
    (void)unused;
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    abut_error error;
    fail_at(&error, ABUT_IO, text, 1, "%s", text);
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

static void keep(void *user, abut_log_level level, const char *message) {
    snprintf(user, 100, "%d %s", (int)level, message);
}

static void test_log(void **unused) {
    (void)unused;
    char heard[100] = "";
    abut_context context = {.log = {keep, heard}}, silent = {0};
    log_write(NULL, ABUT_LOG_INFO, "nothing");
    log_write(&silent, ABUT_LOG_INFO, "nothing");
    log_write(&context, ABUT_LOG_WARNING, "%d of %d", 3, 4);
    assert_string_equal(heard, "2 3 of 4");
}

static void test_clock(void **unused) {
    (void)unused;
    double before = clock_now();
    for (int i = 0; i < 1000; i++) {
        double now = clock_now();
        assert_true(now >= before);
        before = now;
    }
    assert_true(strlen(abut_version()) >= 5);
}

static abut_status read_file(const abut_context *context, void *path) {
    char *bytes;
    size_t size;
    abut_error error = {0};
    abut_status status = file_read(context, path, &bytes, &size, &error);
    assert_int_equal(error.status, status);
    if (status == ABUT_OK) file_free(context, bytes, size);
    return status;
}

static void test_files(void **unused) {
    (void)unused;
    const char *path = support_temporary("some.bin");
    char content[] = "one\0two", *bytes, name[1024];
    size_t size;
    abut_error error = {0};
    support_write(path, content, sizeof content);
    assert_int_equal(file_read(NULL, path, &bytes, &size, &error), ABUT_OK);
    assert_int_equal(size, sizeof content);
    assert_memory_equal(bytes, content, sizeof content);
    assert_int_equal(bytes[size], 0);
    file_free(NULL, bytes, size);
    snprintf(name, sizeof name, "%s", path);
    assert_int_equal(support_fail_each(read_file, name), 1);
    support_write(path, "", 0);
    assert_int_equal(file_read(NULL, path, &bytes, &size, &error), ABUT_OK);
    assert_int_equal(size, 0);
    assert_int_equal(bytes[0], 0);
    file_free(NULL, bytes, size);
}

/* A file that is not there, and a folder: the message names it and says what to do. */
static void test_no_file(void **unused) {
    (void)unused;
    char *bytes;
    size_t size;
    abut_error error = {0};
    const char *missing = support_temporary("missing.obj");
    assert_int_equal(file_read(NULL, missing, &bytes, &size, &error), ABUT_IO);
    assert_string_equal(error.file, missing);
    assert_non_null(strstr(error.message, "No such file"));
    assert_non_null(strchr(error.message, ';'));
    assert_int_equal(file_read(NULL, "/", &bytes, &size, &error), ABUT_IO);
    assert_non_null(strstr(error.message, "not a regular file"));
    assert_int_equal(file_read(NULL, "/dev/null", &bytes, &size, &error), ABUT_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_words),  cmocka_unit_test(test_messages),
        cmocka_unit_test(test_long_messages), cmocka_unit_test(test_log),
        cmocka_unit_test(test_clock),         cmocka_unit_test(test_files),
        cmocka_unit_test(test_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
