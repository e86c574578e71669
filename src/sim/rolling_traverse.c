/* Contacts of smooth surfaces as they move over patches (Kry 2000, section 4.5).  The place of a contact, its
 * patch and parameters, is memory: it is found by Newton's method from where it was, never searched again.
 * While the integrator steps, the patch goes on beyond its border; where the place has left its domain
 * (by more than the extended boundary of 4.5.5), the event is located and the neighbour
 * takes over. */
#include "sim/exact.h"

static const contact_shape *shape_of(const exact *x, int local) {
    return &x->model->bodies[x->bodies[local]].shape;
}

bool rolling_leaves_patch(const exact *x, int64_t item) {
    const group_contact *c = &x->contacts.data[item];
    return smooth_leaves(&x->touches.data[item].pair, shape_of(x, c->a), &x->motions[c->a], shape_of(x, c->b),
                         &x->motions[c->b], x->model->tolerance.touching);
}

static bool follow(const exact *x, int64_t item, near_pair *pair, contact_point *point, int *crossings) {
    const group_contact *c = &x->contacts.data[item];
    bool faces;
    *pair = x->touches.data[item].pair;
    return smooth_follow(pair, shape_of(x, c->a), &x->motions[c->a], shape_of(x, c->b), &x->motions[c->b],
                         x->model->tolerance.touching, point, &faces, crossings) &&
           faces;
}

abut_status rolling_cross(exact *x, int64_t item, bool *crossed, abut_error *error) {
    near_pair pair;
    contact_point point;
    int crossings = 0;
    *crossed = smooth_is_pair(&x->touches.data[item].pair) && follow(x, item, &pair, &point, &crossings);
    if (!*crossed) return ABUT_OK;
    x->touches.data[item].pair = pair;
    x->contacts.data[item].point = point;
    if (crossings == 0) return ABUT_OK;
    return exact_emit(x, exact_contact_event(x, ABUT_EVENT_PATCH_CROSSED, (int)item), error);
}

bool rolling_follow(const exact *x, int64_t item, near_pair *pair, contact_point *point) {
    double epsilon = x->model->tolerance.touching;
    return smooth_is_pair(&x->touches.data[item].pair) && follow(x, item, pair, point, NULL) &&
           point->gap <= epsilon && point->gap >= -EXACT_MOST_DEPTH * epsilon;
}

bool rolling_jump(exact *x) {
    bool jumped = false;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        near_pair pair = x->touches.data[i].pair;
        contact_point point;
        bool faces;
        if (!smooth_is_pair(&pair) ||
            !smooth_jump(&pair, shape_of(x, c->a), &x->motions[c->a], shape_of(x, c->b), &x->motions[c->b],
                         x->model->tolerance.touching, &point, &faces) ||
            !faces)
            continue;
        x->touches.data[i].pair = pair, c->point = point;
        jumped = true;
    }
    return jumped;
}
