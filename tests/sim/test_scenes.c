/* Every scene of scenes/ loads, starts without overlap, and keeps its promises for its first 0.2 s. */
#include "abut/surface.h"
#include "trial.h"

#include <dirent.h>

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void run_scene(const char *path) {
    abut_error error = {0};
    trial t = {0};
    if (abut_scene_load(NULL, path, NULL, &t.scene, &error) != ABUT_OK ||
        abut_model_create(NULL, abut_scene_world(t.scene), &t.model, &error) != ABUT_OK ||
        abut_sim_create(NULL, t.model, NULL, &t.sim, &error) != ABUT_OK)
        fail_msg("%s:%d: %s", path, error.line, error.message);
    advance(&t, fmin(0.2, abut_scene_world(t.scene)->duration));
    abut_audit a = abut_sim_audit(t.sim);
    if (!a.promises_kept) fail_msg("%s: a promise was broken: %s", path, a.broken);
    abut_sim_free(t.sim);
    abut_model_free(t.model);
    abut_scene_free(t.scene);
}

static void every_scene_runs(void **state) {
    (void)state;
    DIR *folder = opendir(ABUT_SOURCE "/scenes");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (!ends_with(entry->d_name, ".lua")) continue;
        char path[1024];
        snprintf(path, sizeof path, ABUT_SOURCE "/scenes/%s", entry->d_name);
        print_message("%s\n", entry->d_name);
        run_scene(path);
        count++;
    }
    closedir(folder);
    assert_true(count >= 20);
}

/* ---- equilibria of a body on the floor: where the distance of its surface from the centre of mass is
 * stationary
 */

typedef struct equilibria {
    abut_vec3 at[64];
    int count, kinds[3]; /* least (stable), saddle, largest (unstable) */
} equilibria;

/* Newton's method on D . X_u = D . X_v = 0, over the atlas. */
static bool settle_down(const abut_surface *s, abut_vec3 center, abut_surface_point at, equilibria *out) {
    double uu, uv, vv, size = 1;
    abut_partials p;
    for (int i = 0; i < 60 && size > 1e-13; i++) {
        if (!abut_surface_evaluate(s, at.patch, at.u, at.v, 2, &p)) return false;
        vec3 d = vec3_sub(p.c, center);
        double fu = vec3_dot(d, p.u), fv = vec3_dot(d, p.v);
        uu = vec3_dot(p.u, p.u) + vec3_dot(d, p.uu), uv = vec3_dot(p.u, p.v) + vec3_dot(d, p.uv);
        vv = vec3_dot(p.v, p.v) + vec3_dot(d, p.vv);
        double det = uu * vv - uv * uv, step[2] = {(uv * fv - vv * fu) / det, (uv * fu - uu * fv) / det};
        size = fmax(fabs(step[0]), fabs(step[1]));
        double part = size > 0.2 ? 0.2 / size : 1, rate[2] = {part * step[0], part * step[1]};
        at.u += rate[0], at.v += rate[1];
        if (!isfinite(size) || abut_surface_settle(s, &at, rate, NULL, NULL, NULL) != ABUT_OK) return false;
    }
    if (size > 1e-13) return false;
    for (int i = 0; i < out->count; i++)
        if (vec3_distance(out->at[i], p.c) < 1e-7) return true;
    assert_true(out->count < 64);
    out->at[out->count++] = p.c;
    out->kinds[uu * vv < uv * uv ? 1 : uu > 0 ? 0 : 2]++;
    return true;
}

/* One stable and one unstable place to stand, and no third: mono-monostatic.  It is so by its low centre of
 * mass; the gomboc of Varkonyi and Domokos is of one density.  Indices add up to 2 (Poincare and Hopf), so
 * that none was missed. */
static void the_gomboc_like_body_stands_in_one_way(void **state) {
    (void)state;
    abut_error error = {0};
    abut_scene *scene = NULL;
    if (abut_scene_load(NULL, ABUT_SOURCE "/scenes/gomboc-like.lua", NULL, &scene, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    const abut_world_def *world = abut_scene_world(scene);
    const abut_body_def *body = &world->bodies[world->body_count - 1];
    const abut_surface *s = body->shape.surface;
    assert_int_equal(body->shape.kind, ABUT_SHAPE_SURFACE);
    equilibria found = {0};
    for (int i = 0; i < abut_surface_patch_count(s); i++) {
        double c[ABUT_SIDES_MOST][2], middle[2] = {0, 0};
        int sides = abut_surface_domain(s, i, c);
        for (int k = 0; k < sides; k++) middle[0] += c[k][0] / sides, middle[1] += c[k][1] / sides;
        for (int k = 0; k < sides; k++)
            for (int j = 0; j < 4; j++)
                settle_down(s, body->center,
                            (abut_surface_point){i, middle[0] + j / 4.0 * (c[k][0] - middle[0]),
                                                 middle[1] + j / 4.0 * (c[k][1] - middle[1])},
                            &found);
    }
    print_message("%d stable, %d saddles, %d unstable\n", found.kinds[0], found.kinds[1], found.kinds[2]);
    assert_int_equal(found.kinds[0] - found.kinds[1] + found.kinds[2], 2);
    assert_int_equal(found.kinds[0], 1);
    assert_int_equal(found.kinds[2], 1);
    abut_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scene_runs),
                                       cmocka_unit_test(the_gomboc_like_body_stands_in_one_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
