// The B-rep index against CGAL: points (Side_of_triangle_mesh) and segments (all intersected primitives of an
// AABB tree), in the same run and on the same queries; build time and memory; and how both grow with the
// number of faces.
//
//     bench_index [MESH ...]       without arguments: the solids of table 1, bolt, spot, koala
//
// Points and segments are uniform in the solid's box.  CPU time of one thread; the best of three passes
// counts.  abut says on which entity a point lies; CGAL only inside, boundary or outside.
#include "abut/abut.h"

#include <CGAL/AABB_face_graph_triangle_primitive.h>
#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Side_of_triangle_mesh.h>
#include <CGAL/Surface_mesh.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

using kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using surface = CGAL::Surface_mesh<kernel::Point_3>;
using primitive = CGAL::AABB_face_graph_triangle_primitive<surface>;
using tree_type = CGAL::AABB_tree<CGAL::AABB_traits<kernel, primitive>>;

double now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

struct random_numbers {
    std::uint64_t state = 12345;
    double operator()() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return double(state >> 11) * 0x1p-53;
    }
};

// The best of three passes over `count` queries, in seconds a query.
template <class F> double best_of(int count, F pass) {
    double best = 1e300;
    for (int i = 0; i < 3; i++) {
        double start = now();
        pass();
        best = std::min(best, (now() - start) / count);
    }
    return best;
}

surface to_cgal(const abut_solid *solid) {
    surface mesh;
    abut_solid_facts facts = abut_solid_facts_of(solid);
    std::vector<surface::Vertex_index> v;
    for (std::int64_t i = 0; i < facts.maximal_vertices; i++) {
        abut_vec3 p = abut_solid_vertex(solid, i);
        v.push_back(mesh.add_vertex({p.x, p.y, p.z}));
    }
    std::int32_t *triangles = nullptr;
    std::int64_t count = 0;
    if (abut_solid_triangles(nullptr, solid, &triangles, &count, nullptr) != ABUT_OK) return mesh;
    for (std::int64_t i = 0; i < count; i++)
        mesh.add_face(v[std::size_t(triangles[3 * i])], v[std::size_t(triangles[3 * i + 1])],
                      v[std::size_t(triangles[3 * i + 2])]);
    abut_solid_triangles_free(nullptr, triangles, count);
    return mesh;
}

void compare(const char *name, const abut_solid *solid) {
    abut_solid_facts facts = abut_solid_facts_of(solid);
    abut_error error = {};
    abut_index *index = nullptr;
    double start = now();
    if (abut_index_build(nullptr, solid, nullptr, &index, &error) != ABUT_OK) {
        std::fprintf(stderr, "%s: %s\n", name, error.message);
        return;
    }
    double build = now() - start;
    surface mesh = to_cgal(solid);
    start = now();
    tree_type tree(faces(mesh).first, faces(mesh).second, mesh);
    tree.build();
    tree.accelerate_distance_queries();
    double build_cgal = now() - start;
    CGAL::Side_of_triangle_mesh<surface, kernel> side(mesh);

    abut_box b = facts.bounds;
    double epsilon =
        5e-7 * std::sqrt(std::pow(b.upper.x - b.lower.x, 2) + std::pow(b.upper.y - b.lower.y, 2) +
                         std::pow(b.upper.z - b.lower.z, 2));
    random_numbers random;
    auto point = [&] {
        return abut_vec3{b.lower.x + random() * (b.upper.x - b.lower.x),
                         b.lower.y + random() * (b.upper.y - b.lower.y),
                         b.lower.z + random() * (b.upper.z - b.lower.z)};
    };
    const int count = 200000, count_cgal = 20000, segments = 20000, segments_cgal = 2000;
    std::vector<abut_vec3> points;
    for (int i = 0; i < count; i++) points.push_back(point());
    std::vector<abut_place> places(points.size());
    side(kernel::Point_3(0, 0, 0)); // builds its tree
    long inside = 0, inside_cgal = 0, hits = 0, hits_cgal = 0;
    double one = best_of(count, [&] {
        for (const abut_vec3 &p : points)
            inside += abut_index_point(index, solid, p, epsilon).kind == ABUT_INSIDE;
    });
    double batch = best_of(
        count, [&] { abut_index_points(index, solid, points.data(), count, epsilon, places.data()); });
    double cgal = best_of(count_cgal, [&] {
        for (int i = 0; i < count_cgal; i++)
            inside_cgal += side({points[std::size_t(i)].x, points[std::size_t(i)].y,
                                 points[std::size_t(i)].z}) == CGAL::ON_BOUNDED_SIDE;
    });
    abut_run runs[256];
    double segment = best_of(segments, [&] {
        for (int i = 0; i < segments; i++)
            hits += abut_index_segment(index, solid, points[std::size_t(2 * i)],
                                       points[std::size_t(2 * i + 1)], epsilon, runs, 256);
    });
    std::vector<tree_type::Primitive_id> found;
    double segment_cgal = best_of(segments_cgal, [&] {
        for (int i = 0; i < segments_cgal; i++) {
            found.clear();
            abut_vec3 p = points[std::size_t(2 * i)], q = points[std::size_t(2 * i + 1)];
            tree.all_intersected_primitives(kernel::Segment_3({p.x, p.y, p.z}, {q.x, q.y, q.z}),
                                            std::back_inserter(found));
            hits_cgal += long(found.size());
        }
    });
    abut_index_facts f = abut_index_facts_of(index);
    std::printf("%-26s %7lld %8lld %7.1f %8.2f %8.2f %7.1f %6.1f %7.1f %6.1fx %6.1fx %8.2f %8.2f %6.1fx\n",
                name, (long long)facts.maximal_faces, (long long)f.nodes, 1e-3 * double(f.bytes), 1e3 * build,
                1e3 * build_cgal, 1e9 * one, 1e9 * batch, 1e9 * cgal, cgal / one, cgal / batch, 1e6 * segment,
                1e6 * segment_cgal, segment_cgal / segment);
    std::fflush(stdout);
    abut_index_free(nullptr, index);
}

// A torus with bumps, of 2 n n triangles: not convex, no two faces coplanar.
abut_solid *bumpy_torus(int n, int m) {
    std::vector<abut_vec3> points;
    std::vector<int> corners;
    std::vector<std::int64_t> start{0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double a = 2 * M_PI * i / n, t = 2 * M_PI * j / m;
            double minor = 0.8 + 0.12 * std::sin(5 * a + 2 * t) + 0.06 * std::cos(3 * t - 7 * a),
                   r = 2 + minor * std::cos(t);
            points.push_back({r * std::cos(a), r * std::sin(a), minor * std::sin(t)});
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int p = i * m + j, q = (i + 1) % n * m + j, r = (i + 1) % n * m + (j + 1) % m,
                s = i * m + (j + 1) % m;
            for (int c : {p, q, r, p, r, s}) corners.push_back(c);
            start.push_back(start.back() + 3), start.push_back(start.back() + 3);
        }
    abut_mesh mesh = {};
    mesh.points = points.data(), mesh.corners = corners.data(), mesh.face_start = start.data();
    mesh.point_count = std::int64_t(points.size()), mesh.corner_count = std::int64_t(corners.size());
    mesh.face_count = std::int64_t(start.size()) - 1;
    abut_solid_options options = abut_default_solid_options();
    options.skip_self_intersection = true;
    abut_solid *solid = nullptr;
    abut_error error = {};
    if (abut_solid_build(nullptr, &mesh, &options, &solid, &error) != ABUT_OK)
        std::fprintf(stderr, "%s\n", error.message);
    return solid;
}

void growth() {
    std::printf("\ngrowth: a torus with bumps\n   faces    nodes  build s  nodes/face  us/face\n");
    double first_faces = 0, first_nodes = 0, first_build = 0, faces = 0, nodes = 0, build = 0;
    for (int k = 0; k < 8; k++) {
        int size = 500 << k, n = int(std::sqrt(2.0 * size)), m = size / n;
        abut_solid *solid = bumpy_torus(n, m);
        if (!solid) return;
        abut_index *index = nullptr;
        double start = now();
        if (abut_index_build(nullptr, solid, nullptr, &index, nullptr) != ABUT_OK) return;
        build = now() - start, faces = double(abut_solid_facts_of(solid).maximal_faces);
        nodes = double(abut_index_facts_of(index).nodes);
        if (k == 0) first_faces = faces, first_nodes = nodes, first_build = build;
        std::printf("%8.0f %8.0f %8.3f %11.2f %8.1f\n", faces, nodes, build, nodes / faces,
                    1e6 * build / faces);
        abut_index_free(nullptr, index);
        abut_solid_free(nullptr, solid);
    }
    double span = std::log(faces / first_faces);
    std::printf("exponents: nodes %.3f, build time %.3f (at most 1.35)\n",
                std::log(nodes / first_nodes) / span, std::log(build / first_build) / span);
}

void threads(const abut_solid *solid) {
    std::printf("\nthreads: build of koala, wall clock\n");
    for (int count = 1; count <= 2; count++) {
        abut_workers *workers = abut_workers_create(nullptr, count);
        abut_context context = {};
        context.parallel = abut_workers_parallel(workers);
        timespec a, b;
        abut_index *index = nullptr;
        clock_gettime(CLOCK_MONOTONIC, &a);
        if (abut_index_build(&context, solid, nullptr, &index, nullptr) != ABUT_OK) return;
        clock_gettime(CLOCK_MONOTONIC, &b);
        std::printf("%d: %.2f s\n", count,
                    double(b.tv_sec - a.tv_sec) + 1e-9 * double(b.tv_nsec - a.tv_nsec));
        abut_index_free(&context, index);
        abut_workers_destroy(workers);
    }
}

} // namespace

int main(int argc, char **argv) {
    std::vector<std::string> names;
    for (int i = 1; i < argc; i++) names.push_back(argv[i]);
    if (names.empty())
        for (const char *name :
             {"table1/sphere_04.obj", "table1/sphere_06.obj", "table1/sphere_08.obj", "table1/sphere_10.obj",
              "table1/sphere_20.obj", "table1/torus_04.obj", "table1/torus_06.obj", "table1/torus_08.obj",
              "table1/torus_10.obj", "table1/torus_20.obj", "solid/bolt_m10.obj",
              "real/spot_low_resolution.obj", "real/koala.obj"})
            names.push_back(std::string(ABUT_SHARED "/meshes/") + name);
    std::printf("%-26s %7s %8s %7s %8s %8s %7s %6s %7s %7s %7s %8s %8s %7s\n", "solid", "faces", "nodes",
                "kB", "build ms", "CGAL ms", "ns", "batch", "CGAL ns", "ratio", "batch", "seg us", "CGAL us",
                "ratio");
    for (const std::string &name : names) {
        abut_solid *solid = nullptr;
        abut_error error = {};
        if (abut_solid_load(nullptr, name.c_str(), nullptr, &solid, &error) != ABUT_OK) {
            std::fprintf(stderr, "%s: %s\n", name.c_str(), error.message);
            continue;
        }
        compare(name.substr(name.rfind('/') + 1).c_str(), solid);
        if (argc == 1 && name.find("koala") != std::string::npos) threads(solid);
        abut_solid_free(nullptr, solid);
    }
    if (argc == 1) growth();
    return 0;
}
