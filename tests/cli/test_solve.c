/* `abut solve`: the document, the exit status, and messages for wrong input. */
#include "support.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *problem(const char *text) {
    const char *path = support_temporary("problem.json");
    support_write(path, text, strlen(text));
    return path;
}

/* w = 2 z - 1: z = 1/2; every solver, table and document. */
static void test_solved(void **unused) {
    (void)unused;
    const char *solvers[] = {"exact", "lemke", "lp", "pgs", "nncg"};
    for (int i = 0; i < COUNT_OF(solvers); i++) {
        support_output out = support_run(NULL, "solve", problem("{\"A\": [[2, 0], [0, 1]], \"b\": [-1, 3]}"),
                                         "--solver", solvers[i], "--json", NULL);
        assert_int_equal(out.status, 0);
        json_t *document = json_loads(out.out, 0, NULL);
        assert_non_null(document);
        assert_string_equal(json_string_value(json_object_get(document, "status")), "solved");
        assert_true(fabs(json_real_value(json_array_get(json_object_get(document, "z"), 0)) - 0.5) <= 1e-9);
        assert_true(fabs(json_real_value(json_array_get(json_object_get(document, "w"), 1)) - 3) <= 1e-9);
        assert_true(json_is_true(json_object_get(document, "unique")));
        assert_true(json_number_value(json_object_get(document, "residual")) <= 1e-9);
        assert_true(json_is_integer(json_object_get(document, "pivots")));
        json_decref(document);
        support_output_free(&out);
        out = support_run(NULL, "solve", problem("{\"A\": [[2, 0], [0, 1]], \"b\": [-1, 3]}"), "--solver",
                          solvers[i], NULL);
        assert_int_equal(out.status, 0);
        assert_non_null(strstr(out.out, "solved by"));
        support_output_free(&out);
    }
}

/* A hinge row with null bounds may push and pull: z = -3. */
static void test_bounds(void **unused) {
    (void)unused;
    support_output out =
        support_run(NULL, "solve", problem("{\"A\": [[1]], \"b\": [3], \"lo\": [null], \"hi\": [\"inf\"]}"),
                    "--json", NULL);
    json_t *document = json_loads(out.out, 0, NULL);
    assert_int_equal(out.status, 0);
    assert_true(fabs(json_real_value(json_array_get(json_object_get(document, "z"), 0)) + 3) <= 1e-12);
    json_decref(document);
    support_output_free(&out);
}

/* Rows 0 and 1 are the same contact twice, row 2 stands alone: z_0 + z_1 = 2, z_2 = 1. */
static void test_groups(void **unused) {
    (void)unused;
    support_output out =
        support_run(NULL, "solve", problem("{\"A\": [[2, 2, 0], [2, 2, 0], [0, 0, 1]], \"b\": [-4, -4, -1]}"),
                    "--json", NULL);
    json_t *document = json_loads(out.out, 0, NULL), *group;
    assert_int_equal(out.status, 0);
    assert_int_equal(json_array_size(json_object_get(document, "groups")), 1);
    group = json_array_get(json_object_get(document, "groups"), 0);
    const json_t *rows = json_object_get(group, "rows");
    assert_int_equal(json_array_size(rows), 2);
    for (int i = 0; i < 2; i++) assert_int_equal(json_integer_value(json_array_get(rows, (size_t)i)), i);
    assert_true(fabs(json_number_value(json_object_get(group, "sum")) - 2) <= 1e-12);
    assert_true(json_is_true(json_object_get(group, "sum_determined")));
    json_decref(document);
    support_output_free(&out);
}

static void test_infeasible(void **unused) {
    (void)unused;
    support_output out =
        support_run(NULL, "solve", problem("{\"A\": [[1, -1], [-1, 1]], \"b\": [-1, -1]}"), "--json", NULL);
    json_t *document = json_loads(out.out, 0, NULL);
    assert_int_equal(out.status, 1);
    assert_string_equal(json_string_value(json_object_get(document, "status")), "infeasible");
    const json_t *ray = json_object_get(document, "ray");
    double first = json_real_value(json_array_get(ray, 0)), second = json_real_value(json_array_get(ray, 1));
    assert_true(first > 0 && fabs(first - second) <= 1e-9 * first); /* (1, 1) */
    json_decref(document);
    support_output_free(&out);
}

/* Rows 1 and 2 push each other, row 0 has nothing to do with it; row 3 wants what it cannot have by itself.
 */
static void test_infeasible_rows_are_named(void **unused) {
    (void)unused;
    const char *two = "{\"A\": [[1, 0, 0], [0, 1, -1], [0, -1, 1]], \"b\": [1, -1, -1]}";
    const char *one =
        "{\"A\": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], \"b\": [-1, -1, 1, -2]}";
    const char *cases[][3] = {{two, "exact", "rows 1, 2 contradict each other"},
                              {two, "lemke", "rows 1, 2 contradict each other"},
                              {two, "lp", "rows 1, 2 contradict each other"},
                              {one, "exact", "row 3 contradicts itself"},
                              {one, "lemke", "row 3 contradicts itself"}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        support_output out = support_run(NULL, "solve", problem(cases[i][0]), "--solver", cases[i][1], NULL);
        assert_int_equal(out.status, 1);
        assert_non_null(strstr(out.err, cases[i][2]));
        support_output_free(&out);
    }
}

/* Matrices that are not symmetric and semidefinite go to Lemke's method unless a solver is named: the answer
 * is a solution, and is called the only one where x.Ax > 0. */
static void test_any_matrix(void **unused) {
    (void)unused;
    const char *inputs[] = {"{\"A\": [[-1]], \"b\": [1]}", "{\"A\": [[0, 1], [-1, 0]], \"b\": [-1, 2]}",
                            "{\"A\": [[1, 2], [3, -1]], \"b\": [-1, 2]}",
                            "{\"A\": [[1, 2], [2, 1]], \"b\": [-1, -1]}",
                            "{\"A\": [[2, 1], [-1, 2]], \"b\": [-1, -1]}"};
    for (int i = 0; i < COUNT_OF(inputs); i++) {
        support_output out = support_run(NULL, "solve", problem(inputs[i]), "--json", NULL);
        json_t *root = json_loads(out.out, 0, NULL), *in = json_loads(inputs[i], 0, NULL);
        assert_int_equal(out.status, 0);
        assert_string_equal(json_string_value(json_object_get(root, "solver")), "lemke");
        /* x.Ax > 0 for all x, only in the last one */
        assert_int_equal(json_is_true(json_object_get(root, "unique")), i == COUNT_OF(inputs) - 1);
        json_t *a = json_object_get(in, "A"), *b = json_object_get(in, "b");
        for (size_t r = 0; r < json_array_size(b); r++) {
            double w = json_number_value(json_array_get(b, r));
            for (size_t c = 0; c < json_array_size(b); c++)
                w += json_number_value(json_array_get(json_array_get(a, r), c)) *
                     json_number_value(json_array_get(json_object_get(root, "z"), c));
            double z = json_number_value(json_array_get(json_object_get(root, "z"), r));
            assert_true(z >= 0 && w >= -1e-12 && fabs(z * w) < 1e-12);
        }
        json_decref(root), json_decref(in);
        support_output_free(&out);
    }
    support_output out = support_run(NULL, "solve", problem(inputs[1]), "--solver", "exact", NULL);
    assert_int_equal(out.status, 2);
    assert_non_null(strstr(out.err, "symmetric"));
    support_output_free(&out);
}

/* Exit 2 and a message with the place; nothing on standard output. */
static void test_wrong(void **unused) {
    (void)unused;
    const char *inputs[][2] = {{"{\"A\": [[1]], \"b\": [1, 2]}", "rows"},
                               {"{\"A\": [[1, 2]], \"b\": [1]}", "A[0]"},
                               {"{\"A\": [[\"x\"]], \"b\": [1]}", "A[0][0]"},
                               {"{\"A\": [[1]], \"b\": [1], \"low\": [0]}", "low"},
                               {"{\"A\": [[1]], \"b\": [1], \"lo\": [2], \"hi\": [1]}", "lo = 2"},
                               {"[1]", "object"},
                               {"{\"A\": [[1]],\n \"b\": ", ":2:"}};
    for (int i = 0; i < COUNT_OF(inputs); i++) {
        support_output out = support_run(NULL, "solve", problem(inputs[i][0]), "--json", NULL);
        assert_int_equal(out.status, 2);
        if (!strstr(out.err, inputs[i][1])) fail_msg("`%s` is not in: %s", inputs[i][1], out.err);
        assert_int_equal(out.out_size, 0);
        support_output_free(&out);
    }
    support_output out =
        support_run(NULL, "solve", problem("{\"A\": [[1]], \"b\": [1]}"), "--solver", "simplex", NULL);
    assert_int_equal(out.status, 2);
    support_output_free(&out);
    out = support_run(NULL, "solve", "/no/such/file.json", NULL);
    assert_int_equal(out.status, 2);
    support_output_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_solved),
                                       cmocka_unit_test(test_bounds),
                                       cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_infeasible),
                                       cmocka_unit_test(test_infeasible_rows_are_named),
                                       cmocka_unit_test(test_any_matrix),
                                       cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
