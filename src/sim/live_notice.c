/* Notices of the live clock: what it is going to do otherwise than the scene says. */
#include "sim/live.h"

/* What the scene asks for and this clock does not do. */
void live_tell_unknown(const abut_sim *run) {
    const abut_model *m = run->model;
    if (m->uniform_pressure)
        log_write(
            &run->context, ABUT_LOG_WARNING,
            "notice: the live clock does not know pressure = \"uniform\": faces press at up to four points; "
            "use the exact clock where that matters");
    if (m->world.restitution_law == ABUT_POISSON && m->hinge_count + m->spring_count > 0)
        log_write(&run->context, ABUT_LOG_WARNING,
                  "notice: the live clock strikes bodies on hinges and springs by Newton's law, not by "
                  "restitution_law = \"poisson\"; use the exact clock where that matters");
}

/* How fast a row of a hinge comes apart; of turning ones on the radius of the smallest body. */
static double parting_of(const live *w, const row *r) {
    const spatial *a = &w->motions[r->a].velocity, *b = r->b >= 0 ? &w->motions[r->b].velocity : NULL;
    double speed = vec3_dot(r->ja.linear, a->linear) + vec3_dot(r->ja.angular, a->angular) - r->rate;
    if (b) speed += vec3_dot(r->jb.linear, b->linear) + vec3_dot(r->jb.angular, b->angular);
    return fabs(speed) * (vec3_length2(r->ja.linear) == 0 ? w->size / 2 : 1);
}

/* Velocities at the start that the hinges do not allow: the hinge that would open fastest. */
void live_tell_misfit(const live *w) {
    const abut_model *m = w->model;
    double fastest = m->tolerance.rest_speed;
    int worst = -1;
    row rows[HINGE_MAX_ROWS];
    for (int i = 0; i < m->hinge_count; i++) {
        const hinge *h = &m->hinges[i].h;
        if (!w->body[h->a].movable && !(h->b >= 0 && w->body[h->b].movable)) continue;
        int n = hinge_rows(h, &w->motions[h->a], h->b >= 0 ? &w->motions[h->b] : NULL,
                           run_hinges(w->run->state)[i].coordinate, rows);
        for (int k = 0; k < n; k++) {
            rows[k].a = h->a, rows[k].b = h->b;
            double speed = parting_of(w, &rows[k]);
            if (speed > fastest) fastest = speed, worst = i;
        }
    }
    if (worst < 0) return;
    const hinge *h = &m->hinges[worst].h;
    const char *b = h->b >= 0 ? m->bodies[h->b].name : NULL;
    log_write(w->context, ABUT_LOG_INFO,
              "notice: hinges do not allow the velocities of the start: hinge %d, of `%s` and %s%s%s, would "
              "open at %.3g m/s, so they are changed as by a blow; give bodies on hinges velocities that go "
              "together",
              worst, m->bodies[h->a].name, b ? "`" : "", b ? b : "the ground", b ? "`" : "", fastest);
}
