/* The pairs that the start checks and the audit look at: those that may meet, and are near.  A sweep along
 * the axis on which the bodies lie farthest apart, so that the cost does not grow with the square of their
 * number. */
#include "sim/start.h"

typedef struct span {
    double lower, upper;
    int body;
} span;

static int by_lower(const void *user, const void *a, const void *b) {
    (void)user;
    const span *p = a, *q = b;
    return p->lower < q->lower ? -1 : p->lower > q->lower ? 1 : p->body - q->body;
}

/* As two nested loops over all bodies would come to them. */
static int by_bodies(const void *user, const void *a, const void *b) {
    (void)user;
    const start_pair *p = a, *q = b;
    int pa = p->a > p->b ? p->a : p->b, qa = q->a > q->b ? q->a : q->b;
    return pa != qa ? pa - qa : p->a + p->b - (q->a + q->b);
}

static int longest_axis(const checker *c) {
    box all = box_empty();
    for (int i = 0; i < c->model->body_count; i++) all = box_add_point(all, start_center(c, i));
    vec3 size = vec3_sub(all.upper, all.lower);
    return size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
}

bool start_near_pairs(const checker *c, start_pairs *out) {
    int count = c->model->body_count, axis = longest_axis(c);
    span *spans = mem_alloc(c->context, (size_t)count + 1, sizeof *spans);
    bool memory = spans != NULL;
    for (int i = 0; memory && i < count; i++) {
        double at = vec3_at(start_center(c, i), axis), r = c->model->bodies[i].shape.radius + c->epsilon;
        spans[i] = (span){at - r, at + r, i};
    }
    memory = memory && sort_stable(c->context, spans, (size_t)count, sizeof *spans, by_lower, NULL);
    out->count = 0;
    for (int i = 0; memory && i < count; i++)
        for (int j = i + 1; memory && j < count && spans[j].lower <= spans[i].upper; j++) {
            int a = spans[i].body, b = spans[j].body;
            start_pair pair = {a > b ? a : b, a > b ? b : a};
            if (start_pair_is_near(c, &pair.a, &pair.b)) memory = array_push(c->context, out, pair);
        }
    mem_free(c->context, spans, (size_t)count + 1, sizeof *spans);
    return memory &&
           sort_stable(c->context, out->data, (size_t)out->count, sizeof *out->data, by_bodies, NULL);
}
