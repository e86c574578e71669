// The scenes of NUMBERS.md and their measures: bodies from fixed seeds, overlap by brute force.
#include "live_scene.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace {

abut_vec3 operator+(abut_vec3 a, abut_vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
abut_vec3 operator-(abut_vec3 a, abut_vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
abut_vec3 operator*(double s, abut_vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
double dot(abut_vec3 a, abut_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
abut_vec3 cross(abut_vec3 a, abut_vec3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
abut_vec3 rotate(abut_quat q, abut_vec3 v) {
    abut_vec3 u = {q.x, q.y, q.z}, t = 2 * cross(u, v);
    return v + q.w * t + cross(u, t);
}

// The axes of a symmetric tensor (xx yy zz xy xz yz) by Jacobi's rotations: rows of `axes`, right-handed.
void principal_axes(const double t[6], abut_vec3 axes[3], double moments[3]) {
    double a[3][3] = {{t[0], t[3], t[4]}, {t[3], t[1], t[5]}, {t[4], t[5], t[2]}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 50; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (std::fabs(a[p][q]) < 1e-300) continue;
                double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
                double c = std::cos(angle), s = std::sin(angle);
                for (int k = 0; k < 3; k++) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
                    x = v[p][k], y = v[q][k];
                    v[p][k] = c * x - s * y, v[q][k] = s * x + c * y;
                }
            }
    for (int i = 0; i < 3; i++) axes[i] = {v[i][0], v[i][1], v[i][2]}, moments[i] = a[i][i];
    if (dot(cross(axes[0], axes[1]), axes[2]) < 0) axes[2] = -1 * axes[2];
}

// Faces, normals and edge directions from the hull of the points.
void fill_topology(live_shape &s) {
    abut_hull *hull = nullptr;
    abut_hull_create(nullptr, s.points.data(), (int64_t)s.points.size(), &hull, nullptr);
    abut_hull_facts facts = abut_hull_facts_of(hull);
    std::vector<abut_vec3> vertices;
    for (int64_t v = 0; v < facts.vertices; v++) vertices.push_back(abut_hull_vertex(hull, v));
    for (int64_t f = 0; f < facts.faces; f++) {
        std::vector<int64_t> corners(facts.most_corners);
        abut_vec3 n;
        int64_t count = abut_hull_face(hull, f, &n, corners.data(), facts.most_corners);
        s.faces.emplace_back(corners.begin(), corners.begin() + count), s.normals.push_back(n);
    }
    for (int64_t e = 0; e < facts.edges; e++) {
        int64_t v[2];
        abut_hull_edge(hull, e, v, nullptr);
        abut_vec3 d = vertices[v[1]] - vertices[v[0]];
        d = 1 / std::sqrt(dot(d, d)) * d;
        bool known = std::any_of(s.edges.begin(), s.edges.end(),
                                 [&](abut_vec3 g) { return std::fabs(dot(g, d)) > 1 - 1e-12; });
        if (!known) s.edges.push_back(d);
    }
    s.points = vertices;
    for (abut_vec3 p : s.points) s.radius = std::max(s.radius, std::sqrt(dot(p, p)));
    abut_hull_free(nullptr, hull);
}

live_shape make_box(double half, double density) {
    live_shape s;
    s.is_box = true, s.half = {half, half, half};
    for (int k = 0; k < 8; k++)
        s.points.push_back({k & 1 ? half : -half, k & 2 ? half : -half, k & 4 ? half : -half});
    s.mass = density * 8 * half * half * half;
    double i = s.mass * 4 * half * half / 6;
    s.inertia = {i, i, i};
    fill_topology(s);
    return s;
}

struct generator {
    uint32_t s = 12345;
    double unit() { return (s = s * 1664525u + 1013904223u) / 4294967296.0; }
};

live_shape make_rock(generator &random, double density) {
    live_shape s;
    for (int k = 0; k < 16; k++) {
        double z = 2 * random.unit() - 1, phi = 2 * M_PI * random.unit(),
               r = 0.5 * (0.9 + 0.2 * random.unit());
        double flat = std::sqrt(1 - z * z);
        s.points.push_back(r * abut_vec3{flat * std::cos(phi), flat * std::sin(phi), z});
    }
    abut_hull *hull = nullptr;
    abut_hull_create(nullptr, s.points.data(), 16, &hull, nullptr);
    abut_mass m = abut_hull_mass(hull, density);
    abut_hull_free(nullptr, hull);
    abut_vec3 axes[3];
    double moments[3];
    principal_axes(m.inertia, axes, moments);
    for (abut_vec3 &p : s.points) {
        abut_vec3 d = p - m.center;
        p = {dot(axes[0], d), dot(axes[1], d), dot(axes[2], d)};
    }
    s.mass = m.mass, s.inertia = {moments[0], moments[1], moments[2]};
    fill_topology(s);
    return s;
}

// A pair for the separating axis theorem.
struct placed {
    std::vector<abut_vec3> points, normals, edges;
    abut_vec3 center;
    double radius;
};

placed place(const live_shape &s, abut_pose p) {
    placed out;
    for (abut_vec3 x : s.points) out.points.push_back(p.position + rotate(p.rotation, x));
    for (abut_vec3 x : s.normals) out.normals.push_back(rotate(p.rotation, x));
    for (abut_vec3 x : s.edges) out.edges.push_back(rotate(p.rotation, x));
    out.center = p.position, out.radius = s.radius;
    return out;
}

// The overlap of the shadows along n, counted from the nearer side.
double shadow(const placed &a, const placed &b, abut_vec3 n) {
    double a0 = 1e300, a1 = -1e300, b0 = 1e300, b1 = -1e300;
    for (abut_vec3 x : a.points) a0 = std::min(a0, dot(n, x)), a1 = std::max(a1, dot(n, x));
    for (abut_vec3 x : b.points) b0 = std::min(b0, dot(n, x)), b1 = std::max(b1, dot(n, x));
    return std::min(a1 - b0, b1 - a0);
}

double overlap(const placed &a, const placed &b) {
    double least = 1e300;
    auto look = [&](abut_vec3 n) { return (least = std::min(least, shadow(a, b, n))) <= 0; };
    abut_vec3 d = a.center - b.center;
    if (dot(d, d) > (a.radius + b.radius) * (a.radius + b.radius)) return 0;
    for (abut_vec3 n : a.normals)
        if (look(n)) return 0;
    for (abut_vec3 n : b.normals)
        if (look(n)) return 0;
    for (abut_vec3 e : a.edges)
        for (abut_vec3 g : b.edges) {
            abut_vec3 n = cross(e, g);
            double length = std::sqrt(dot(n, n));
            if (length > 1e-9 && look(1 / length * n)) return 0;
        }
    return least;
}

} // namespace

// 20 + 19 + ... + 1 unit boxes, 1.05 m apart, layer on layer.
live_scene make_pyramid(int base) {
    live_scene scene;
    scene.shapes.push_back(make_box(0.5, 1000));
    scene.planes.push_back({{0, 0, 1}, 0});
    for (int row = 0; row < base; row++)
        for (int i = 0; i < base - row; i++)
            scene.bodies.push_back(
                {0, {1.05 * (i + 0.5 * row - 0.5 * (base - 1)), 0, row + 0.5}, {1, 0, 0, 0}});
    return scene;
}

// Hulls in layers of 8 x 8, 1.2 m apart, over a bin of 10 x 10 m for 1,000 of them, and of as much floor for
// each at other counts, so that heaps are of one depth.
live_scene make_bin(int count) {
    live_scene scene;
    generator random;
    double side = 10 * std::sqrt(count / 1000.0);
    int row = (int)(0.8 * side);
    scene.planes = {{{0, 0, 1}, 0},
                    {{1, 0, 0}, -side / 2},
                    {{-1, 0, 0}, -side / 2},
                    {{0, 1, 0}, -side / 2},
                    {{0, -1, 0}, -side / 2}};
    for (int i = 0; i < count; i++) {
        scene.shapes.push_back(make_rock(random, 1000));
        int layer = i / (row * row), in = i % (row * row);
        scene.bodies.push_back({i,
                                {1.2 * (in % row - 0.5 * (row - 1)) + 0.05 * (layer % 3 - 1),
                                 1.2 * (in / row - 0.5 * (row - 1)) + 0.05 * (layer % 2), 1 + 1.2 * layer},
                                {1, 0, 0, 0}});
    }
    return scene;
}

live_overlap measure_overlap(const live_scene &scene, const live_engine &engine) {
    live_overlap out;
    std::vector<placed> all;
    for (size_t i = 0; i < scene.bodies.size(); i++)
        all.push_back(place(scene.shapes[scene.bodies[i].shape], engine.motion((int)i).pose));
    auto add = [&](double depth) {
        if (!(depth > 0)) return;
        out.most = std::max(out.most, depth), out.mean += depth, out.pairs++;
    };
    for (size_t i = 0; i < all.size(); i++) {
        for (size_t k = i + 1; k < all.size(); k++) add(overlap(all[i], all[k]));
        for (const live_plane &p : scene.planes) {
            double deepest = 0;
            for (abut_vec3 x : all[i].points) deepest = std::max(deepest, p.offset - dot(p.normal, x));
            add(deepest);
        }
    }
    if (out.pairs) out.mean /= out.pairs;
    return out;
}

double kinetic_energy(const live_scene &scene, const live_engine &engine) {
    double sum = 0;
    for (size_t i = 0; i < scene.bodies.size(); i++) {
        const live_shape &s = scene.shapes[scene.bodies[i].shape];
        live_motion m = engine.motion((int)i);
        abut_quat back = {m.pose.rotation.w, -m.pose.rotation.x, -m.pose.rotation.y, -m.pose.rotation.z};
        abut_vec3 w = rotate(back, m.spin);
        sum += 0.5 * s.mass * dot(m.velocity, m.velocity) +
               0.5 * (s.inertia.x * w.x * w.x + s.inertia.y * w.y * w.y + s.inertia.z * w.z * w.z);
    }
    return sum;
}
