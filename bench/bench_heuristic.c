/* How often Baraff's heuristic of 1989, section 6, is right, per kind of scene, with the exact solver beside
 * it; the table of docs/complementarity.md.  `right by V = {}`: no contact vanishes and (19) is feasible;
 * `right by guess`: the set V of the minimum-sum force passes (18); `wrong`: neither. Every answer is checked
 * by the validator; times are means. */
#include "abut/abut.h"
#include "contact_problem.h"

#include <stdio.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { KINDS = 7, SCENES = 400 };
static const char *const names[KINDS] = {
    "stacks at rest",      "overbalanced stacks (figure 1)", "walls", "walls, random loads", "piles",
    "piles, random loads", "piles, masses 1 : 1e4"};

static void make(contact_problem *p, int kind, int scene) {
    uint64_t seed = (uint64_t)(1000 * kind + scene);
    int size = 1 + scene % 10;
    if (kind == 0) contact_problem_stack(p, size, 0, 10, seed);
    if (kind == 1) contact_problem_stack(p, 2 + scene % 7, 0.25 * (1 + scene / 7 % 7), 1, seed);
    if (kind == 2 || kind == 3) contact_problem_wall(p, 1 + scene % 4, 1 + scene / 4 % 4, seed);
    if (kind == 3) contact_problem_load(p, 0.5);
    if (kind >= 4) contact_problem_pile(p, 2 + scene % 49, kind == 6 ? 1e4 : 1, 0.1, seed);
    if (kind == 5) contact_problem_load(p, 0.5);
    contact_problem_assemble(p);
}

int main(void) {
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    printf("| scenes (%d each) | contacts | right by V = {} | right by guess | wrong | LP us | exact us | "
           "exact solved | worst residual |\n",
           SCENES);
    printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int kind = 0; kind < KINDS && solver; kind++) {
        int counts[4] = {0}, solved = 0, least = 1 << 30, most = 0;
        double times[2] = {0}, worst = 0;
        for (int scene = 0; scene < SCENES; scene++) {
            contact_problem p;
            make(&p, kind, scene);
            int n = p.lcp.size;
            double *z = calloc((size_t)(2 * n) + 1, sizeof *z);
            if (!z) abort();
            for (int m = 0; m < 2; m++) {
                abut_lcp_config config = abut_default_lcp_config();
                abut_lcp_result result;
                config.method = m ? ABUT_LCP_EXACT : ABUT_LCP_LP, config.skip_unique = true;
                double t = now();
                abut_status status = abut_lcp_solve(solver, &p.lcp, &config, NULL, z, z + n, &result, NULL);
                times[m] += 1e6 * (now() - t) / SCENES;
                if (m == 0) counts[result.guess]++;
                if (m == 1)
                    solved += status == ABUT_OK, worst = fmax(worst, abut_lcp_validate(&p.lcp, z, NULL));
            }
            least = n < least ? n : least, most = n > most ? n : most;
            free(z);
            contact_problem_free(&p);
        }
        printf("| %s | %d to %d | %.1f %% | %.1f %% | %.1f %% | %.0f | %.0f | %d | %.1e |\n", names[kind],
               least, most, 100.0 * counts[ABUT_LCP_NONE_VANISHES] / SCENES,
               100.0 * counts[ABUT_LCP_GUESSED_VANISHING] / SCENES,
               100.0 * counts[ABUT_LCP_GUESSED_WRONG] / SCENES, times[0], times[1], solved, worst);
        fflush(stdout);
    }
    abut_lcp_solver_destroy(solver);
    return 0;
}
