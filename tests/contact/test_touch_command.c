/* The command touch: JSON with contact points, the picture, wrong calls. */
#include "support.h"

#include <stdio.h>

static const char *write_box(const char *name, double x, double y, double z) {
    const char *path = support_temporary(name);
    char text[1024];
    int size = 0;
    for (int i = 0; i < 8; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, "v %g %g %g\n", x * (i & 1),
                         y * (i >> 1 & 1), z * (i >> 2));
    size += snprintf(text + size, sizeof text - (size_t)size,
                     "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
    support_write(path, text, (size_t)size);
    return path;
}

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) count++;
    return count;
}

/* A beam on a shorter one: the area is 2 x 1. */
static void contact_points_are_the_corners_of_the_hull(void **state) {
    (void)state;
    const char *a = write_box("a.obj", 4, 1, 1), *b = write_box("b.obj", 2, 1, 1);
    support_output out = support_run(NULL, "touch", a, b, "--pose-a", "0,0,1", "--json", NULL);
    assert_int_equal(out.status, 0);
    const char *contacts = strstr(out.out, "\"contacts\"");
    assert_non_null(contacts);
    double p[4][3];
    assert_int_equal(sscanf(contacts,
                            "\"contacts\" : [ [ %lf , %lf , %lf ] , [ %lf , %lf , %lf ] , [ %lf , %lf , %lf "
                            "] , [ %lf , %lf , %lf ] ]",
                            &p[0][0], &p[0][1], &p[0][2], &p[1][0], &p[1][1], &p[1][2], &p[2][0], &p[2][1],
                            &p[2][2], &p[3][0], &p[3][1], &p[3][2]),
                     12);
    double area = 0; /* counter-clockwise seen from A, which is above */
    for (int i = 0; i < 4; i++) {
        const double *q = p[(i + 1) % 4];
        area += (p[i][0] * q[1] - p[i][1] * q[0]) / 2;
        assert_true(fabs(p[i][2] - 1) < 1e-9);
    }
    assert_true(fabs(area - 2) < 1e-9);
    support_output_free(&out);
}

static void picture_shows_regions_and_normals(void **state) {
    (void)state;
    const char *a = write_box("a.obj", 4, 1, 1), *b = write_box("b.obj", 2, 1, 1),
               *picture = support_temporary("touch.svg");
    support_output out = support_run(NULL, "touch", a, b, "--pose-a", "0,0,1", "--picture", picture, NULL);
    assert_int_equal(out.status, 0);
    support_output_free(&out);
    char text[1 << 16] = "";
    FILE *file = fopen(picture, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(size > 1000 && size < sizeof text - 1);
    assert_int_equal(strncmp(text, "<svg", 4), 0);
    assert_int_equal(strcmp(text + size - 7, "</svg>\n"), 0);
    assert_int_equal(occurrences(text, "fill-rule=\"evenodd\""), 2); /* the area in both panels */
    assert_int_equal(occurrences(text, "stroke=\"#1b1b1b\""), 2);    /* and its normal */
    assert_int_equal(occurrences(text, "fill=\"#8fb8de\""),
                     2 * 6 + 1); /* three sides of A are seen, and its legend */
    assert_non_null(strstr(text, "1 area<"));
}

static void pictures_that_cannot_be_written_are_named(void **state) {
    (void)state;
    const char *a = write_box("a.obj", 4, 1, 1);
    support_output out = support_run(NULL, "touch", a, a, "--picture", "/nowhere/at/all.svg", NULL);
    assert_int_not_equal(out.status, 0);
    assert_non_null(strstr(out.err, "/nowhere/at/all.svg"));
    support_output_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(contact_points_are_the_corners_of_the_hull),
                                       cmocka_unit_test(picture_shows_regions_and_normals),
                                       cmocka_unit_test(pictures_that_cannot_be_written_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
