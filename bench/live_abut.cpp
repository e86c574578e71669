// abut's live clock through the public interface: sleeping off, otherwise as it comes.
#include "live_scene.h"

#include "abut/live.h"
#include "abut/sim.h"

#include <cmath>
#include <cstdio>

namespace {

class abut_engine : public live_engine {
    abut_workers *pool = nullptr;
    abut_context context{};
    std::vector<abut_solid *> solids;
    std::vector<abut_vec3> centers; // of the solids: zero but for rounding
    abut_model *model = nullptr;
    abut_sim *run = nullptr;
    double dt;
    long steps = 0, noted = 0;
    abut_live_times sum{};
    const live_scene &scene;

  public:
    abut_engine(const live_scene &given, int threads) : dt(given.dt), scene(given) {
        if (threads > 1)
            pool = abut_workers_create(nullptr, threads), context.parallel = abut_workers_parallel(pool);
        abut_error error;
        abut_world_def world = abut_default_world();
        world.mode = ABUT_LIVE, world.step = dt;
        world.material.friction.stick = world.material.friction.slide = scene.friction;
        for (const live_shape &s : scene.shapes) {
            abut_solid *solid = nullptr;
            abut_status status =
                s.is_box ? abut_solid_box(nullptr, 2 * s.half.x, 2 * s.half.y, 2 * s.half.z, &solid, &error)
                         : abut_solid_hull(nullptr, s.points.data(), (int)s.points.size(), &solid, &error);
            if (status != ABUT_OK) std::printf("abut: %s\n", error.message);
            solids.push_back(solid);
        }
        std::vector<abut_body_def> bodies;
        for (const live_body &b : scene.bodies) {
            const live_shape &s = scene.shapes[b.shape];
            abut_body_def body = abut_default_body();
            body.shape = abut_shape_solid(solids[b.shape]);
            body.position = b.position, body.rotation = b.rotation, body.mass = s.mass;
            bodies.push_back(body);
        }
        for (const live_plane &p : scene.planes) {
            abut_body_def body = abut_default_body();
            body.shape = abut_shape_halfspace(p.normal, p.offset), body.fixed = true;
            bodies.push_back(body);
        }
        world.bodies = bodies.data(), world.body_count = (int)bodies.size();
        if (abut_model_create(&context, &world, &model, &error) != ABUT_OK ||
            abut_sim_create(&context, model, nullptr, &run, &error) != ABUT_OK) {
            std::printf("abut: %s\n", error.message);
            return;
        }
        abut_live_options options = abut_default_live_options();
        options.sleep = false;
        abut_live_set_options(run, &options);
    }
    ~abut_engine() override {
        abut_sim_free(run), abut_model_free(model);
        for (abut_solid *s : solids) abut_solid_free(nullptr, s);
        if (pool) abut_workers_destroy(pool);
    }
    bool is_ready() const { return run; }
    void step() override {
        abut_error error;
        if (abut_sim_advance(run, ++steps * dt, &error) != ABUT_OK) std::printf("abut: %s\n", error.message);
        abut_live_times t = abut_live_step_times(run);
        sum.forces += t.forces, sum.broad += t.broad, sum.narrow += t.narrow, sum.islands += t.islands;
        sum.color += t.color, sum.prepare += t.prepare, sum.solve += t.solve, sum.store += t.store;
        sum.report += t.report, sum.total += t.total;
        sum.pairs += t.pairs, sum.recycled += t.recycled, sum.manifolds += t.manifolds;
    }
    live_motion motion(int i) const override {
        abut_motion m = abut_sim_motion(run, i);
        return {{m.center, m.rotation}, m.velocity, m.spin}; // the shapes are centred
    }
    void begin_note() override { noted = steps, sum = abut_live_times{}; }
    double contacts() const override {
        return (double)sum.manifolds / (double)(steps - noted) / (double)scene.bodies.size();
    }
    std::string note() const override {
        char line[400];
        double ms = 1e3 / (double)(steps - noted), each = ms / 1e3 / (double)scene.bodies.size();
        std::snprintf(
            line, sizeof line,
            "wall ms: forces %.2f broad %.2f narrow %.2f islands %.2f color %.2f prepare %.2f solve "
            "%.2f store %.2f report %.2f total %.2f; pairs %.1f looked at %.2f manifolds %.2f a body",
            ms * sum.forces, ms * sum.broad, ms * sum.narrow, ms * sum.islands, ms * sum.color,
            ms * sum.prepare, ms * sum.solve, ms * sum.store, ms * sum.report, ms * sum.total,
            each * (double)sum.pairs, each * (double)(sum.pairs - sum.recycled),
            each * (double)sum.manifolds);
        return line;
    }
};

} // namespace

std::unique_ptr<live_engine> make_abut(const live_scene &scene, int threads) {
    std::unique_ptr<abut_engine> engine(new abut_engine(scene, threads));
    if (!engine->is_ready()) return nullptr;
    return engine;
}
