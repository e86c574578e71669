// Complementarity against the solvers a user would take instead, in the same run, on the same contacts
// (frictionless):
//
//   ODE       dWorldStep (Dantzig on a dense matrix; its time includes building the matrix, ours does in
//   "with matrix") Lemke     Siconos, SICONOS_LCP_LEMKE, dense NSGS      Siconos, SICONOS_LCP_PGS (one row a
//   block) to 1e-8, at most 4e8 / n^2 and 20000 sweeps, dense
//
// bench_lcp [all | seeds | warm].  Residuals are ours to compute, from the definition, for everybody's z.
// Times are the best of several, in microseconds.
#include "abut/abut.h"
#include "contact_problem.h"

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#ifdef BENCH_ODE
#include <ode/ode.h>
#endif
#ifdef BENCH_SICONOS
#include <siconos/numerics/LCP_Solvers.h>
#include <siconos/numerics/LinearComplementarityProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/lcp_cst.h>
#endif

namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Best time of a call, in microseconds: at least three calls, at most a second in all.
double best_time(
    const std::function<void()> &call, const std::function<void()> &before = [] {}) {
    double best = 1e300, begin = now();
    for (int i = 0; i < 200 && (i < 3 || now() - begin < 0.04) && now() - begin < 4; i++) {
        before();
        double t = now();
        call();
        best = std::min(best, now() - t);
    }
    return 1e6 * best;
}

// Makes a solver forget what it knows of the last problem but for its memory, as ODE keeps its own too.
void forget(abut_lcp_solver *solver) {
    const double matrix[] = {2}, b[] = {-1};
    double z[1], w[1];
    abut_lcp other{};
    other.size = 1, other.dense = matrix, other.b = b;
    abut_lcp_config config = abut_default_lcp_config();
    abut_lcp_solve(solver, &other, &config, nullptr, z, w, nullptr, nullptr);
}

struct score {
    double time = -1, residual = -1;
};

struct ours {
    score solve, with_matrix;
    abut_lcp_result result{};
};

ours run_abut(contact_problem &p) {
    ours answer;
    std::vector<double> z(p.lcp.size), w(p.lcp.size);
    abut_lcp_config config = abut_default_lcp_config();
    config.skip_unique = config.skip_checks = true;
    abut_lcp_solver *solver = abut_lcp_solver_create(nullptr);
    auto solve = [&] {
        abut_lcp_solve(solver, &p.lcp, &config, nullptr, z.data(), w.data(), &answer.result, nullptr);
    };
    auto before = [&] { forget(solver); };
    answer.solve.time = best_time(solve, before);
    answer.with_matrix.time = best_time([&] { contact_problem_assemble(&p), solve(); }, before);
    abut_lcp_solver_destroy(solver);
    answer.solve.residual = answer.with_matrix.residual = abut_lcp_validate(&p.lcp, z.data(), nullptr);
    return answer;
}

#ifdef BENCH_ODE
int messages; // of ODE, since last set to 0
void silent(int, const char *, va_list) { messages++; }

// The same bodies and contact joints in an ODE world; h = 1 and bodies at rest, so that impulses are forces.
score run_ode_softened(const contact_problem &p, double cfm) {
    dWorldID world = dWorldCreate();
    dJointGroupID group = dJointGroupCreate(0);
    std::vector<dBodyID> bodies;
    std::vector<dJointFeedback> feedback(p.contact_count);
    for (int i = 0; i < p.body_count; i++) {
        const contact_body &b = p.bodies[i];
        dMass mass;
        dMassSetParameters(&mass, b.mass, 0, 0, 0, b.inertia[0], b.inertia[1], b.inertia[2], 0, 0, 0);
        bodies.push_back(dBodyCreate(world));
        dBodySetMass(bodies[i], &mass);
        dBodySetGyroscopicMode(bodies[i], 0);
    }
    for (int i = 0; i < p.contact_count; i++) {
        const contact_point &c = p.contacts[i];
        dContact contact{};
        contact.surface.mode = 0, contact.surface.mu = 0;
        for (int k = 0; k < 3; k++) contact.geom.pos[k] = c.at[k], contact.geom.normal[k] = c.normal[k];
        dJointID joint = dJointCreateContact(world, group, &contact);
        dJointAttach(joint, bodies[c.a], c.b < 0 ? nullptr : bodies[c.b]);
        dJointSetFeedback(joint, &feedback[i]);
    }
    dWorldSetERP(world, 0);
    dWorldSetCFM(world, cfm);
    messages = 0;
    double best = 1e300, begin = now();
    for (int k = 0; k < 50 && (k < 1 || (now() - begin < 0.2 && messages == 0)); k++) {
        for (int i = 0; i < p.body_count; i++) {
            const contact_body &b = p.bodies[i];
            const dQuaternion one = {1, 0, 0, 0};
            dBodySetPosition(bodies[i], b.at[0], b.at[1], b.at[2]);
            dBodySetQuaternion(bodies[i], one);
            dBodySetLinearVel(bodies[i], 0, 0, 0), dBodySetAngularVel(bodies[i], 0, 0, 0);
            dBodySetForce(bodies[i], b.load[0], b.load[1], b.load[2]),
                dBodySetTorque(bodies[i], b.load[3], b.load[4], b.load[5]);
        }
        double t = now();
        dWorldStep(world, 1);
        best = std::min(best, now() - t);
    }
    std::vector<double> z(p.contact_count);
    for (int i = 0; i < p.contact_count; i++)
        for (int k = 0; k < 3; k++) z[i] += feedback[i].f1[k] * p.contacts[i].normal[k];
    dJointGroupDestroy(group);
    dWorldDestroy(world);
    return {1e6 * best, abut_lcp_validate(&p.lcp, z.data(), nullptr)};
}
score run_ode(const contact_problem &p) {
    score answer;
    for (double cfm : {1e-10, 1e-8, 1e-6, 1e-5, 1e-4}) {
        answer = run_ode_softened(p, cfm);
        if (messages == 0) break;
    }
    return answer;
}
#endif

#ifdef BENCH_SICONOS
score run_siconos(const contact_problem &p, int method, double patience) {
    int n = p.lcp.size;
    std::vector<double> matrix((size_t)n * n), q(p.b, p.b + n), z(n), w(n);
    for (int i = 0; i < n; i++)
        for (int k = p.row_start[i]; k < p.row_start[i + 1]; k++)
            matrix[i + (size_t)n * p.column[k]] = p.value[k];
    double best = 1e300, begin = now();
    for (int k = 0; k < 50 && (k == 0 || now() - begin < patience); k++) {
        std::vector<double> copy = matrix; // the solver may overwrite it
        LinearComplementarityProblem problem{};
        problem.size = n, problem.M = NM_create_from_data(NM_DENSE, n, n, copy.data()), problem.q = q.data();
        SolverOptions *options = solver_options_create(method);
        options->dparam[SICONOS_DPARAM_TOL] = 1e-8;
        options->iparam[SICONOS_IPARAM_MAX_ITER] =
            method == SICONOS_LCP_LEMKE ? 4 * n : std::min(20000, (int)(4e8 / n / n));
        std::fill(z.begin(), z.end(), 0), std::fill(w.begin(), w.end(), 0);
        double t = now();
        linearComplementarity_driver(&problem, z.data(), w.data(), options);
        best = std::min(best, now() - t);
        solver_options_delete(options);
        problem.M->matrix0 = nullptr;
    }
    return {1e6 * best, abut_lcp_validate(&p.lcp, z.data(), nullptr)};
}
#endif

void print(const score &s, double base) {
    if (s.time < 0)
        printf("  %10s %8s %6s", "-", "-", "-");
    else
        printf("  %10.1f %8.1e %5.1fx", s.time, s.residual, s.time / base);
}

enum kind { STACK, LEANING, WALL, PILE, HEAVY_PILE, KINDS };
const char *const names[] = {"stack", "leaning", "wall", "pile", "pile 1:100"};

void make(contact_problem &p, int kind, int contacts, uint64_t seed) {
    int side = std::max(1, (int)std::lround(std::sqrt(contacts / 8.0)));
    switch (kind) {
    case STACK: contact_problem_stack(&p, std::max(1, contacts / 4), 0, 1, seed); break;
    case LEANING: contact_problem_stack(&p, std::max(1, contacts / 4), 0.1, 1, seed); break;
    case WALL:
        contact_problem_wall(&p, std::max(1, (int)std::lround((double)contacts / (8 * side) + 0.5)), side,
                             seed);
        break;
    case PILE: contact_problem_pile(&p, contacts, 1, 0, seed); break;
    default: contact_problem_pile(&p, contacts, 100, 0, seed); break;
    }
    contact_problem_load(&p, 1e-3); // as real scenes have; where b is exactly 0, ODE and Siconos give up
    contact_problem_assemble(&p);
}

// One problem after another, the loads a little different each time: cold against warm, mean of 20.
void warm_start(int kind, int contacts) {
    contact_problem p;
    make(p, kind, contacts, 1);
    int n = p.lcp.size;
    std::vector<double> z(n), w(n);
    std::vector<uint8_t> state(n);
    abut_lcp_solver *solver = abut_lcp_solver_create(nullptr), *fresh = abut_lcp_solver_create(nullptr);
    abut_lcp_config config = abut_default_lcp_config();
    config.skip_unique = config.skip_checks = true;
    abut_lcp_solve(solver, &p.lcp, &config, state.data(), z.data(), w.data(), nullptr, nullptr);
    double cold = 0, warm = 0, worst = 0;
    for (int step = 0; step < 20; step++) {
        std::vector<double> y(n);
        contact_problem_load(&p, 1e-4);
        contact_problem_assemble(&p);
        config.warm = false;
        cold += best_time(
                    [&] {
                        abut_lcp_solve(fresh, &p.lcp, &config, nullptr, y.data(), w.data(), nullptr, nullptr);
                    },
                    [&] { forget(fresh); }) /
                20;
        config.warm = true;
        std::vector<double> start = z;
        std::vector<uint8_t> begin = state;
        warm +=
            best_time([&] {
                z = start, state = begin;
                abut_lcp_solve(solver, &p.lcp, &config, state.data(), z.data(), w.data(), nullptr, nullptr);
            }) /
            20;
        worst = std::max(worst, abut_lcp_validate(&p.lcp, z.data(), nullptr));
    }
    printf("%-10s %5d  %10.1f %10.1f %6.1fx   %8.1e\n", names[kind], n, cold, warm, cold / warm, worst);
    abut_lcp_solver_destroy(solver), abut_lcp_solver_destroy(fresh);
    contact_problem_free(&p);
}

#ifdef BENCH_ODE
// Piles that no constant was chosen with: ten seeds a size, ours and ODE by turns, the least time of each,
// since the machine has other work. Ratios of the totals, and the smallest and largest of one pile.
void held_out(int kind, int contacts) {
    double mine = 0, alone = 0, theirs = 0, least = 1e300, most = 0, worst = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        contact_problem p;
        make(p, kind, contacts, 21000 + 10 * (uint64_t)contacts + seed);
        double a = 1e300, b = 1e300, c = 1e300;
        for (int turn = 0; turn < 3; turn++) {
            ours answer = run_abut(p);
            a = std::min(a, answer.with_matrix.time), c = std::min(c, answer.solve.time);
            b = std::min(b, run_ode(p).time), worst = std::max(worst, answer.solve.residual);
        }
        mine += a, theirs += b, alone += c, least = std::min(least, b / a), most = std::max(most, b / a);
        contact_problem_free(&p);
    }
    printf("%-10s %5d  %10.1f %10.1f %10.1f %6.2fx  %5.2f to %5.2f   %8.1e\n", names[kind], contacts,
           alone / 10, mine / 10, theirs / 10, theirs / mine, least, most, worst);
    fflush(stdout);
}
#endif

} // namespace

int main(int argc, char **argv) {
    std::string what = argc > 1 ? argv[1] : "all";
    const int sizes[] = {10, 50, 100, 200, 500};
#ifdef BENCH_ODE
    dInitODE();
    dSetMessageHandler(silent), dSetDebugHandler(silent), dSetErrorHandler(silent);
#endif
    printf("microseconds, residual, and time over ours with matrix (Siconos: over our solution alone)\n");
    printf("%-10s %5s  %10s %10s %8s  %27s  %27s  %27s\n", "scene", "n", "solve", "with matrix", "residual",
           "ODE dWorldStep", "Siconos Lemke", "Siconos NSGS");
    for (int kind = 0; kind < KINDS && what == "all"; kind++)
        for (int size : sizes) {
            contact_problem p;
            make(p, kind, size, (uint64_t)size);
            ours mine = run_abut(p);
            score ode, lemke, nsgs;
#ifdef BENCH_ODE
            ode = run_ode(p);
#endif
#ifdef BENCH_SICONOS
            lemke = run_siconos(p, SICONOS_LCP_LEMKE, 0.3);
            nsgs = run_siconos(p, SICONOS_LCP_PGS, 0.3);
#endif
            printf("%-10s %5d  %10.1f %10.1f  %8.1e", names[kind], p.lcp.size, mine.solve.time,
                   mine.with_matrix.time, mine.solve.residual);
            print(ode, mine.with_matrix.time), print(lemke, mine.solve.time), print(nsgs, mine.solve.time);
            printf("\n");
            fflush(stdout);
            contact_problem_free(&p);
        }
#ifdef BENCH_ODE
    printf("\nten held-out seeds each: means, and ODE over ours with matrix\n%-10s %5s  %10s %10s %10s %7s  "
           "%14s   %8s\n",
           "scene", "n", "solve", "with matrix", "ODE", "ratio", "one pile", "residual");
    for (int kind = PILE; kind < KINDS && (what == "all" || what == "seeds"); kind++)
        for (int size : sizes) held_out(kind, size);
#endif
    if (what == "seeds") return 0;
    printf("\nslowly changing loads, 20 steps: cold and warm, microseconds\n%-10s %5s  %10s %10s %7s   %8s\n",
           "scene", "n", "cold", "warm", "ratio", "residual");
    for (int kind = 0; kind < KINDS; kind++)
        for (int size : {100, 500}) warm_start(kind, size);
#ifdef BENCH_ODE
    dCloseODE();
#endif
    return 0;
}
