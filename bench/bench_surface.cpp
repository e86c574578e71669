/* Nanoseconds for one evaluation of a smooth patch, against the libraries a user would take instead, in one
 * run: SISL for bicubic and rational patches (s1421, derivatives to third order), OpenSubdiv's Bfr for Loop
 * surfaces (six values to second order, which is all it has).  Same points, same values: they are compared
 * first.
 *
 *     bench_surface [MILLISECONDS a row]
 *
 * Then one evaluation of the accelerations of two Bezier patches in contact, in each mode of friction, beside
 * the 0.9 ms of Kry's thesis; and the rattleback of the thesis (two Bezier patches) for a minute of the exact
 * clock in contact coordinates: times real time.
 *
 * CPU time of the best of several rounds, the two in turn, as the machine may be shared. */
#include "abut/abut.h"

#include <opensubdiv/bfr/refinerSurfaceFactory.h>
#include <opensubdiv/far/topologyDescriptor.h>
#include <sisl.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

using namespace OpenSubdiv;

extern "C" double bench_accelerations(int mode, double milliseconds); /* tests/dynamics/bench_reduced.c */

namespace {

double cpu_now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

double milliseconds = 60;
volatile double sink;

/* Points spread over a triangle or the unit square (shrunk a little, away from the border). */
struct Points {
    std::vector<double> uv;
    Points(bool triangle) {
        for (int i = 0; i < 256; i++) {
            double u = std::fmod(i * 0.6180339887, 1.0) * 0.98 + 0.01, v = (i + 0.5) / 256 * 0.98 + 0.01;
            if (triangle && u + v > 1) u = 1 - u, v = 1 - v;
            uv.push_back(u), uv.push_back(v);
        }
    }
};

template <class F> double round_of(const Points &p, F evaluate) {
    int rounds = 0;
    double start = cpu_now(), spent = 0;
    do {
        for (size_t i = 0; i < p.uv.size(); i += 2) evaluate(p.uv[i], p.uv[i + 1]);
        rounds++;
    } while ((spent = cpu_now() - start) < 1e-3 * milliseconds / 8);
    return spent * 1e9 / (rounds * double(p.uv.size() / 2));
}

template <class F, class G> void race(const Points &p, F ours, G theirs, double *a, double *b) {
    *a = *b = 1e30;
    for (int k = 0; k < 8; k++) *a = std::min(*a, round_of(p, ours)), *b = std::min(*b, round_of(p, theirs));
}

void row(const char *what, int values, double ours, const char *peer, double theirs, double mark) {
    std::printf("%-44s %6d %9.1f", what, values, ours);
    if (theirs > 0)
        std::printf("   %-12s %9.1f %7.2f", peer, theirs, theirs / ours);
    else
        std::printf("   %-12s %9s %7s", "-", "-", "-");
    if (mark > 0) std::printf(" %9.0f", mark);
    std::printf("\n");
}

double difference(const double *a, abut_vec3 b) {
    return std::max(std::fabs(a[0] - b.x), std::max(std::fabs(a[1] - b.y), std::fabs(a[2] - b.z)));
}

/* ---- SISL */
void bezier_rows(bool rational) {
    abut_vec3 points[16];
    double weights[16], knots[8] = {0, 0, 0, 0, 1, 1, 1, 1}, net[64];
    for (int k = 0; k < 16; k++) {
        points[k] = {double(k % 4), double(k / 4), std::sin(k * 1.7)};
        weights[k] = rational ? 1 + 0.5 * std::cos(k * 2.3) : 1;
        int size = rational ? 4 : 3;
        net[size * k] = points[k].x * weights[k], net[size * k + 1] = points[k].y * weights[k];
        net[size * k + 2] = points[k].z * weights[k];
        if (rational) net[size * k + 3] = weights[k];
    }
    abut_surface *surface = nullptr;
    abut_surface_rational(nullptr, points, rational ? weights : nullptr, 1, &surface, nullptr);
    SISLSurf *peer = newSurf(4, 4, 4, 4, knots, knots, net, rational ? 2 : 1, 3, 1);
    Points p(false);
    for (int order = 1; order <= 3; order++) {
        int left_u = 0, left_v = 0, status;
        double d[3 * 16], normal[3], worst = 0;
        abut_partials at;
        auto theirs = [&](double u, double v) {
            double uv[2] = {u, v};
            s1421(peer, order, uv, &left_u, &left_v, d, normal, &status);
            sink = d[0];
        };
        auto ours = [&](double u, double v) {
            abut_surface_evaluate(surface, 0, u, v, order, &at);
            sink = at.c.x;
        };
        /* s1421 gives c, u, v, uu, uv, vv, uuu, uuv, uvv, vvv, as we do */
        theirs(0.3, 0.7), ours(0.3, 0.7);
        int count = (order + 1) * (order + 2) / 2;
        for (int k = 0; k < count; k++) worst = std::max(worst, difference(d + 3 * k, (&at.c)[k]));
        double a, b;
        race(p, ours, theirs, &a, &b);
        char name[80];
        std::snprintf(name, sizeof name, "%s, order %d (agree to %.0e)",
                      rational ? "rational bicubic" : "bicubic Bezier", order, worst);
        row(name, count, a, "SISL", b, order == 3 && !rational ? 60 : 0);
    }
    freeSurf(peer);
    abut_surface_free(nullptr, surface);
}

/* ---- OpenSubdiv */
typedef Bfr::RefinerSurfaceFactory<> Factory;

/* A closed cage with an apex of valence n whose neighbours have valence 6: n points around it, 2n around
 * those, and a pole. */
struct Cage {
    std::vector<abut_vec3> points;
    std::vector<int> corners;
    std::vector<int64_t> start{0};
    abut_mesh mesh{};
    explicit Cage(int n) {
        const double tau = 6.283185307179586;
        points.push_back({0, 0, 1});
        for (int i = 0; i < n; i++) points.push_back({std::cos(tau * i / n), std::sin(tau * i / n), 0.8});
        for (int i = 0; i < 2 * n; i++)
            points.push_back({2 * std::cos(tau * i / (2 * n)), 2 * std::sin(tau * i / (2 * n)), 0});
        points.push_back({0, 0, -1});
        auto near = [&](int i) { return 1 + i % n; };
        auto far = [&](int i) { return 1 + n + (i + 2 * n) % (2 * n); };
        for (int i = 0; i < n; i++) {
            add(0, near(i), near(i + 1));
            add(near(i), far(2 * i - 1), far(2 * i));
            add(near(i), far(2 * i), far(2 * i + 1));
            add(near(i), far(2 * i + 1), near(i + 1));
        }
        for (int i = 0; i < 2 * n; i++) add(far(i + 1), far(i), int(points.size()) - 1);
        mesh.points = points.data(), mesh.corners = corners.data(), mesh.face_start = start.data();
        mesh.point_count = int64_t(points.size()), mesh.face_count = int64_t(start.size()) - 1;
        mesh.corner_count = int64_t(corners.size());
    }
    void add(int a, int b, int c) {
        corners.push_back(a), corners.push_back(b), corners.push_back(c);
        start.push_back(int64_t(corners.size()));
    }
};

void loop_row(int valence, bool regular) {
    Cage cage(valence);
    abut_surface *surface = nullptr;
    abut_error error{};
    if (abut_surface_loop(nullptr, &cage.mesh, nullptr, &surface, &error) != ABUT_OK) {
        std::printf("%s\n", error.message);
        return;
    }
    int face = -1;
    for (int f = 0; f < abut_surface_patch_count(surface) && face < 0; f++) {
        abut_patch_facts facts = abut_surface_patch_facts(surface, f);
        if (regular ? facts.kind == ABUT_PATCH_LOOP
                    : facts.kind == ABUT_PATCH_STAM && facts.valence == valence)
            face = f;
    }
    if (face < 0) {
        std::printf("no patch of valence %d\n", valence);
        return;
    }
    std::vector<int> sizes(size_t(cage.mesh.face_count), 3);
    Far::TopologyDescriptor descriptor;
    descriptor.numVertices = int(cage.mesh.point_count), descriptor.numFaces = int(cage.mesh.face_count);
    descriptor.numVertsPerFace = sizes.data(), descriptor.vertIndicesPerFace = cage.corners.data();
    typedef Far::TopologyRefinerFactory<Far::TopologyDescriptor> Refiner;
    Far::TopologyRefiner *refiner =
        Refiner::Create(descriptor, Refiner::Options(Sdc::SCHEME_LOOP, Sdc::Options()));
    Factory factory(*refiner, Factory::Options());
    Bfr::Surface<double> peer;
    factory.InitVertexSurface(face, &peer);
    std::vector<double> mesh_points, patch_points(size_t(peer.GetNumPatchPoints()) * 3);
    for (const abut_vec3 &x : cage.points) mesh_points.insert(mesh_points.end(), {x.x, x.y, x.z});
    peer.PreparePatchPoints(mesh_points.data(), Bfr::Surface<double>::PointDescriptor(3), patch_points.data(),
                            Bfr::Surface<double>::PointDescriptor(3));
    double d[6][3], worst = 0;
    abut_partials at;
    auto theirs = [&](double u, double v) {
        double uv[2] = {u, v};
        peer.Evaluate(uv, patch_points.data(), Bfr::Surface<double>::PointDescriptor(3), d[0], d[1], d[2],
                      d[3], d[4], d[5]);
        sink = d[0][0];
    };
    Points p(true);
    for (int order = 2; order <= 3; order++) {
        auto ours = [&](double u, double v) {
            abut_surface_evaluate(surface, face, u, v, order, &at);
            sink = at.c.x;
        };
        theirs(0.3, 0.6), ours(0.3, 0.6);
        for (int k = 0; k < 6; k++) worst = std::max(worst, difference(d[k], (&at.c)[k]));
        double a, b;
        race(p, ours, theirs, &a, &b);
        char name[80];
        if (regular)
            std::snprintf(name, sizeof name, "regular Loop, order %d (agree to %.0e)", order, worst);
        else
            std::snprintf(name, sizeof name, "Loop, valence %d, order %d (agree to %.0e)", valence, order,
                          worst);
        row(name, order == 2 ? 6 : 10, a, order == 2 ? "OpenSubdiv" : "(its six)", b,
            order == 3 && regular ? 223 : 0);
    }
    delete refiner;
    abut_surface_free(nullptr, surface);
}

/* ---- S-patches: no peer */
void s_patch_rows() {
    static const struct {
        int sides;
        double mark;
    } cases[] = {{3, 830}, {4, 1590}, {5, 2800}, {10, 19500}};
    for (auto c : cases) {
        std::vector<abut_vec3> points;
        for (int i = 0; i < abut_s_patch_points(c.sides); i++)
            points.push_back({std::sin(i * 1.1), std::cos(i * 2.3), std::sin(i * 3.7)});
        abut_surface *surface = nullptr;
        abut_surface_s_patch(nullptr, c.sides, points.data(), &surface, nullptr);
        Points p(true);
        abut_partials at;
        auto ours = [&](double u, double v) {
            abut_surface_evaluate(surface, 0, 0.5 * u, 0.5 * v, 3, &at);
            sink = at.c.x;
        };
        double best = 1e30;
        for (int k = 0; k < 8; k++) best = std::min(best, round_of(p, ours));
        char name[80];
        std::snprintf(name, sizeof name, "S-patch of degree 4, %d sides, order 3", c.sides);
        row(name, 10, best, "", 0, c.mark);
        abut_surface_free(nullptr, surface);
    }
    /* as it fills a hole, with corrections */
    for (int n : {3, 5, 8}) {
        Cage cage(n);
        abut_loop_options options = abut_default_loop_options();
        options.form = ABUT_LOOP_SMOOTH, options.refine = 1;
        abut_surface *surface = nullptr;
        if (abut_surface_loop(nullptr, &cage.mesh, &options, &surface, nullptr) != ABUT_OK) continue;
        for (int f = 0; f < abut_surface_patch_count(surface); f++) {
            if (abut_surface_patch_facts(surface, f).valence != n) continue;
            Points p(true);
            abut_partials at;
            auto ours = [&](double u, double v) {
                abut_surface_evaluate(surface, f, 0.5 * u, 0.5 * v, 3, &at);
                sink = at.c.x;
            };
            double best = 1e30;
            for (int k = 0; k < 8; k++) best = std::min(best, round_of(p, ours));
            char name[80];
            std::snprintf(name, sizeof name, "S-patch that fills a hole, %d sides, order 3", n);
            row(name, 10, best, "", 0, n == 5 ? 3000 : 0);
            break;
        }
        abut_surface_free(nullptr, surface);
    }
}

/* ---- accelerations, Bezier on Bezier */

void acceleration_rows() {
    static const char *const names[] = {
        "accelerations, frictionless (5 freedoms)", "accelerations, sliding (5 freedoms)",
        "accelerations, no slip (3 freedoms)", "accelerations, no slip, no spin (2)"};
    for (int mode = 0; mode < 4; mode++)
        row(names[mode], 6, bench_accelerations(mode, milliseconds), "Kry 2000", 900000, 2000);
}

/* ---- the rattleback's minute */

struct Rattleback {
    abut_surface *top = nullptr, *floor = nullptr;
    abut_model *model = nullptr;
    Rattleback() {
        std::vector<abut_vec3> a, b;
        double c = std::cos(-0.174), s = std::sin(-0.174);
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 4; i++) {
                double edge = (i % 3 == 0) + (j % 3 == 0), x = 0.6 * (i - 1.5), y = 0.2 * (j - 1.5);
                a.push_back({c * x - s * y, s * x + c * y, 0.2 - 0.2 * edge});
                b.push_back({i - 1.5, j - 1.5, 0});
            }
        abut_surface_bezier(nullptr, a.data(), 1, &top, nullptr);
        abut_surface_bezier(nullptr, b.data(), 1, &floor, nullptr);
        abut_body_def bodies[2] = {abut_default_body(), abut_default_body()};
        bodies[0].name = "floor", bodies[0].fixed = true;
        bodies[1].name = "rattleback", bodies[1].mass = 5;
        bodies[1].has_inertia = bodies[1].has_center = true;
        bodies[1].inertia[0] = 1, bodies[1].inertia[1] = bodies[1].inertia[2] = 10;
        for (int k = 0; k < 2; k++)
            bodies[k].shape.kind = ABUT_SHAPE_SURFACE, bodies[k].shape.surface = k ? top : floor;
        abut_rolling_def contact = {};
        contact.a = 1, contact.b = 0, contact.rates[4] = -1;
        contact.coordinates[0] = contact.coordinates[1] = 0.45;
        contact.coordinates[2] = contact.coordinates[3] = 0.5;
        abut_world_def world = abut_default_world();
        world.bodies = bodies, world.body_count = 2, world.rollings = &contact, world.rolling_count = 1;
        world.material.friction = {0.3, 0.3, 0, 0};
        abut_model_create(nullptr, &world, &model, nullptr);
    }
    ~Rattleback() {
        abut_model_free(model);
        abut_surface_free(nullptr, top);
        abut_surface_free(nullptr, floor);
    }
};

void rattleback_rows() {
    Rattleback r;
    std::printf("\n%-44s %9s %9s %12s %14s %10s\n", "rattleback, a minute", "ms", "x real", "steps",
                "us a step", "us an eval");
    for (int frames : {3600, 600, 1}) {
        double best = 1e30;
        long steps = 0, evaluations = 1;
        for (int k = 0; k < 5; k++) {
            abut_sim *sim = nullptr;
            if (abut_sim_create(nullptr, r.model, nullptr, &sim, nullptr) != ABUT_OK) return;
            double start = cpu_now();
            for (int i = 1; i <= frames; i++) abut_sim_advance(sim, 60.0 * i / frames, nullptr);
            best = std::min(best, cpu_now() - start);
            steps = long(abut_sim_steps(sim)), evaluations = long(abut_sim_evaluations(sim));
            abut_sim_free(sim);
        }
        char name[80];
        std::snprintf(name, sizeof name, "in %d frame%s", frames, frames > 1 ? "s" : "");
        std::printf("%-44s %9.1f %9.0f %12ld %14.2f %10.3f\n", name, 1e3 * best, 60 / best, steps,
                    1e6 * best / double(steps), 1e6 * best / double(evaluations));
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1) milliseconds = std::atof(argv[1]);
    std::printf("%-44s %6s %9s   %-12s %9s %7s %9s\n", "patch", "values", "abut ns", "peer", "peer ns",
                "ratio", "mark ns");
    bezier_rows(false);
    bezier_rows(true);
    loop_row(6, true);
    for (int n : {3, 4, 5, 7, 10}) loop_row(n, false);
    s_patch_rows();
    acceleration_rows();
    rattleback_rows();
    return 0;
}
