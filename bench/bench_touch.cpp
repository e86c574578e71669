// bench_touch: contact regions against FCL (all contacts of two BVHModels), same meshes, same poses, same
// run.
//
// A pair is moved together along a line until it touches.  "from nothing" is one question without a past;
// "next step" the mean over steps of a ten-thousandth of the smaller radius, away and back again, where the
// cache of the step before is kept.  FCL is asked from nothing (it keeps nothing); its cost is that of the
// same pose.
#include "abut/abut.h"

#include <fcl/fcl.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace {

struct body {
    abut_solid *solid = nullptr;
    abut_touch_solid *ready = nullptr;
    int64_t triangles = 0;
    std::shared_ptr<fcl::BVHModel<fcl::OBBRSSd>> model;
};

body make(abut_solid *solid) {
    body b;
    abut_error error = {};
    b.solid = solid;
    if (!solid || abut_touch_solid_create(nullptr, solid, &b.ready, &error) != ABUT_OK) {
        std::printf("%s\n", error.message);
        return b;
    }
    int32_t *triangles = nullptr;
    abut_solid_triangles(nullptr, b.solid, &triangles, &b.triangles, nullptr);
    b.model = std::make_shared<fcl::BVHModel<fcl::OBBRSSd>>();
    b.model->beginModel();
    for (int64_t t = 0; t < b.triangles; t++) {
        fcl::Vector3d p[3];
        for (int k = 0; k < 3; k++) {
            abut_vec3 v = abut_solid_vertex(b.solid, triangles[3 * t + k]);
            p[k] = fcl::Vector3d(v.x, v.y, v.z);
        }
        b.model->addTriangle(p[0], p[1], p[2]);
    }
    b.model->endModel();
    abut_solid_triangles_free(nullptr, triangles, b.triangles);
    return b;
}

body load(const std::string &name) {
    abut_solid *solid = nullptr;
    abut_error error = {};
    std::string path = std::string(ABUT_SHARED) + "/meshes/" + name;
    if (abut_solid_load(nullptr, path.c_str(), nullptr, &solid, &error) != ABUT_OK)
        std::printf("%s: %s\n", path.c_str(), error.message);
    return make(solid);
}

void release(body &b) { abut_touch_solid_free(nullptr, b.ready), abut_solid_free(nullptr, b.solid); }

// A torus about the z axis of 2 n n triangles.
abut_solid *torus(int n) {
    std::vector<abut_vec3> points;
    std::vector<int> corners;
    std::vector<int64_t> start{0};
    const double turn = 2 * M_PI / n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double r = 2 + 0.5 * std::cos(turn * j);
            points.push_back({r * std::cos(turn * i), r * std::sin(turn * i), 0.5 * std::sin(turn * j)});
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int p = i * n + j, q = (i + 1) % n * n + j, r = (i + 1) % n * n + (j + 1) % n,
                s = i * n + (j + 1) % n;
            for (int c : {p, q, r, p, r, s}) corners.push_back(c);
            start.push_back(start.back() + 3), start.push_back(start.back() + 3);
        }
    abut_mesh mesh = {};
    mesh.points = points.data(), mesh.corners = corners.data(), mesh.face_start = start.data();
    mesh.point_count = int64_t(points.size()), mesh.corner_count = int64_t(corners.size());
    mesh.face_count = int64_t(start.size()) - 1;
    abut_solid *solid = nullptr;
    abut_error error = {};
    if (abut_solid_build(nullptr, &mesh, nullptr, &solid, &error) != ABUT_OK)
        std::printf("%s\n", error.message);
    return solid;
}

double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

// The best of five batches, CPU time.
template <class F> double microseconds(F &&work) {
    double best = 1e300;
    for (int batch = 0; batch < 5; batch++) {
        int runs = 0;
        double start = now(), passed = 0;
        do {
            for (int k = 0; k < 16; k++) work(); // a round of step_pose
            runs += 16;
            passed = now() - start;
        } while (passed < 0.04);
        best = std::fmin(best, 1e6 * passed / runs);
    }
    return best;
}

fcl::Transform3d transform(abut_pose p) {
    fcl::Transform3d t = fcl::Transform3d::Identity();
    t.linear() = fcl::Quaterniond(p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z).toRotationMatrix();
    t.translation() = fcl::Vector3d(p.position.x, p.position.y, p.position.z);
    return t;
}

const char *only = nullptr; // pairs with this in their title

struct contact {
    body a, b;
    abut_pose pb;    // A stands at the identity
    abut_vec3 way;   // B came along it
    double turn = 0; // instead of along the way, B turns about z in steps, with `pitch` a turn
    double pitch = 0;
};

// B goes along `way` (unit) until it touches; without a way it stays.
void approach(contact &c) {
    double epsilon =
        std::fmax(abut_solid_facts_of(c.a.solid).epsilon, abut_solid_facts_of(c.b.solid).epsilon);
    bool moves = c.way.x != 0 || c.way.y != 0 || c.way.z != 0;
    for (int i = 0; moves && i < 500; i++) {
        double gap = abut_touch_distance(c.a.ready, abut_pose_identity(), c.b.ready, c.pb);
        if (gap < 0.1 * epsilon) break;
        c.pb.position.x += gap * c.way.x, c.pb.position.y += gap * c.way.y, c.pb.position.z += gap * c.way.z;
    }
}

double radius(const body &b) {
    abut_box x = abut_solid_facts_of(b.solid).bounds;
    return std::hypot(x.upper.x - x.lower.x, x.upper.y - x.lower.y, x.upper.z - x.lower.z) / 2;
}

// Pose k of a motion away and back: 8 steps each.
abut_pose step_pose(const contact &c, int k) {
    double step = 1e-4 * std::fmin(radius(c.a), radius(c.b)) * (k % 16 < 8 ? k % 16 : 16 - k % 16);
    abut_pose p = c.pb;
    if (c.turn != 0) {
        double angle = step / c.turn;
        p.rotation = abut_quat_from_axis_angle({0, 0, 1}, angle);
        p.position.z += c.pitch * angle / (2 * M_PI);
    } else {
        p.position.x -= step * c.way.x, p.position.y -= step * c.way.y, p.position.z -= step * c.way.z;
    }
    return p;
}

double ask(const contact &c, const abut_touch_options *options) {
    return microseconds([&] {
        abut_touch *t = nullptr;
        abut_touch_find(nullptr, c.a.ready, abut_pose_identity(), c.b.ready, c.pb, options, &t, nullptr);
        abut_touch_free(nullptr, t);
    });
}

double ask_steps(const contact &c) {
    abut_touch_options options = {};
    abut_touch_cache_create(nullptr, &options.cache, nullptr);
    int k = 0;
    double time = microseconds([&] {
        abut_touch *t = nullptr;
        abut_touch_find(nullptr, c.a.ready, abut_pose_identity(), c.b.ready, step_pose(c, k++), &options, &t,
                        nullptr);
        abut_touch_free(nullptr, t);
    });
    abut_touch_cache_free(nullptr, options.cache);
    return time;
}

void compare(const char *title, const char *name_a, const char *name_b, abut_pose from, abut_vec3 way,
             double turn = 0, double pitch = 0) {
    if (only && !std::strstr(title, only)) return;
    contact c = {load(name_a), load(name_b), from, way, turn, pitch};
    if (!c.a.ready || !c.b.ready) return;
    approach(c);
    abut_touch *touch = nullptr;
    abut_error error = {};
    if (abut_touch_find(nullptr, c.a.ready, abut_pose_identity(), c.b.ready, c.pb, nullptr, &touch, &error) !=
        ABUT_OK) {
        std::printf("%s: %s\n", title, error.message);
        return;
    }
    double ours = ask(c, nullptr), next = ask_steps(c);
    fcl::CollisionObjectd oa(c.a.model, transform(abut_pose_identity())), ob(c.b.model, transform(c.pb));
    double theirs = microseconds([&] {
        fcl::CollisionRequestd request(1000000, true);
        fcl::CollisionResultd result;
        fcl::collide(&oa, &ob, request, result);
    });
    std::printf("%-26s %6lld %6lld %-9s %7lld %10.1f %9.1f %10.1f %7.2fx %7.2fx", title,
                (long long)c.a.triangles, (long long)c.b.triangles, abut_touch_status_name(touch->status),
                (long long)touch->region_count, ours, next, theirs, theirs / ours, theirs / next);
    // culling: B goes on along the way; a region stays where it approaches
    abut_twist velocity = {c.way, {0, 0, 0}}, still = {};
    abut_touch_options culled = {};
    culled.velocity[0] = &still, culled.velocity[1] = &velocity;
    if (touch->status == ABUT_TOUCHING) std::printf(" %9.1f", ask(c, &culled));
    std::printf("\n");
    std::fflush(stdout);
    abut_touch_free(nullptr, touch);
    release(c.a), release(c.b);
}

// The same contact, a ring that hangs in another, with finer and finer triangles.
void growth() {
    std::printf("\ngrowth: two tori of n triangles each, one hanging in the other\n"
                "       n  regions    abut us  next step     FCL us\n");
    double first[4] = {0}, last[4] = {0};
    for (int n : {20, 40, 100}) {
        abut_solid *two[2] = {torus(n), torus(n)};
        contact c = {make(two[0]),
                     make(two[1]),
                     {{1.9, 0.13, 0.07}, abut_quat_from_axis_angle({1, 0, 0}, 1.4)},
                     {1, 0, 0}};
        approach(c);
        abut_touch *touch = nullptr;
        abut_touch_find(nullptr, c.a.ready, abut_pose_identity(), c.b.ready, c.pb, nullptr, &touch, nullptr);
        fcl::CollisionObjectd oa(c.a.model, transform(abut_pose_identity())), ob(c.b.model, transform(c.pb));
        last[0] = double(c.a.triangles), last[1] = ask(c, nullptr), last[2] = ask_steps(c);
        last[3] = microseconds([&] {
            fcl::CollisionRequestd request(1000000, true);
            fcl::CollisionResultd result;
            fcl::collide(&oa, &ob, request, result);
        });
        if (first[0] == 0) std::copy(last, last + 4, first);
        std::printf("%8.0f %8lld %10.1f %10.1f %10.1f\n", last[0],
                    (long long)(touch ? touch->region_count : -1), last[1], last[2], last[3]);
        abut_touch_free(nullptr, touch);
        release(c.a), release(c.b);
    }
    auto exponent = [&](int k) { return std::log(last[k] / first[k]) / std::log(last[0] / first[0]); };
    std::printf("exponents: from nothing %.2f (at most 0.4), next step %.2f, FCL %.2f\n", exponent(1),
                exponent(2), exponent(3));
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1) only = argv[1];
    std::printf("%-26s %6s %6s %-9s %7s %10s %9s %10s %8s %8s %9s\n", "pair", "n A", "n B", "status",
                "regions", "nothing us", "next us", "FCL us", "ratio", "next", "culled us");
    const double turn = M_PI + M_PI / 18;
    abut_pose mesh = {{30, 0, 0}, abut_quat_from_axis_angle({0, 0, 1}, turn)}, here = abut_pose_identity();
    compare("gears, flank on flank", "solid/gear_z12.obj", "solid/gear_z18.obj", mesh, {0, 1, 0});
    abut_pose ring = {{-8, 0.4, 0.3}, abut_quat_from_axis_angle({1, 0, 0}, 1.4)};
    compare("tori, side by side", "table1/torus_20.obj", "table1/torus_20.obj", ring, {1, 0, 0});
    abut_pose nut = {{0, 0, 3}, {1, 0, 0, 0}};
    compare("bolt in nut, centred", "solid/bolt_m10.obj", "solid/nut_m10.obj", nut, {0, 0, 0}, 5, 1.5);
    compare("bolt in nut, side-loaded", "solid/bolt_m10.obj", "solid/nut_m10.obj", nut, {1, 0, 0});
    abut_pose above = {{1.1, 0.6, 14}, abut_quat_from_axis_angle({0.6, 0.64, 0.48}, 0.8)};
    compare("koala on koala", "real/koala.obj", "real/koala.obj", above, {0, 0, -1});
    compare("dovetail, side-loaded", "solid/dovetail_male.obj", "solid/dovetail_female.obj", here, {1, 0, 0});
    compare("jigsaw, side-loaded", "solid/jigsaw_knob.obj", "solid/jigsaw_socket.obj", here, {1, 0, 0});
    abut_pose apart = {{60, 3, 1}, abut_quat_from_axis_angle({1, 0, 0}, 1.2)};
    compare("chain links", "solid/chain_link.obj", "solid/chain_link.obj", apart, {-1, 0, 0});
    if (!only) growth();
    return 0;
}
