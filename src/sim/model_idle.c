/* What a scene says in vain: hinges and springs between bodies that cannot move, forces on them, speeds of
 * fixed ones.  A run is right without them, so they are told and not refused; each kind once, with the first.
 */
#include "sim/model.h"

static bool moves(const abut_model *m, int body) { return body >= 0 && m->bodies[body].movable; }

static const char *why(const abut_model *m, int body) {
    return m->bodies[body].kinematic ? "kinematic" : "fixed";
}

static void tell_links(const abut_model *m, const abut_world_def *w) {
    for (int i = 0; i < m->hinge_count; i++) {
        const hinge *h = &m->hinges[i].h;
        if (moves(m, h->a) || moves(m, h->b)) continue;
        log_write(
            &m->context, ABUT_LOG_WARNING,
            "notice: line %d: hinge %d holds nothing: `%s` is %s, and so is %s%s%s; leave it out, or let one "
            "of them move",
            w->hinges[i].line, i + 1, m->bodies[h->a].name, why(m, h->a), h->b >= 0 ? "`" : "",
            h->b >= 0 ? m->bodies[h->b].name : "the ground", h->b >= 0 ? "`" : "");
        break;
    }
    for (int i = 0; i < w->spring_count; i++) {
        const abut_spring_def *s = &w->springs[i];
        if (moves(m, s->a) || moves(m, s->b)) continue;
        log_write(&m->context, ABUT_LOG_WARNING,
                  "notice: spring %d pulls at nothing that moves: `%s` is %s; leave it out, or let it move",
                  i + 1, m->bodies[s->a].name, why(m, s->a));
        break;
    }
}

void model_tell_idle(const abut_model *m, const abut_world_def *w) {
    tell_links(m, w);
    for (int i = 0; i < w->force_count; i++) {
        const abut_force_def *f = &w->forces[i];
        if (moves(m, f->body)) continue;
        log_write(&m->context, ABUT_LOG_WARNING,
                  "notice: the %s on body `%s` does nothing: it is %s; leave it out, or let it move",
                  f->is_torque ? "torque" : "force", m->bodies[f->body].name, why(m, f->body));
        break;
    }
    for (int i = 0; i < w->body_count; i++) {
        const abut_body_def *b = &w->bodies[i];
        if (!b->fixed || !(vec3_length(b->velocity) > 0 || vec3_length(b->spin) > 0 || b->motion)) continue;
        log_write(
            &m->context, ABUT_LOG_WARNING,
            "notice: line %d: body `%s` is fixed, and its %s does nothing; make it kinematic instead to "
            "move it",
            b->line, m->bodies[i].name,
            b->motion                      ? "motion"
            : vec3_length(b->velocity) > 0 ? "velocity"
                                           : "spin");
        break;
    }
}
