// Bullet: sequential impulses, 10 iterations (its default), GJK and EPA manifolds.
#include "live_scene.h"

#include <btBulletDynamicsCommon.h>
#include <cmath>

namespace {

btVector3 to(abut_vec3 v) { return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)); }
abut_vec3 from(const btVector3 &v) { return {v.x(), v.y(), v.z()}; }

class bullet : public live_engine {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broad;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broad, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    double dt;

  public:
    explicit bullet(const live_scene &scene) : dt(scene.dt) {
        world.setGravity(btVector3(0, 0, btScalar(-9.81)));
        for (const live_shape &s : scene.shapes) {
            if (s.is_box) {
                shapes.emplace_back(new btBoxShape(to(s.half)));
                continue;
            }
            auto *hull = new btConvexHullShape;
            for (abut_vec3 p : s.points) hull->addPoint(to(p), false);
            hull->recalcLocalAabb();
            shapes.emplace_back(hull);
        }
        btScalar friction = btScalar(std::sqrt(scene.friction)); // Bullet multiplies
        for (const live_body &b : scene.bodies) {
            const live_shape &s = scene.shapes[b.shape];
            btRigidBody::btRigidBodyConstructionInfo info(btScalar(s.mass), nullptr, shapes[b.shape].get(),
                                                          to(s.inertia));
            info.m_startWorldTransform.setIdentity();
            info.m_startWorldTransform.setOrigin(to(b.position));
            info.m_friction = friction;
            bodies.emplace_back(new btRigidBody(info));
            bodies.back()->setActivationState(DISABLE_DEACTIVATION);
            world.addRigidBody(bodies.back().get());
        }
        size_t moving = bodies.size();
        for (const live_plane &p : scene.planes) {
            shapes.emplace_back(new btStaticPlaneShape(to(p.normal), btScalar(p.offset)));
            btRigidBody::btRigidBodyConstructionInfo info(0, nullptr, shapes.back().get());
            info.m_friction = friction;
            bodies.emplace_back(new btRigidBody(info));
            world.addRigidBody(bodies.back().get());
        }
        (void)moving;
    }
    ~bullet() override {
        for (auto &b : bodies) world.removeRigidBody(b.get());
    }
    void step() override { world.stepSimulation(btScalar(dt), 0); }
    live_motion motion(int i) const override {
        const btTransform &t = bodies[i]->getWorldTransform();
        btQuaternion q = t.getRotation();
        return {{from(t.getOrigin()), {q.w(), q.x(), q.y(), q.z()}},
                from(bodies[i]->getLinearVelocity()),
                from(bodies[i]->getAngularVelocity())};
    }
};

} // namespace

std::unique_ptr<live_engine> make_bullet(const live_scene &scene, int threads) {
    if (threads > 1)
        return nullptr; // Debian builds it without BT_THREADSAFE: btCreateDefaultTaskScheduler gives none
    return std::unique_ptr<live_engine>(new bullet(scene));
}
