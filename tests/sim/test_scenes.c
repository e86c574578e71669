/* Every scene of scenes/ loads, starts without overlap, and keeps its promises for its first 0.2 s. */
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scene_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
