/* Energy of a group, and what the impulses of a time step do to it.  Between two instants of a step
 *
 *     E1 = E0 + work - dissipated - numerical:
 *
 * work is what motors and immovable bodies that move give, dissipated is what friction, inelastic contact,
 * drag and damping take by their own laws, and the numerical loss is the rest, which the method has taken. */
#include "sim/exact.h"

/* Kinetic energy of the group, and the potential of gravity, springs and hinge springs. */
double exact_energy(const exact *x) {
    double sum = 0;
    for (int i = 0; i < x->movable; i++) {
        sum += body_kinetic_energy(&x->inertias[i], &x->motions[i]);
        sum -= x->inertias[i].mass * vec3_dot(x->model->world.gravity, x->motions[i].center);
    }
    for (int i = 0; i < x->spring_count; i++) {
        const model_spring *s = &x->model->springs[x->springs[i]];
        vec3 at[2];
        int bodies[2] = {s->a, s->b};
        vec3 local[2] = {s->at_a, s->at_b};
        for (int k = 0; k < 2; k++) {
            at[k] = local[k];
            if (bodies[k] < 0) continue;
            const motion *m = &x->motions[x->local_of[bodies[k]]];
            at[k] = vec3_add(m->center, quat_rotate(m->rotation, local[k]));
        }
        double stretch = vec3_distance(at[0], at[1]) - s->length;
        sum += 0.5 * s->stiffness * stretch * stretch;
    }
    for (int i = 0; i < x->hinge_count; i++) {
        const hinge *h = &x->model->hinges[x->hinges[i]].h;
        if (h->stiffness > 0 && !run_hinges(x->run->state)[x->hinges[i]].broken)
            sum += hinge_spring_energy(h, x->hinge_values[i]);
    }
    return sum;
}

/* What immovable bodies that move, motors and rows give: impulse times velocity. */
double exact_impulse_work(const exact *x, const exact_impulses *j) {
    double work = 0;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        vec3 p = vec3_axpy(j->frictions[i], j->normals[i], c->point.normal);
        if (c->b >= x->movable) work += vec3_dot(p, motion_velocity_at(&x->motions[c->b], c->point.at));
        if (c->a >= x->movable) work -= vec3_dot(p, motion_velocity_at(&x->motions[c->a], c->point.at));
    }
    for (int i = 0; i < x->row_count; i++) {
        const row *r = &x->rows[i];
        double given = 0;
        if (r->a >= 0 && r->a < x->movable) given += spatial_dot(r->ja, x->motions[r->a].velocity);
        if (r->b >= 0 && r->b < x->movable) given += spatial_dot(r->jb, x->motions[r->b].velocity);
        work += j->rows[i] * given;
    }
    return work;
}

/* What contacts take: impulse times the mean of the relative velocities before and after, which for impulses
 * is exact; and the part of the normal impulses, which stop an approach. */
double exact_impulse_loss(const exact *x, const exact_impulses *j, const twist *before, double *stopping) {
    double loss = 0;
    *stopping = 0;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        motion a = x->motions[c->a], b = x->motions[c->b];
        vec3 p = vec3_axpy(j->frictions[i], j->normals[i], c->point.normal),
             u = contact_slip(&c->point, &a, &b);
        if (c->a < x->movable) a.velocity = before[c->a];
        if (c->b < x->movable) b.velocity = before[c->b];
        u = vec3_add(u, contact_slip(&c->point, &a, &b));
        loss -= 0.5 * vec3_dot(p, u);
        *stopping += fmax(-0.5 * j->normals[i] * vec3_dot(c->point.normal, u), 0);
    }
    return loss;
}
