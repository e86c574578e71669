/* `abut bench live`: how good the live clock is.  Scenes that have an exact answer, each figure beside the
 * one of the best among Box3D, Jolt, Bullet, ODE and MuJoCo on the same scene (step 1/60 s, no sleeping, each
 * engine's default iterations). */
#include "bench_live.h"

#include <math.h>

static int missed;

/* A micrometre or its like is nothing: below that a figure counts as the exact answer. */
static const double NOTHING = 1e-3;

void figure_print(figure f) {
    bool has_peer = isfinite(f.best), kept = !has_peer || f.value <= f.best || f.value <= NOTHING;
    /* figures that are tiny in their unit are compared as they are */
    if (has_peer && f.best > 0 && f.best < NOTHING) kept = f.value <= f.best;
    char number[64], peer[64] = "";
    snprintf(number, sizeof number, "%.4g %s", f.value, f.unit);
    if (has_peer) snprintf(peer, sizeof peer, "%.4g %s", f.best, f.whose);
    printf("%-26s %-30s %14s   %-22s %7s   %s\n", f.scene, f.what, number, peer, f.exact,
           !has_peer ? ""
           : kept    ? "ok"
                     : "worse");
    missed += !kept;
    fflush(stdout);
}

int figures_missed(void) { return missed; }

int bench_live(bool strict) {
    missed = 0;
    printf("%-26s %-30s %14s   %-22s %7s\n", "scene", "figure", "abut", "best engine", "exact");
    bench_quality();
    bench_heaps();
    printf("%d figures worse than the best engine's\n", figures_missed());
    return strict && figures_missed() > 0 ? EXIT_NOT_MET : EXIT_DONE;
}
