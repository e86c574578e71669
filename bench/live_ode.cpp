// ODE: QuickStep with its default iterations, boxes and convex shapes, at most 8 contacts a pair; its own
// threads for the step, where several are asked for (collisions have none).
#include "live_scene.h"

#include <ode/ode.h>

namespace {

class ode : public live_engine {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    std::vector<dBodyID> bodies;
    struct convex {
        std::vector<dReal> planes, points;
        std::vector<unsigned> polygons;
    };
    std::vector<convex> shapes;
    double dt, friction;
    dThreadingImplementationID threading = nullptr;
    dThreadingThreadPoolID pool = nullptr;

    static void near(void *user, dGeomID a, dGeomID b) {
        ode *self = static_cast<ode *>(user);
        dContact c[8];
        if (!dGeomGetBody(a) && !dGeomGetBody(b)) return;
        int count = dCollide(a, b, 8, &c[0].geom, sizeof c[0]);
        for (int i = 0; i < count; i++) {
            c[i].surface = dSurfaceParameters();
            c[i].surface.mode = dContactApprox1, c[i].surface.mu = self->friction;
            dJointAttach(dJointCreateContact(self->world, self->contacts, &c[i]), dGeomGetBody(a),
                         dGeomGetBody(b));
        }
    }

  public:
    ode(const live_scene &scene, int threads) : dt(scene.dt), friction(scene.friction) {
        dInitODE2(0), dAllocateODEDataForThread(dAllocateMaskAll);
        world = dWorldCreate(), space = dHashSpaceCreate(nullptr), contacts = dJointGroupCreate(0);
        dWorldSetGravity(world, 0, 0, -9.81);
        if (threads > 1) {
            threading = dThreadingAllocateMultiThreadedImplementation();
            pool = dThreadingAllocateThreadPool((unsigned)threads, 0, dAllocateFlagBasicData, nullptr);
            dThreadingThreadPoolServeMultiThreadedImplementation(pool, threading);
            dWorldSetStepThreadingImplementation(world, dThreadingImplementationGetFunctions(threading),
                                                 threading);
        }
        for (const live_shape &s : scene.shapes) {
            convex c;
            for (size_t f = 0; f < s.faces.size(); f++) {
                abut_vec3 n = s.normals[f], p = s.points[s.faces[f][0]];
                for (double x : {n.x, n.y, n.z, n.x * p.x + n.y * p.y + n.z * p.z}) c.planes.push_back(x);
                c.polygons.push_back((unsigned)s.faces[f].size());
                for (int v : s.faces[f]) c.polygons.push_back((unsigned)v);
            }
            for (abut_vec3 p : s.points)
                for (double x : {p.x, p.y, p.z}) c.points.push_back(x);
            shapes.push_back(c);
        }
        for (const live_body &b : scene.bodies) {
            const live_shape &s = scene.shapes[b.shape];
            convex &c = shapes[b.shape];
            dBodyID body = dBodyCreate(world);
            dMass mass;
            dMassSetParameters(&mass, s.mass, 0, 0, 0, s.inertia.x, s.inertia.y, s.inertia.z, 0, 0, 0);
            dBodySetMass(body, &mass), dBodySetPosition(body, b.position.x, b.position.y, b.position.z);
            dGeomID geom = s.is_box
                               ? dCreateBox(space, 2 * s.half.x, 2 * s.half.y, 2 * s.half.z)
                               : dCreateConvex(space, c.planes.data(), (unsigned)s.faces.size(),
                                               c.points.data(), (unsigned)s.points.size(), c.polygons.data());
            dGeomSetBody(geom, body), bodies.push_back(body);
        }
        for (const live_plane &p : scene.planes)
            dCreatePlane(space, p.normal.x, p.normal.y, p.normal.z, p.offset);
    }
    ~ode() override {
        if (threading) dThreadingImplementationShutdownProcessing(threading);
        if (pool) dThreadingFreeThreadPool(pool);
        dJointGroupDestroy(contacts), dSpaceDestroy(space), dWorldDestroy(world);
        if (threading) dThreadingFreeImplementation(threading);
        dCloseODE();
    }
    void step() override {
        dSpaceCollide(space, this, near);
        dWorldQuickStep(world, dt);
        dJointGroupEmpty(contacts);
    }
    live_motion motion(int i) const override {
        const dReal *p = dBodyGetPosition(bodies[i]), *q = dBodyGetQuaternion(bodies[i]),
                    *v = dBodyGetLinearVel(bodies[i]), *w = dBodyGetAngularVel(bodies[i]);
        return {{{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}}, {v[0], v[1], v[2]}, {w[0], w[1], w[2]}};
    }
};

} // namespace

std::unique_ptr<live_engine> make_ode(const live_scene &scene, int threads) {
    return std::unique_ptr<live_engine>(new ode(scene, threads));
}
