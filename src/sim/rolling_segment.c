/* The recording of reduced coordinates: the motion of the bodies as the polynomial that the dense output of
 * the general clock is, through eight places of the step. */
#include "sim/rolling.h"

/* The inverse of the matrix of the basis 1, x, x (1 - x), x^2 (1 - x), ... at x = 0, 1/7, ..., 1. */
static const double coefficients[ABUT_SEGMENT_COEFFICIENTS][ABUT_SEGMENT_COEFFICIENTS] = {
    {1, 0, 0, 0, 0, 0, 0, 0},
    {-1, 0, 0, 0, 0, 0, 0, 1},
    {-1029.0 / 60, 2940.0 / 60, -4410.0 / 60, 4900.0 / 60, -3675.0 / 60, 1764.0 / 60, -490.0 / 60, 0},
    {1029.0 / 60, -3430.0 / 60, 6174.0 / 60, -8575.0 / 60, 8575.0 / 60, -6174.0 / 60, 3430.0 / 60,
     -1029.0 / 60},
    {33614.0 / 360, -158466.0 / 360, 324135.0 / 360, -384160.0 / 360, 288120.0 / 360, -129654.0 / 360,
     26411.0 / 360, 0},
    {-33614.0 / 360, 184877.0 / 360, -453789.0 / 360, 672280.0 / 360, -672280.0 / 360, 453789.0 / 360,
     -184877.0 / 360, 33614.0 / 360},
    {-117649.0 / 720, 705894.0 / 720, -1764735.0 / 720, 2352980.0 / 720, -1764735.0 / 720, 705894.0 / 720,
     -117649.0 / 720, 0},
    {117649.0 / 720, -823543.0 / 720, 2470629.0 / 720, -4117715.0 / 720, 4117715.0 / 720, -2470629.0 / 720,
     823543.0 / 720, -117649.0 / 720}};

/* The coefficients that take the values at the eight nodes; `columns` values a node. */
static void fit(double (*values)[2 * BODY_NUMBERS], int columns) {
    enum { N = ABUT_SEGMENT_COEFFICIENTS };
    for (int j = 0; j < columns; j++) {
        double node[N];
        for (int i = 0; i < N; i++) node[i] = values[i][j];
        for (int k = 0; k < N; k++) {
            double sum = 0;
            for (int i = 0; i < N; i++) sum += coefficients[k][i] * node[i];
            values[k][j] = sum;
        }
    }
}

static void put_motion(double *y, const motion *m) {
    y[0] = m->center.x, y[1] = m->center.y, y[2] = m->center.z;
    y[3] = m->rotation.w, y[4] = m->rotation.x, y[5] = m->rotation.y, y[6] = m->rotation.z;
    const vec3 v = m->velocity.linear, w = m->velocity.angular;
    y[7] = v.x, y[8] = v.y, y[9] = v.z, y[10] = w.x, y[11] = w.y, y[12] = w.z;
}

abut_status rolling_keep_segment(rolling *r, double end, bool again, abut_error *error) {
    const abut_context *context = &r->x->run->context;
    segment_list *list = &r->x->account->segments;
    double values[ABUT_SEGMENT_COEFFICIENTS][2 * BODY_NUMBERS], first = r->integrator.t_old;
    if (!run_keeps_segments(r->x->run) || !(end > first)) return ABUT_OK;
    int bodies[2] = {r->one, r->two}, count = rolling_base_is_free(r) ? 2 : 1;
    quat near = r->x->motions[r->one].rotation;
    for (int i = 0; i < ABUT_SEGMENT_COEFFICIENTS; i++) {
        double t = first + (r->integrator.t - first) * i / (ABUT_SEGMENT_COEFFICIENTS - 1);
        abut_status status = rolling_place(r, t, error);
        if (status != ABUT_OK) return status;
        motion m = reduced_motion(&r->placed, near);
        near = m.rotation;
        put_motion(values[i], &m);
        if (count == 2) memcpy(values[i] + BODY_NUMBERS, r->y + ROLLING_Q, BODY_NUMBERS * sizeof(double));
    }
    fit(values, count * BODY_NUMBERS);
    kept_segment s = {.start = first,
                      .end = end,
                      .step = r->integrator.t - first,
                      .first_body = list->bodies.count,
                      .body_count = count,
                      .first_number = list->numbers.count,
                      .again = again};
    int64_t numbers = (int64_t)count * BODY_NUMBERS * ABUT_SEGMENT_COEFFICIENTS;
    if (!array_push(context, &list->items, s) ||
        !array_reserve(context, &list->numbers, list->numbers.count + numbers))
        return fail_memory(error);
    for (int b = 0; b < count; b++) {
        if (!array_push(context, &list->bodies, r->x->bodies[bodies[b]])) return fail_memory(error);
        for (int i = 0; i < BODY_NUMBERS; i++)
            for (int k = 0; k < ABUT_SEGMENT_COEFFICIENTS; k++)
                list->numbers.data[list->numbers.count++] = values[k][b * BODY_NUMBERS + i];
    }
    return ABUT_OK;
}
