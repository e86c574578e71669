// Convex pairs: growth distance with contact points, against libccd, FCL and Bullet on the same poses.
//
//   abut growth   growth, normal, distance (double, to 1e-9)      abut points   and all contact points
//   abut far      apart by more than a centimetre, yes or no: stops at the first direction that shows it
//   abut warm     the same as points with the simplex of the last query, the pair having moved a little
//   libccd        apart: yes or no only (ccdGJKIntersect); overlapping: depth (ccdGJKPenetration: GJK and
//   EPA) FCL           apart: distance; overlapping: collide with one contact (GJK and EPA of libccd inside)
//   Bullet        btGjkPairDetector, with EPA when overlapping (float)
//
// Hulls of n points on a noisy sphere, random rotations; apart: centres 1.3 to 2 radii sums away;
// overlapping: 0.3 to 0.8.  Prints nanoseconds for each query and the ratio to abut points.
#include "abut/convex.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#ifdef BENCH_CCD
#include <ccd/ccd.h>
#include <ccd/quat.h>
#endif
#ifdef BENCH_FCL
#include <fcl/fcl.h>
#endif
#ifdef BENCH_BULLET
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>
#endif

namespace {

struct body {
    std::vector<abut_vec3> points;
    abut_hull *hull = nullptr;
    abut_pose pose;
};

struct query {
    body *a, *b;
    abut_pose pa, pb;
};

std::mt19937_64 engine(20261115);
double uniform(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(engine); }

abut_vec3 direction() {
    for (;;) {
        abut_vec3 d = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        double r = std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
        if (r > 0.1 && r <= 1) return {d.x / r, d.y / r, d.z / r};
    }
}

abut_quat rotation() {
    abut_vec3 axis = direction();
    return abut_quat_from_axis_angle(axis, uniform(-3, 3));
}

body make_body(int n) {
    body b;
    for (int i = 0; i < n; i++) {
        abut_vec3 d = direction();
        double r = 0.5 * uniform(0.9, 1.1);
        b.points.push_back({d.x * r, d.y * r, d.z * r});
    }
    if (abut_hull_create(nullptr, b.points.data(), n, &b.hull, nullptr) != ABUT_OK) std::printf("no hull\n");
    return b;
}

std::vector<query> make_queries(std::vector<body> &bodies, bool apart) {
    std::vector<query> queries;
    for (int i = 0; i < 2000; i++) {
        query q;
        q.a = &bodies[engine() % bodies.size()], q.b = &bodies[engine() % bodies.size()];
        double distance = apart ? uniform(1.3, 2) : uniform(0.3, 0.8);
        abut_vec3 d = direction();
        q.pa = {{0, 0, 0}, rotation()};
        q.pb = {{d.x * distance, d.y * distance, d.z * distance}, rotation()};
        queries.push_back(q);
    }
    return queries;
}

// Nanoseconds a query: the fastest of five passes, so that other work on the machine counts little.
template <class F> double measure(const std::vector<query> &queries, F &&ask) {
    double best = 1e30;
    for (int pass = 0; pass < 5; pass++) {
        auto start = std::chrono::steady_clock::now();
        for (const query &q : queries) ask(q);
        std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
        best = std::min(best, spent.count() / queries.size());
    }
    return best;
}

double sink;

double abut_time(const std::vector<query> &queries, bool points, double far_distance = INFINITY) {
    abut_convex_options options = abut_default_convex_options();
    options.no_points = !points, options.far_distance = far_distance;
    std::vector<abut_convex_point> room(512);
    return measure(queries, [&](const query &q) {
        abut_convex a = abut_convex_hull(q.a->hull), b = abut_convex_hull(q.b->hull);
        abut_convex_result r = {};
        r.points = room.data(), r.capacity = 512;
        abut_convex_distance(&a, q.pa, &b, q.pb, &options, nullptr, &r, nullptr);
        sink += r.growth;
    });
}

// A simulation's view: the answer of the step before is known, the pair has turned by a thousandth.
double abut_warm_time(const std::vector<query> &queries) {
    std::vector<abut_convex_cache> caches(queries.size());
    std::vector<abut_convex_point> room(512);
    abut_convex_options options = abut_default_convex_options();
    auto ask = [&](const query &q, abut_convex_cache *cache, abut_pose pb) {
        abut_convex a = abut_convex_hull(q.a->hull), b = abut_convex_hull(q.b->hull);
        abut_convex_result r = {};
        r.points = room.data(), r.capacity = 512;
        abut_convex_distance(&a, q.pa, &b, pb, &options, cache, &r, nullptr);
        sink += r.growth;
    };
    for (size_t i = 0; i < queries.size(); i++) ask(queries[i], &caches[i], queries[i].pb);
    int pass = 0;
    size_t i = 0;
    return measure(queries, [&](const query &q) {
        if (i == queries.size()) i = 0, pass++;
        abut_pose pb = q.pb;
        pb.position.x += 1e-3 * (pass + 1);
        ask(q, &caches[i++], pb);
    });
}

#ifdef BENCH_CCD
struct ccd_body {
    const std::vector<abut_vec3> *points;
    ccd_vec3_t position;
    ccd_quat_t rotation, inverse;
};
void ccd_support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *out) {
    const ccd_body *b = static_cast<const ccd_body *>(object);
    ccd_vec3_t d = *direction;
    ccdQuatRotVec(&d, &b->inverse);
    double best = -1e300;
    abut_vec3 at = {};
    for (const abut_vec3 &p : *b->points) {
        double value = p.x * d.v[0] + p.y * d.v[1] + p.z * d.v[2];
        if (value > best) best = value, at = p;
    }
    ccdVec3Set(out, at.x, at.y, at.z);
    ccdQuatRotVec(out, &b->rotation);
    ccdVec3Add(out, &b->position);
}
void ccd_center(const void *object, ccd_vec3_t *out) {
    *out = static_cast<const ccd_body *>(object)->position;
}
ccd_body ccd_place(const body *b, const abut_pose &p) {
    ccd_body o;
    o.points = &b->points;
    ccdVec3Set(&o.position, p.position.x, p.position.y, p.position.z);
    ccdQuatSet(&o.rotation, p.rotation.x, p.rotation.y, p.rotation.z, p.rotation.w);
    ccdQuatInvert2(&o.inverse, &o.rotation);
    return o;
}
double ccd_time(const std::vector<query> &queries, bool apart) {
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd_support, ccd.support2 = ccd_support, ccd.center1 = ccd_center,
    ccd.center2 = ccd_center;
    ccd.max_iterations = 500;
    return measure(queries, [&](const query &q) {
        ccd_body a = ccd_place(q.a, q.pa), b = ccd_place(q.b, q.pb);
        ccd_real_t depth = 0;
        ccd_vec3_t dir, at;
        sink += apart ? ccdGJKIntersect(&a, &b, &ccd) : ccdGJKPenetration(&a, &b, &ccd, &depth, &dir, &at);
    });
}
#endif

#ifdef BENCH_FCL
double fcl_time(const std::vector<query> &queries, std::vector<body> &bodies, bool apart) {
    std::vector<std::shared_ptr<fcl::Convexd>> shapes;
    for (body &b : bodies) {
        auto vertices = std::make_shared<std::vector<fcl::Vector3d>>();
        auto faces = std::make_shared<std::vector<int>>();
        abut_hull_facts facts = abut_hull_facts_of(b.hull);
        for (int64_t i = 0; i < facts.vertices; i++) {
            abut_vec3 p = abut_hull_vertex(b.hull, i);
            vertices->push_back({p.x, p.y, p.z});
        }
        for (int64_t f = 0; f < facts.faces; f++) {
            int64_t corner[64];
            int64_t n = abut_hull_face(b.hull, f, nullptr, corner, 64);
            faces->push_back(static_cast<int>(n));
            for (int64_t i = 0; i < n; i++) faces->push_back(static_cast<int>(corner[i]));
        }
        shapes.push_back(std::make_shared<fcl::Convexd>(vertices, static_cast<int>(facts.faces), faces));
    }
    auto place = [](const abut_pose &p) {
        fcl::Transform3d t = fcl::Transform3d::Identity();
        t.linear() =
            fcl::Quaterniond(p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z).toRotationMatrix();
        t.translation() = fcl::Vector3d(p.position.x, p.position.y, p.position.z);
        return t;
    };
    return measure(queries, [&](const query &q) {
        auto *a = shapes[q.a - bodies.data()].get(), *b = shapes[q.b - bodies.data()].get();
        if (apart) {
            fcl::DistanceRequestd request;
            fcl::DistanceResultd result;
            sink += fcl::distance(a, place(q.pa), b, place(q.pb), request, result);
        } else {
            fcl::CollisionRequestd request(1, true);
            fcl::CollisionResultd result;
            sink += fcl::collide(a, place(q.pa), b, place(q.pb), request, result);
        }
    });
}
#endif

#ifdef BENCH_BULLET
double bullet_time(const std::vector<query> &queries, std::vector<body> &bodies) {
    std::vector<std::unique_ptr<btConvexHullShape>> shapes;
    for (body &b : bodies) {
        shapes.push_back(std::make_unique<btConvexHullShape>());
        for (const abut_vec3 &p : b.points)
            shapes.back()->addPoint(btVector3(btScalar(p.x), btScalar(p.y), btScalar(p.z)), false);
        shapes.back()->recalcLocalAabb();
        shapes.back()->setMargin(0);
    }
    auto place = [](const abut_pose &p) {
        return btTransform(btQuaternion(btScalar(p.rotation.x), btScalar(p.rotation.y),
                                        btScalar(p.rotation.z), btScalar(p.rotation.w)),
                           btVector3(btScalar(p.position.x), btScalar(p.position.y), btScalar(p.position.z)));
    };
    btVoronoiSimplexSolver simplex;
    btGjkEpaPenetrationDepthSolver epa;
    return measure(queries, [&](const query &q) {
        btGjkPairDetector detector(shapes[q.a - bodies.data()].get(), shapes[q.b - bodies.data()].get(),
                                   &simplex, &epa);
        btGjkPairDetector::ClosestPointInput input;
        input.m_transformA = place(q.pa), input.m_transformB = place(q.pb);
        btPointCollector out;
        detector.getClosestPoints(input, out, nullptr);
        sink += out.m_distance;
    });
}
#endif

void print(double time, double ours) {
    if (time > 0)
        std::printf(" %8.0f (%5.2f)", time, time / ours);
    else
        std::printf("        -        ");
}

} // namespace

int main() {
    std::printf("nanoseconds a query (in brackets: the peer's time over `abut points`)\n");
    std::printf("%5s %-12s %12s %12s %12s %12s %17s %17s %17s\n", "n", "", "abut far", "abut growth",
                "abut points", "abut warm", "libccd", "FCL", "Bullet");
    for (int n : {8, 16, 32, 64, 256}) {
        std::vector<body> bodies;
        for (int i = 0; i < 20; i++) bodies.push_back(make_body(n));
        for (bool apart : {true, false}) {
            std::vector<query> queries = make_queries(bodies, apart);
            double yes_or_no = abut_time(queries, false, 0.01), growth = abut_time(queries, false),
                   points = abut_time(queries, true), warm = abut_warm_time(queries);
            double ccd = 0, fcl = 0, bullet = 0;
#ifdef BENCH_CCD
            ccd = ccd_time(queries, apart);
#endif
#ifdef BENCH_FCL
            fcl = fcl_time(queries, bodies, apart);
#endif
#ifdef BENCH_BULLET
            bullet = bullet_time(queries, bodies);
#endif
            std::printf("%5d %-12s %12.0f %12.0f %12.0f %12.0f", n, apart ? "apart" : "overlapping",
                        yes_or_no, growth, points, warm);
            print(ccd, points), print(fcl, points), print(bullet, points);
            std::printf("\n");
        }
        for (body &b : bodies) abut_hull_free(nullptr, b.hull);
    }
    return sink == 0.12345;
}
