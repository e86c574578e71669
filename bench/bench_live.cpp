// The live clock against Bullet, ODE and MuJoCo: the same bodies, masses, friction, gravity and step, no
// sleeping, each engine's default iterations.
//
//   bench_live                 pyramid of base 20 and 1,000 hulls in a bin, one thread and two
//   bench_live pyramid|bin     only that            bench_live growth    250 to 8,000 hulls
//   --steps N                  instead of 600       --only NAME          one engine (abut, bullet, ode,
//   mujoco)                    --count N            growth: only that many hulls
//   --threads 1|2              only that many
//   --stages                   growth: the times of the stages too, of the second half; --whole: of all steps
//
// Times of one thread are CPU time, of two threads wall time.  `settled` is the mean of the second half.
// Overlap is measured from the poses by brute force (live_scene.cpp), the same for all.
#include "live_scene.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <vector>

namespace {

struct engine_row {
    const char *name, *title;
    make_live_engine *make;
};
const engine_row ENGINES[] = {
#ifdef BENCH_ABUT_LIVE
    {"abut", "abut", make_abut},
#endif
#ifdef BENCH_BULLET
    {"bullet", "Bullet 3.24", make_bullet},
#endif
#ifdef BENCH_ODE
    {"ode", "ODE 0.16 QuickStep", make_ode},
#endif
#ifdef BENCH_MUJOCO
    {"mujoco", "MuJoCo 2.2 CG", make_mujoco},
#endif
};

double cpu_now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
double wall_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct figures {
    bool is_there = false;
    double mean = 0, settled = 0, energy = 0, drift = 0; // ms, ms, J, m
    int steps = 0;                                       // that were reached
    double contacts = 0;                                 // a body, in the second half; 0: not told
    live_overlap overlap;
    std::string note;
};

// An engine that takes longer for its steps (MuJoCo's pyramid) is stopped there, and told by what it reached.
const double MOST_SECONDS = 40;

figures measure(const engine_row &row, const live_scene &scene, int threads, int steps, bool quality,
                bool whole = false) {
    figures f;
    std::unique_ptr<live_engine> engine = row.make(scene, threads);
    if (!engine) return f;
    f.is_there = true;
    std::vector<double> times;
    for (double spent = 0; f.steps < steps && spent < 1e3 * MOST_SECONDS; f.steps++) {
        if (f.steps == steps / 2 && !whole) engine->begin_note();
        double start = threads > 1 ? wall_now() : cpu_now();
        engine->step();
        double ms = 1e3 * ((threads > 1 ? wall_now() : cpu_now()) - start);
        times.push_back(ms), spent += ms;
    }
    for (int i = 0; i < f.steps; i++) {
        f.mean += times[i] / f.steps;
        if (i >= f.steps / 2) f.settled += times[i] / (f.steps - f.steps / 2);
    }
    f.note = engine->note(), f.contacts = engine->contacts();
    if (!quality) return f;
    f.overlap = measure_overlap(scene, *engine), f.energy = kinetic_energy(scene, *engine);
    int top = (int)scene.bodies.size() - 1;
    abut_vec3 a = scene.bodies[top].position, b = engine->motion(top).pose.position;
    f.drift = std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
    return f;
}

// An engine that has no threads stands with its time of one thread among those of two.
void run_scene(const char *title, const live_scene &scene, int steps, const char *only, int only_threads) {
    std::map<std::string, figures> of_one;
    for (int threads = 1; threads <= 2; threads++) {
        if (only_threads && threads != only_threads) continue;
        std::printf("\n%s, %d bodies, %d steps, %d thread%s\n", title, (int)scene.bodies.size(), steps,
                    threads, threads > 1 ? "s (wall time)" : " (CPU time)");
        std::printf("%-30s %9s %9s %8s %9s %9s %9s %9s\n", "engine", "mean ms", "settled", "x abut",
                    "most mm", "mean mm", "last mm", "energy J");
        double base = 0;
        for (const engine_row &row : ENGINES) {
            if (only && std::strcmp(only, row.name)) continue;
            figures f = measure(row, scene, threads, steps, threads == 1), &first = of_one[row.name];
            bool single = !f.is_there && first.is_there;
            if (threads == 1) first = f;
            if (single) f = first;
            if (!f.is_there) continue;
            if (base == 0) base = f.settled;
            std::printf("%-30s %9.3f %9.3f %8.2f", row.title, f.mean, f.settled, f.settled / base);
            if (threads == 1)
                std::printf(" %9.2f %9.3f %9.1f %9.3g", 1e3 * f.overlap.most, 1e3 * f.overlap.mean,
                            1e3 * f.drift, f.energy);
            if (single)
                std::printf("  (one thread: it has no more)");
            else if (threads > 1 && first.is_there)
                std::printf("  (one thread takes %.2f of that)", first.settled / f.settled);
            if (f.steps < steps) std::printf("  (%d steps in %g s)", f.steps, MOST_SECONDS);
            std::printf("%s%s\n", f.note.empty() ? "" : "\n    ", f.note.c_str());
            std::fflush(stdout);
        }
    }
}

// Least squares of log(y) over log(x): the exponent.
class slope {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;

  public:
    void add(double x, double y) {
        x = std::log(x), y = std::log(y);
        n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    double value() const { return (n * sxy - sx * sy) / (n * sxx - sx * sx); }
};

// The heap falls for two seconds and comes to rest; a large one takes longer, because no wall is near.  So
// two costs are told: of a step of the heap at rest, and the mean of all steps with the fall and the landing.
void run_growth(int steps, const char *only, int wanted, bool stages, bool whole) {
    const int counts[] = {250, 500, 1000, 2000, 4000, 8000};
    for (const engine_row &row : ENGINES) {
        if (std::strcmp(only ? only : "abut", row.name)) continue;
        slope settled, mean, contacts;
        int rows = 0;
        std::printf("\n%s: hulls in a bin, us of CPU a hull and step; settled: second half of %d steps\n",
                    row.title, steps);
        std::printf("%6s %9s %9s %9s\n", "hulls", "settled", "mean", "contacts");
        for (int count : counts) {
            if (wanted && count != wanted) continue;
            figures f = measure(row, make_bin(count), 1, steps, false, whole);
            if (!f.is_there) return;
            std::printf("%6d %9.2f %9.2f %9.2f\n", count, 1e3 * f.settled / count, 1e3 * f.mean / count,
                        f.contacts);
            if (stages) std::printf("       %s\n", f.note.c_str());
            std::fflush(stdout);
            settled.add(count, f.settled), mean.add(count, f.mean), rows++;
            if (f.contacts > 0) contacts.add(count * f.contacts, f.settled);
        }
        if (rows < 2) continue;
        std::printf("settled grows as count^%.3f (as contacts^%.3f), the mean as count^%.3f\n",
                    settled.value(), contacts.value(), mean.value());
    }
}

} // namespace

int main(int argc, char **argv) {
    const char *scene = "all", *only = nullptr;
    int steps = 0, count = 0, threads = 0;
    bool stages = false, whole = false;
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "--steps") && i + 1 < argc)
            steps = std::atoi(argv[++i]);
        else if (!std::strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!std::strcmp(argv[i], "--threads") && i + 1 < argc)
            threads = std::atoi(argv[++i]);
        else if (!std::strcmp(argv[i], "--count") && i + 1 < argc)
            count = std::atoi(argv[++i]);
        else if (!std::strcmp(argv[i], "--stages"))
            stages = true;
        else if (!std::strcmp(argv[i], "--whole"))
            stages = whole = true;
        else
            scene = argv[i];
    }
    bool all = !std::strcmp(scene, "all");
    if (all || !std::strcmp(scene, "pyramid"))
        run_scene("pyramid of base 20", make_pyramid(20), steps ? steps : 600, only, threads);
    if (all || !std::strcmp(scene, "bin"))
        run_scene("hulls in a bin", make_bin(1000), steps ? steps : 600, only, threads);
    if (!std::strcmp(scene, "growth")) run_growth(steps ? steps : 600, only, count, stages, whole);
    return 0;
}
