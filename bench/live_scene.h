// Scenes of convex bodies that every live engine gets alike, and what is measured on them.
#ifndef BENCH_LIVE_SCENE_H
#define BENCH_LIVE_SCENE_H

#include "abut/convex.h"

#include <memory>
#include <string>
#include <vector>

// A convex shape about its centre of mass, in principal axes, so that engines with three moments of inertia
// and engines with six see the same body.
struct live_shape {
    bool is_box = false;
    abut_vec3 half{};                    // of a box
    std::vector<abut_vec3> points;       // vertices
    std::vector<std::vector<int>> faces; // corners, counter-clockwise seen from outside
    std::vector<abut_vec3> normals;      // of the faces
    std::vector<abut_vec3> edges;        // unit, one for each direction
    double radius = 0, mass = 0;
    abut_vec3 inertia{};
};

struct live_body {
    int shape;
    abut_vec3 position;
    abut_quat rotation;
};

struct live_plane { // the set normal . x <= offset
    abut_vec3 normal;
    double offset;
};

struct live_scene {
    std::vector<live_shape> shapes;
    std::vector<live_body> bodies;
    std::vector<live_plane> planes;
    double friction = 0.6, dt = 1.0 / 60;
};

live_scene make_pyramid(int base);
live_scene make_bin(int count);

struct live_motion {
    abut_pose pose;
    abut_vec3 velocity, spin;
};

class live_engine {
  public:
    virtual ~live_engine() = default;
    virtual void step() = 0;
    virtual live_motion motion(int body) const = 0;
    virtual void begin_note() {} // what the note tells is counted from here
    virtual std::string note() const { return ""; }
    virtual double contacts() const { return 0; } // a body, counted from there
};
typedef std::unique_ptr<live_engine> make_live_engine(const live_scene &scene, int threads);
make_live_engine make_abut, make_bullet, make_ode, make_mujoco; // null where the engine has no threads

// Overlap of every pair by the separating axis theorem (all face normals, all pairs of edge directions), and
// with the planes.
struct live_overlap {
    double most = 0, mean = 0; // metres; the mean is over the pairs that overlap
    int pairs = 0;
};
live_overlap measure_overlap(const live_scene &scene, const live_engine &engine);
double kinetic_energy(const live_scene &scene, const live_engine &engine);

#endif
