/* Any polygon soup as a solid.  The bytes are points of a small grid (so that points coincide, lie in line
 * and in plane), some moved by amounts around the tolerances, and faces over them.  What must hold: a mesh
 * that passes the check is built, the block validates, what the repair returns is a solid, and nothing hangs
 * or leaks. */
#include "solid/solid.h"

#include <stdlib.h>

enum { MOST_POINTS = 64, MOST_FACES = 96, MOST_CORNERS = 12 };

typedef struct source {
    const uint8_t *at, *end;
} source;

static int next(source *s) { return s->at < s->end ? *s->at++ : 0; }

static double coordinate(source *s, double size) {
    static const double steps[8] = {0, 0, 0, 0, 1e-12, 3e-10, 1e-8, 1e-6};
    int byte = next(s);
    return size * ((byte & 15) - 4 + steps[byte >> 5] * ((byte & 16) ? 1 : -1));
}

static void build(const abut_mesh *mesh) {
    abut_error error = {0}, why = {0};
    abut_report *report = NULL, *repairs = NULL;
    abut_solid *solid = NULL, *mended = NULL;
    abut_mesh *repaired = NULL;
    abut_status checked = abut_mesh_check(NULL, mesh, NULL, &report, &error);
    if (checked != ABUT_OK) { /* too small or too large to be measured at all */
        if (checked != ABUT_INVALID || abut_solid_build(NULL, mesh, NULL, &solid, &error) != ABUT_INVALID)
            abort();
        return;
    }
    abut_status status = abut_solid_build(NULL, mesh, NULL, &solid, &error);
    if (report->is_valid != (status == ABUT_OK)) abort();
    if (status == ABUT_OK && solid_validate(solid, &why) != ABUT_OK) abort();
    if (status == ABUT_OK && !(abut_solid_facts_of(solid).volume > 0)) abort();
    if (status != ABUT_OK && error.message[0] == 0) abort();
    status = abut_mesh_repair(NULL, mesh, NULL, &repaired, &repairs, &error);
    if (status == ABUT_OK && abut_solid_build(NULL, repaired, NULL, &mended, &error) != ABUT_OK) abort();
    if (report->is_valid && status != ABUT_OK) abort();
    abut_solid_free(NULL, solid);
    abut_solid_free(NULL, mended);
    abut_mesh_free(NULL, repaired);
    abut_report_free(NULL, report);
    abut_report_free(NULL, repairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const double sizes[4] = {1, 1e-9, 1e6, 0.1};
    source s = {data, data + size};
    vec3 points[MOST_POINTS];
    int corners[MOST_FACES * MOST_CORNERS];
    int64_t face_start[MOST_FACES + 1] = {0};
    int head = next(&s), count = next(&s) % MOST_POINTS + 1;
    double offset = head & 4 ? 1e7 * sizes[head & 3] : 0;
    for (int i = 0; i < count; i++) {
        points[i].x = coordinate(&s, sizes[head & 3]) + offset;
        points[i].y = coordinate(&s, sizes[head & 3]);
        points[i].z = coordinate(&s, sizes[head & 3]);
    }
    int faces = 0;
    while (s.at < s.end && faces < MOST_FACES) {
        int corner_count = 3 + next(&s) % (MOST_CORNERS - 2);
        int64_t first = face_start[faces];
        for (int k = 0; k < corner_count; k++) corners[first + k] = next(&s) % count;
        face_start[++faces] = first + corner_count;
    }
    abut_mesh mesh = {.file = "fuzz",
                      .points = points,
                      .corners = corners,
                      .face_start = face_start,
                      .point_count = count,
                      .face_count = faces,
                      .corner_count = face_start[faces],
                      .separate_corners = head & 8};
    build(&mesh);
    return 0;
}
