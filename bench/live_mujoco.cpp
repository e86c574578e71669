// MuJoCo: conjugate gradients (its default, Newton, factors a dense matrix of 6 n rows in this version: half
// a second a step for the pyramid), its default tolerance and iterations, meshes by their hulls.
#include "live_scene.h"

#include <cstdio>
#include <cstring>
#include <mujoco/mujoco.h>

namespace {

std::string text(abut_vec3 v) {
    char line[120];
    std::snprintf(line, sizeof line, "%.17g %.17g %.17g", v.x, v.y, v.z);
    return line;
}

std::string write_model(const live_scene &scene) {
    std::string asset, world;
    for (size_t i = 0; i < scene.shapes.size(); i++) {
        const live_shape &s = scene.shapes[i];
        if (s.is_box) continue;
        asset += "<mesh name=\"m" + std::to_string(i) + "\" vertex=\"";
        for (abut_vec3 p : s.points) asset += text(p) + " ";
        asset += "\"/>\n";
    }
    for (const live_plane &p : scene.planes)
        world += "<geom type=\"plane\" size=\"0 0 1\" pos=\"" +
                 text({p.normal.x * p.offset, p.normal.y * p.offset, p.normal.z * p.offset}) + "\" zaxis=\"" +
                 text(p.normal) + "\"/>\n";
    for (const live_body &b : scene.bodies) {
        const live_shape &s = scene.shapes[b.shape];
        world += "<body pos=\"" + text(b.position) + "\"><freejoint/><geom " +
                 (s.is_box ? "type=\"box\" size=\"" + text(s.half) + "\""
                           : "type=\"mesh\" mesh=\"m" + std::to_string(b.shape) + "\"") +
                 " density=\"1000\"/></body>\n";
    }
    char option[200], size[100];
    std::snprintf(
        option, sizeof option,
        "<option timestep=\"%.17g\" gravity=\"0 0 -9.81\" solver=\"CG\" cone=\"%s\"/>\n<default><geom "
        "friction=\"%g 0.005 0.0001\"/></default>\n",
        scene.dt, scene.bodies.size() > 500 ? "elliptic" : "pyramidal", scene.friction);
    // room for contacts and rows: this version allocates matrices of rows x rows and rows x 6 n, all in less
    // than 2 GB, so that a thousand bodies get the cone with three rows a contact instead of four, and 2,400
    // contacts at most (it leaves out the others, which only makes it faster)
    bool is_large = scene.bodies.size() > 500;
    int many = is_large ? 2400 : 9 * (int)scene.bodies.size();
    std::snprintf(size, sizeof size, "<size nconmax=\"%d\" njmax=\"%d\"/>\n", many,
                  (is_large ? 3 : 4) * many);
    return std::string("<mujoco>\n") + option + size + "<asset>" + asset + "</asset>\n<worldbody>" + world +
           "</worldbody></mujoco>\n";
}

class mujoco : public live_engine {
    mjModel *model = nullptr;
    mjData *data = nullptr;

  public:
    explicit mujoco(const live_scene &scene) {
        mju_user_warning = [](const char *) {}; // contacts left out, see above: no file MUJOCO_LOG.TXT for it
        std::string xml = write_model(scene);
        static mjVFS files; // two megabytes: not for the stack
        char error[300] = "";
        mj_defaultVFS(&files);
        mj_makeEmptyFileVFS(&files, "scene.xml", (int)xml.size());
        std::memcpy(files.filedata[0], xml.data(), xml.size());
        model = mj_loadXML("scene.xml", &files, error, sizeof error);
        mj_deleteVFS(&files);
        if (model)
            data = mj_makeData(model);
        else
            std::printf("MuJoCo: %s\n", error);
    }
    ~mujoco() override {
        if (data) mj_deleteData(data);
        if (model) mj_deleteModel(model);
    }
    bool is_ready() const { return data; }
    void step() override { mj_step(model, data); }
    live_motion motion(int i) const override {
        // bodies are numbered from 1; their frames are those of the geoms, whose meshes stand in the axes
        // they were given in
        const mjtNum *p = data->geom_xpos + 3 * geom(i), *m = data->geom_xmat + 9 * geom(i);
        mjtNum q[4], mesh[4], back[4], v[6];
        mju_mat2Quat(q, m);
        // a mesh is turned to its principal axes when loaded: undo that
        if (model->geom_type[geom(i)] == mjGEOM_MESH) {
            mju_copy4(mesh, model->geom_quat + 4 * geom(i));
            mju_negQuat(back, mesh);
            mjtNum turned[4];
            mju_mulQuat(turned, q, back), mju_copy4(q, turned);
        }
        mj_objectVelocity(model, data, mjOBJ_BODY, i + 1, v, 0);
        return {{{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}}, {v[3], v[4], v[5]}, {v[0], v[1], v[2]}};
    }
    int geom(int i) const { return model->body_geomadr[i + 1]; }
};

} // namespace

std::unique_ptr<live_engine> make_mujoco(const live_scene &scene, int threads) {
    if (threads > 1) return nullptr; // one step of one world runs in one thread
    std::unique_ptr<mujoco> engine(new mujoco(scene));
    if (!engine->is_ready()) return nullptr;
    return engine;
}
