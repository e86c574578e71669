/* Watches of a model: their definitions, checked, and what their functions say. */
#include "sim/model.h"

static abut_status make_watch(abut_model *m, const abut_watch_def *def, int number, abut_error *error) {
    model_watch *watch = &m->watches[number];
    if (def->cookie != ABUT_DEF_COOKIE || !def->function)
        return fail(error, ABUT_INVALID,
                    "watch %d has no function, or was not made by abut_default_watch(); start from it",
                    number);
    *watch = (model_watch){.name = model_copy_name(m, def->name, "watch", number),
                           .body_count = def->body_count,
                           .direction = def->direction,
                           .function = def->function,
                           .user = def->user};
    if (!watch->name) return fail_memory(error);
    if (def->body_count < 1 || def->body_count > ABUT_MOST_WATCHED)
        return fail(error, ABUT_INVALID, "watch `%s` has %d bodies; name 1 to %d", watch->name,
                    def->body_count, (int)ABUT_MOST_WATCHED);
    for (int i = 0; i < def->body_count; i++) {
        if (def->bodies[i] < 0 || def->bodies[i] >= m->body_count)
            return fail(error, ABUT_INVALID, "watch `%s`: there is no body %d; use numbers from 0 to %d",
                        watch->name, def->bodies[i], m->body_count - 1);
        watch->bodies[i] = def->bodies[i];
    }
    return ABUT_OK;
}

/* A function that fails does so here, before anything has moved. */
static abut_status try_watch(const abut_model *m, const model_watch *watch, abut_error *error) {
    motion motions[ABUT_MOST_WATCHED];
    double value;
    for (int i = 0; i < watch->body_count; i++) motions[i] = m->bodies[watch->bodies[i]].start;
    return model_watch_value(m, watch, 0, motions, &value, error);
}

abut_status model_make_watches(abut_model *m, const abut_world_def *w, abut_error *error) {
    m->watches = arena_alloc(&m->memory, (size_t)w->watch_count + 1, sizeof *m->watches);
    if (!m->watches) return fail_memory(error);
    for (int i = 0; i < w->watch_count; i++) {
        abut_status status = make_watch(m, &w->watches[i], i, error);
        if (status == ABUT_OK) status = try_watch(m, &m->watches[i], error);
        if (status != ABUT_OK && error && !error->line) error->line = w->watches[i].line;
        if (status != ABUT_OK) return status;
        m->watch_count = i + 1;
    }
    return ABUT_OK;
}

abut_status model_watch_value(const abut_model *model, const model_watch *watch, double time,
                              const motion *motions, double *value, abut_error *error) {
    abut_watched bodies[ABUT_MOST_WATCHED];
    for (int i = 0; i < watch->body_count; i++) {
        const motion *m = &motions[i];
        vec3 arm = quat_rotate(m->rotation, model->bodies[watch->bodies[i]].center);
        bodies[i] = (abut_watched){.position = vec3_sub(m->center, arm),
                                   .center = m->center,
                                   .rotation = m->rotation,
                                   .velocity = m->velocity.linear,
                                   .spin = m->velocity.angular};
    }
    *value = NAN;
    if (!watch->function(watch->user, time, bodies, value))
        return fail(error, ABUT_CANCELLED, "the watch `%s` gave no answer at t = %.9g", watch->name, time);
    if (!isfinite(*value))
        return fail(error, ABUT_INVALID, "the watch `%s` is %g at t = %.9g; make it a finite number there",
                    watch->name, *value, time);
    return ABUT_OK;
}
