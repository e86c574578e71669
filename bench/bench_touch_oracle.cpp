// bench_touch_oracle: the status of random poses near contact against CGAL's exact tests of triangles.
//
//     bench_touch_oracle [poses] [seed]      100,000 poses by default, shared out among the pairs of solids
//
// B is turned at random (a third of the time by right angles, so that faces lie on faces) and brought to A
// along a random line until they touch; from there it is shifted by up to 60 epsilon to and fro along the
// line and across.  CGAL (Rigid_triangle_mesh_collision_detection, Side_of_triangle_mesh, AABB trees, exact
// predicates) knows no tolerance and says whether the closed solids meet; their gap is the least of CGAL's
// distances of points from triangles and of segments from each other, over all pairs of triangles within two
// epsilon.  A status is right when
//
//     apart         they do not meet, and are farther apart than epsilon
//     touching      they do not meet and are no farther apart than epsilon, or they meet, and a shift of a
//     few
//                   epsilon in one of many directions parts them
//     penetrating   the witness lies in both, as deep as it says, by CGAL's sides and distances
//
// where epsilon is good to 1e-9 of itself, the rounding of coordinates, and how far corners lie off the
// planes of their faces in the solids as loaded (last column, in epsilon).  abut_touch_distance must give the
// same gap. One wrong status fails the run.
#include "abut/abut.h"

#include <CGAL/AABB_face_graph_triangle_primitive.h>
#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/Aff_transformation_3.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Rigid_triangle_mesh_collision_detection.h>
#include <CGAL/Side_of_triangle_mesh.h>
#include <CGAL/Surface_mesh.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using surface = CGAL::Surface_mesh<kernel::Point_3>;
using primitive = CGAL::AABB_face_graph_triangle_primitive<surface>;
using tree_type = CGAL::AABB_tree<CGAL::AABB_traits<kernel, primitive>>;

struct body {
    abut_solid *solid = nullptr;
    abut_touch_solid *ready = nullptr;
    std::unique_ptr<surface> mesh;
    std::unique_ptr<tree_type> tree;
    std::unique_ptr<CGAL::Side_of_triangle_mesh<surface, kernel>> side;
    std::vector<std::array<kernel::Point_3, 3>> triangles;
    double radius = 0, unflat = 0; // how far a corner lies off the plane of a face of it
    abut_vec3 center = {};
};

struct random_numbers {
    std::uint64_t state;
    double operator()() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return double(state >> 11) * 0x1p-53;
    }
    double operator()(double low, double high) { return low + (high - low) * (*this)(); }
};

double unflatness(const abut_solid *solid) {
    double most = 0;
    for (int64_t f = 0; f < abut_solid_facts_of(solid).maximal_faces; f++) {
        abut_vec3 n;
        double offset;
        int64_t loops = abut_solid_face_loops(solid, f, &n, &offset);
        for (int64_t l = 0; l < loops; l++) {
            std::vector<int64_t> corners(std::size_t(abut_solid_loop(solid, f, l, nullptr, 0)));
            abut_solid_loop(solid, f, l, corners.data(), int64_t(corners.size()));
            for (int64_t c : corners) {
                abut_vec3 x = abut_solid_vertex(solid, c);
                most = std::fmax(most, std::fabs(n.x * x.x + n.y * x.y + n.z * x.z - offset));
            }
        }
    }
    return most;
}

body prepare(const char *name) {
    body b;
    abut_error error = {};
    std::string path = std::string(ABUT_SHARED) + "/meshes/" + name;
    if (abut_solid_load(nullptr, path.c_str(), nullptr, &b.solid, &error) != ABUT_OK ||
        abut_touch_solid_create(nullptr, b.solid, &b.ready, &error) != ABUT_OK) {
        std::printf("%s: %s\n", path.c_str(), error.message);
        std::exit(1);
    }
    b.mesh = std::make_unique<surface>();
    std::vector<surface::Vertex_index> v;
    abut_solid_facts facts = abut_solid_facts_of(b.solid);
    b.center = facts.center;
    for (int64_t i = 0; i < facts.maximal_vertices; i++) {
        abut_vec3 x = abut_solid_vertex(b.solid, i);
        v.push_back(b.mesh->add_vertex({x.x, x.y, x.z}));
        b.radius = std::fmax(b.radius, std::hypot(x.x - b.center.x, x.y - b.center.y, x.z - b.center.z));
    }
    int32_t *t = nullptr;
    int64_t count = 0;
    abut_solid_triangles(nullptr, b.solid, &t, &count, nullptr);
    for (int64_t i = 0; i < 3 * count; i += 3) {
        surface::Vertex_index k[3] = {v[std::size_t(t[i])], v[std::size_t(t[i + 1])],
                                      v[std::size_t(t[i + 2])]};
        b.mesh->add_face(k[0], k[1], k[2]);
        b.triangles.push_back({b.mesh->point(k[0]), b.mesh->point(k[1]), b.mesh->point(k[2])});
    }
    b.unflat = unflatness(b.solid);
    abut_solid_triangles_free(nullptr, t, count);
    b.tree = std::make_unique<tree_type>(faces(*b.mesh).first, faces(*b.mesh).second, *b.mesh);
    b.tree->build();
    b.tree->accelerate_distance_queries();
    b.side = std::make_unique<CGAL::Side_of_triangle_mesh<surface, kernel>>(*b.mesh);
    return b;
}

using placing = CGAL::Aff_transformation_3<kernel>;

placing affine(abut_pose pose) {
    abut_vec3 x[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, o = pose.position;
    for (abut_vec3 &e : x) e = abut_pose_point({{0, 0, 0}, pose.rotation}, e);
    return placing(x[0].x, x[1].x, x[2].x, o.x, x[0].y, x[1].y, x[2].y, o.y, x[0].z, x[1].z, x[2].z, o.z);
}

using corners = std::array<kernel::Point_3, 3>;

// The squared distance of two triangles that do not meet.
double squared_gap(const corners &p, const corners &q) {
    kernel::Triangle_3 tp(p[0], p[1], p[2]), tq(q[0], q[1], q[2]);
    double best = INFINITY;
    for (std::size_t i = 0; i < 3; i++) {
        best = std::fmin(best, CGAL::squared_distance(p[i], tq));
        best = std::fmin(best, CGAL::squared_distance(q[i], tp));
        for (std::size_t k = 0; k < 3; k++)
            best = std::fmin(best, CGAL::squared_distance(kernel::Segment_3(p[i], p[(i + 1) % 3]),
                                                          kernel::Segment_3(q[k], q[(k + 1) % 3])));
    }
    return best;
}

// The gap between two bodies that do not meet, where it is less than reach; infinite otherwise.
double gap_within(const body &a, const body &b, abut_pose pose, double reach) {
    placing place = affine(pose);
    CGAL::Bbox_3 all = a.tree->bbox();
    double best = INFINITY;
    std::vector<tree_type::Primitive_id> near;
    for (const corners &t : b.triangles) {
        corners q = {place(t[0]), place(t[1]), place(t[2])};
        CGAL::Bbox_3 box = q[0].bbox() + q[1].bbox() + q[2].bbox();
        box = {box.xmin() - reach, box.ymin() - reach, box.zmin() - reach,
               box.xmax() + reach, box.ymax() + reach, box.zmax() + reach};
        if (!CGAL::do_overlap(box, all)) continue;
        near.clear();
        a.tree->all_intersected_primitives(kernel::Iso_cuboid_3(box), std::back_inserter(near));
        for (tree_type::Primitive_id id : near) best = std::fmin(best, squared_gap(a.triangles[id], q));
    }
    return std::sqrt(best);
}

// Two bodies; A stands at the identity.
struct couple {
    body a, b;
    CGAL::Rigid_triangle_mesh_collision_detection<surface> detection;
    couple(const char *name_a, const char *name_b) : a(prepare(name_a)), b(prepare(name_b)) {
        detection.add_mesh(*a.mesh), detection.add_mesh(*b.mesh);
    }
    // Whether the closed solids have a point in common.
    bool meet(abut_pose pose) {
        detection.set_transformation(1, affine(pose));
        return !detection.get_all_intersections_and_inclusions(0).empty();
    }
};

// How deep x (own frame) lies in a body; below 0 outside.
double depth_in(const body &b, abut_vec3 x) {
    kernel::Point_3 p(x.x, x.y, x.z);
    double distance = std::sqrt(b.tree->squared_distance(p));
    return (*b.side)(p) == CGAL::ON_UNBOUNDED_SIDE ? -distance : distance;
}

abut_vec3 direction(random_numbers &random) {
    for (;;) {
        abut_vec3 d = {random(-1, 1), random(-1, 1), random(-1, 1)};
        double length = std::hypot(d.x, d.y, d.z);
        if (length > 0.1 && length < 1) return {d.x / length, d.y / length, d.z / length};
    }
}

abut_quat rotation(random_numbers &random) {
    return abut_quat_from_axis_angle(direction(random), random(0, 2 * M_PI));
}

struct tally {
    long poses = 0, count[3] = {0, 0, 0}, wrong = 0;
};

abut_pose shifted(abut_pose p, abut_vec3 way, double s) {
    p.position.x += s * way.x, p.position.y += s * way.y, p.position.z += s * way.z;
    return p;
}

abut_vec3 in_frame(abut_pose p, abut_vec3 x) {
    abut_quat back = {p.rotation.w, -p.rotation.x, -p.rotation.y, -p.rotation.z};
    return abut_pose_point({{0, 0, 0}, back}, {x.x - p.position.x, x.y - p.position.y, x.z - p.position.z});
}

bool is_right(couple &c, abut_pose pose, double epsilon, const abut_touch *t, random_numbers &random) {
    // forty roundings of coordinates
    double large = c.a.radius + c.b.radius + std::hypot(pose.position.x, pose.position.y, pose.position.z);
    const double slack = 1e-9 * epsilon + 40 * 0x1p-53 * large + c.a.unflat + c.b.unflat;
    if (t->status == ABUT_PENETRATING) {
        double da = depth_in(c.a, t->witness), db = depth_in(c.b, in_frame(pose, t->witness));
        double deep = std::fmax(da, db), other = std::fmin(da, db);
        return t->depth > epsilon && deep > t->depth - slack && other > -epsilon - slack;
    }
    bool meets = c.meet(pose);
    if (!meets) {
        double gap = gap_within(c.a, c.b, pose, 2 * epsilon);
        double own = abut_touch_distance(c.a.ready, abut_pose_identity(), c.b.ready, pose);
        if (gap < 2 * epsilon ? std::fabs(own - gap) > slack : own < 2 * epsilon - slack) {
            std::printf("distance %.17g, by CGAL %.17g\n", own, gap);
            return false;
        }
        return t->status == ABUT_APART ? gap > epsilon - slack : gap < epsilon + slack;
    }
    if (t->status == ABUT_APART) return false;
    for (int k = 0; k < 256; k++) {
        abut_vec3 way = direction(random);
        if (k < t->region_count) { // its own normals first
            abut_vec3 n = t->regions[k].normals[0];
            way = {-n.x, -n.y, -n.z};
        }
        if (!c.meet(shifted(pose, way, 4 * epsilon * (1 + k % 4)))) return true;
    }
    return false;
}

void check(couple &c, abut_pose pose, double epsilon, tally &n, const char *name, random_numbers &random) {
    abut_touch *t = nullptr;
    abut_error error = {};
    abut_touch_options options = {};
    options.epsilon = epsilon;
    n.poses++;
    if (abut_touch_find(nullptr, c.a.ready, abut_pose_identity(), c.b.ready, pose, &options, &t, &error) !=
        ABUT_OK) {
        std::printf("%s: %s\n", name, error.message), n.wrong++;
        return;
    }
    n.count[t->status]++;
    if (!is_right(c, pose, epsilon, t, random)) {
        n.wrong++;
        std::printf("wrong: %s, %s (depth %g epsilon), CGAL says they %s: "
                    "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n",
                    name, abut_touch_status_name(t->status), t->depth / epsilon,
                    c.meet(pose) ? "meet" : "do not meet", pose.position.x, pose.position.y, pose.position.z,
                    pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z);
    }
    abut_touch_free(nullptr, t);
}

// A pose where B, turned so, touches A after a way along a line through both; false when it passes by.
bool bring(couple &c, abut_quat turn, abut_vec3 way, double epsilon, random_numbers &random,
           abut_pose *pose) {
    abut_vec3 turned = abut_pose_point({{0, 0, 0}, turn}, c.b.center);
    abut_vec3 aim = {c.a.center.x - turned.x, c.a.center.y - turned.y, c.a.center.z - turned.z};
    for (double *x : {&aim.x, &aim.y, &aim.z}) *x += random(-0.3, 0.3) * c.a.radius;
    *pose = shifted({aim, turn}, way, -1.5 * (c.a.radius + c.b.radius));
    for (int k = 0; k < 400; k++) {
        double gap = abut_touch_distance(c.a.ready, abut_pose_identity(), c.b.ready, *pose);
        if (gap < 0.1 * epsilon) return true;
        if (!(gap < 4 * (c.a.radius + c.b.radius))) return false;
        *pose = shifted(*pose, way, gap);
    }
    return false;
}

void run(const char *name, const char *name_a, const char *name_b, long poses, random_numbers &random,
         tally &all) {
    couple c(name_a, name_b);
    double epsilon =
        std::fmax(abut_solid_facts_of(c.a.solid).epsilon, abut_solid_facts_of(c.b.solid).epsilon);
    tally n;
    const abut_quat right[4] = {{1, 0, 0, 0}, {0, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    while (n.poses < poses) {
        bool straight = random() < 0.34;
        abut_quat turn = straight ? right[int(4 * random())] : rotation(random);
        abut_vec3 way = direction(random);
        if (straight && random() < 0.5) way = {random() < 0.5 ? 1.0 : -1.0, 0, 0};
        abut_pose pose;
        if (!bring(c, turn, way, epsilon, random, &pose)) continue;
        for (int k = 0; k < 20 && n.poses < poses; k++) {
            abut_pose p = shifted(pose, way, random(-60, 60) * epsilon * (k % 2 ? 0.05 : 1));
            if (k % 4 == 3) p = shifted(p, direction(random), random(0, 60) * epsilon);
            check(c, p, epsilon, n, name, random);
        }
    }
    std::printf("%-22s %8ld %8ld %8ld %11ld %6ld %8.0e\n", name, n.poses, n.count[ABUT_APART],
                n.count[ABUT_TOUCHING], n.count[ABUT_PENETRATING], n.wrong,
                (c.a.unflat + c.b.unflat) / epsilon);
    std::fflush(stdout);
    all.poses += n.poses, all.wrong += n.wrong;
    for (int k = 0; k < 3; k++) all.count[k] += n.count[k];
    abut_touch_solid_free(nullptr, c.a.ready), abut_touch_solid_free(nullptr, c.b.ready);
    abut_solid_free(nullptr, c.a.solid), abut_solid_free(nullptr, c.b.solid);
}

} // namespace

int main(int argc, char **argv) {
    const char *const pairs[][3] = {{"comb, comb", "solid/comb.obj", "solid/comb.obj"},
                                    {"jigsaw", "solid/jigsaw_knob.obj", "solid/jigsaw_socket.obj"},
                                    {"dovetail", "solid/dovetail_male.obj", "solid/dovetail_female.obj"},
                                    {"comb, jigsaw", "solid/comb.obj", "solid/jigsaw_knob.obj"},
                                    {"bracket, bracket", "solid/l_bracket.obj", "solid/l_bracket.obj"},
                                    {"gears", "solid/gear_z12.obj", "solid/gear_z18.obj"},
                                    {"tori", "table1/torus_08.obj", "table1/torus_06.obj"},
                                    {"sphere, torus", "table1/sphere_08.obj", "table1/torus_10.obj"},
                                    {"lewis", "real/ripc_lewis_block.obj", "real/ripc_lewis_center.obj"},
                                    {"chain links", "solid/chain_link.obj", "solid/chain_link.obj"}};
    const long count = long(sizeof pairs / sizeof *pairs), poses = argc > 1 ? std::atol(argv[1]) : 100000;
    random_numbers random = {argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1};
    tally all;
    std::printf("%-22s %8s %8s %8s %11s %6s %8s\n", "pair", "poses", "apart", "touching", "penetrating",
                "wrong", "unflat");
    for (const auto &p : pairs) run(p[0], p[1], p[2], (poses + count - 1) / count, random, all);
    std::printf("%-22s %8ld %8ld %8ld %11ld %6ld\n", "all", all.poses, all.count[ABUT_APART],
                all.count[ABUT_TOUCHING], all.count[ABUT_PENETRATING], all.wrong);
    return all.wrong ? 1 : 0;
}
