// bench_touch: contact regions against FCL (all contacts of two BVHModels), same meshes, same poses, same
// run. A pair is moved together along a line until it touches; the time is that of one query from nothing.
#include "abut/abut.h"

#include <fcl/fcl.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

struct body {
    abut_solid *solid = nullptr;
    abut_touch_solid *ready = nullptr;
    std::shared_ptr<fcl::BVHModel<fcl::OBBRSSd>> model;
};

body load(const std::string &name) {
    body b;
    abut_error error = {};
    std::string path = std::string(ABUT_SHARED) + "/meshes/" + name;
    if (abut_solid_load(nullptr, path.c_str(), nullptr, &b.solid, &error) != ABUT_OK ||
        abut_touch_solid_create(nullptr, b.solid, &b.ready, &error) != ABUT_OK) {
        std::printf("%s: %s\n", path.c_str(), error.message);
        return b;
    }
    int32_t *triangles = nullptr;
    int64_t count = 0;
    abut_solid_triangles(nullptr, b.solid, &triangles, &count, nullptr);
    b.model = std::make_shared<fcl::BVHModel<fcl::OBBRSSd>>();
    b.model->beginModel();
    for (int64_t t = 0; t < count; t++) {
        fcl::Vector3d p[3];
        for (int k = 0; k < 3; k++) {
            abut_vec3 v = abut_solid_vertex(b.solid, triangles[3 * t + k]);
            p[k] = fcl::Vector3d(v.x, v.y, v.z);
        }
        b.model->addTriangle(p[0], p[1], p[2]);
    }
    b.model->endModel();
    abut_solid_triangles_free(nullptr, triangles, count);
    return b;
}

template <class F> double microseconds(F &&work) {
    using clock = std::chrono::steady_clock;
    int runs = 0;
    auto start = clock::now();
    double passed = 0;
    do {
        work();
        runs++;
        passed = std::chrono::duration<double>(clock::now() - start).count();
    } while (passed < 0.3);
    return 1e6 * passed / runs;
}

fcl::Transform3d transform(abut_pose p) {
    fcl::Transform3d t = fcl::Transform3d::Identity();
    t.linear() = fcl::Quaterniond(p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z).toRotationMatrix();
    t.translation() = fcl::Vector3d(p.position.x, p.position.y, p.position.z);
    return t;
}

// B starts at `from` and moves along `way` (unit) until it touches; without a way it stays.
void compare(const char *title, const char *name_a, const char *name_b, abut_pose from, abut_vec3 way) {
    body a = load(name_a), b = load(name_b);
    if (!a.ready || !b.ready) return;
    abut_pose pa = abut_pose_identity(), pb = from;
    bool moves = way.x != 0 || way.y != 0 || way.z != 0;
    double epsilon = std::fmax(abut_solid_facts_of(a.solid).epsilon, abut_solid_facts_of(b.solid).epsilon);
    for (int i = 0; moves && i < 500; i++) {
        double gap = abut_touch_distance(a.ready, pa, b.ready, pb);
        if (gap < 0.1 * epsilon) break;
        pb.position.x += gap * way.x, pb.position.y += gap * way.y, pb.position.z += gap * way.z;
    }
    abut_touch *touch = nullptr;
    abut_error error = {};
    if (abut_touch_find(nullptr, a.ready, pa, b.ready, pb, nullptr, &touch, &error) != ABUT_OK) {
        std::printf("%s: %s\n", title, error.message);
        return;
    }
    double ours = microseconds([&] {
        abut_touch *t = nullptr;
        abut_touch_find(nullptr, a.ready, pa, b.ready, pb, nullptr, &t, nullptr);
        abut_touch_free(nullptr, t);
    });
    fcl::CollisionObjectd oa(a.model, transform(pa)), ob(b.model, transform(pb));
    size_t contacts = 0;
    double theirs = microseconds([&] {
        fcl::CollisionRequestd request(1000000, true);
        fcl::CollisionResultd result;
        fcl::collide(&oa, &ob, request, result);
        contacts = result.numContacts();
    });
    std::printf("%-28s %-11s %8lld %10.1f %8zu %10.1f %7.2f\n", title, abut_touch_status_name(touch->status),
                (long long)touch->region_count, ours, contacts, theirs, theirs / ours);
    abut_touch_free(nullptr, touch);
    for (body *x : {&a, &b}) abut_touch_solid_free(nullptr, x->ready), abut_solid_free(nullptr, x->solid);
}

} // namespace

int main() {
    std::printf("%-28s %-11s %8s %10s %8s %10s %7s\n", "pair", "status", "regions", "abut us", "FCL pts",
                "FCL us", "ratio");
    const double turn = 3.14159265358979323846 + 3.14159265358979323846 / 18;
    abut_pose mesh = {{30, 0, 0}, abut_quat_from_axis_angle({0, 0, 1}, turn)}, here = abut_pose_identity();
    compare("gears, flank on flank", "solid/gear_z12.obj", "solid/gear_z18.obj", mesh, {0, 1, 0});
    compare("gears, not touching", "solid/gear_z12.obj", "solid/gear_z18.obj", mesh, {0, 0, 0});
    abut_pose nut = {{0, 0, 3}, {1, 0, 0, 0}};
    compare("bolt in nut, centred", "solid/bolt_m10.obj", "solid/nut_m10.obj", nut, {0, 0, 0});
    compare("bolt in nut, side-loaded", "solid/bolt_m10.obj", "solid/nut_m10.obj", nut, {1, 0, 0});
    compare("dovetail, side-loaded", "solid/dovetail_male.obj", "solid/dovetail_female.obj", here, {1, 0, 0});
    compare("jigsaw, side-loaded", "solid/jigsaw_knob.obj", "solid/jigsaw_socket.obj", here, {1, 0, 0});
    abut_pose apart = {{60, 3, 1}, abut_quat_from_axis_angle({1, 0, 0}, 1.2)};
    compare("chain links", "solid/chain_link.obj", "solid/chain_link.obj", apart, {-1, 0, 0});
    return 0;
}
