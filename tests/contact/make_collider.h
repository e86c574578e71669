/* A collider of a shape, for the tests of colliders and casts. */
#ifndef TESTS_CONTACT_MAKE_COLLIDER_H
#define TESTS_CONTACT_MAKE_COLLIDER_H

#include "contact/collider.h"
#include "support.h"

static inline collider *make(abut_shape shape) {
    collider *c = NULL;
    abut_error error;
    if (collider_create(NULL, &shape, &c, &error) != ABUT_OK) fail_msg("%s", error.message);
    return c;
}

#endif
