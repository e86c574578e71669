/* A solid made ready for contact regions, for the tests of touch. */
#ifndef TESTS_CONTACT_TOUCH_PART_H
#define TESTS_CONTACT_TOUCH_PART_H

#include "abut/touch.h"
#include "support.h"

typedef struct part {
    abut_solid *solid;
    abut_touch_solid *ready;
} part;

static inline part ready(abut_solid *solid) {
    part p = {solid, NULL};
    assert_non_null(solid);
    assert_int_equal(abut_touch_solid_create(NULL, solid, &p.ready, NULL), ABUT_OK);
    return p;
}

#endif
