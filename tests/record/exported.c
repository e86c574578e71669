#define _POSIX_C_SOURCE 200809L
#include "exported.h"

#include <stdio.h>
#include <stdlib.h>

static const char scene[] =
    "world { duration = 1.2, frame = 1/50, title = 'a \"test\" \\\\ scene' }\n"
    "material { restitution = 0.2, friction = 0.4 }\n"
    "camera { position = {3, -4, 2}, target = {0.5, 0, 0.25}, up = {0, 0, 1}, field_of_view = 35 }\n"
    "light { position = {2, -2, 5}, color = {1, 0.9, 0.8}, intensity = 0.75 }\n"
    "body { name = 'floor', shape = halfspace { normal = {0, 0, 1}, offset = 0 }, fixed = true }\n"
    "body { name = 'a \"box\", odd', shape = solid.box {0.3, 0.2, 0.4}, position = {0, 0, 0.5},\n"
    "       rotation = {0.4, 1, 2, 3}, spin = {9, 1, 0}, center = {0.01, 0.02, 0}, group = 1 }\n"
    "body { name = 'resting', shape = solid.box {0.5, 0.4, 0.2}, position = {1, 0, 0.1}, group = 1 }\n"
    "body { name = 'ball', shape = sphere {0.1}, position = {1.6, 0, 0.6}, color = {0.2, 0.4, 0.6}, group = "
    "1 }\n"
    "body { name = 'egg', shape = ellipsoid {0.1, 0.1, 0.2}, position = {2, 0, 0.6}, group = 1 }\n"
    "body { name = 'pill', shape = capsule {0.1, 0.3}, position = {2.5, 0, 0.6}, group = 1 }\n"
    "body { name = 'can', shape = cylinder {0.1, 0.3}, position = {3, 0, 0.6}, group = 1 }\n"
    "local net = {}\n"
    "for j = 0, 3 do for i = 0, 3 do net[#net + 1] = {i / 3, j / 3, (i == 1 and j == 2) and 0.25 or 0} end "
    "end\n"
    "body { name = 'sheet', shape = surface.bezier { control = net }, fixed = true, group = 1, position = "
    "{0, 2, 0.5} "
    "}\n";

const char *recorded(void) {
    static char path[512];
    if (path[0]) return path;
    const char *file = support_temporary("scene.lua");
    support_write(file, scene, sizeof scene - 1);
    char *kept = strdup(file);
    snprintf(path, sizeof path, "%s", support_temporary("scene.abut"));
    support_output out = support_run(NULL, "run", kept, "-o", path, "-q", NULL);
    if (out.status != 0) fail_msg("run: %s%s", out.out, out.err);
    support_output_free(&out);
    free(kept);
    return path;
}

abut_recording *open_recorded(void) {
    abut_recording *r = NULL;
    abut_error error = {0};
    if (abut_recording_open(NULL, recorded(), &r, &error) != ABUT_OK) fail_msg("%s", error.message);
    return r;
}

abut_export_report export_to(abut_export_format format, const char *path) {
    abut_recording *r = open_recorded();
    abut_export_options options = abut_default_export();
    options.format = format;
    abut_export_report report;
    abut_error error = {0};
    if (abut_recording_export(NULL, r, path, &options, &report, &error) != ABUT_OK)
        fail_msg("%s: %s", error.file, error.message);
    abut_recording_close(r);
    return report;
}

char *read_all(const char *path, size_t *size) {
    char *bytes = NULL;
    abut_error error = {0};
    if (file_read(NULL, path, &bytes, size, &error) != ABUT_OK) fail_msg("%s: %s", path, error.message);
    return bytes;
}

pose true_pose(abut_recording *r, int64_t frame, int body) {
    abut_motion m;
    abut_recorded_body b;
    abut_error error = {0};
    assert_int_equal(abut_recording_frame_motion(r, frame, body, &m, &error), ABUT_OK);
    assert_int_equal(abut_recording_body(r, body, &b, &error), ABUT_OK);
    return (pose){vec3_sub(m.center, quat_rotate(m.rotation, b.center)), m.rotation};
}

double turn_between(quat a, quat b) {
    mat3 m = quat_matrix(a), n = quat_matrix(b);
    return fmax(vec3_distance(m.cx, n.cx), fmax(vec3_distance(m.cy, n.cy), vec3_distance(m.cz, n.cz)));
}
