/* abut/abut.h: everything.  abut simulates rigid bodies in contact: the touching areas, normals, forces and
 * instants.
 *
 *     #include <abut/abut.h>
 *     int main(void) {
 *         abut_solid *box = NULL;
 *         abut_solid_box(NULL, 2, 1, 0.5, &box, NULL);
 *         printf("abut %s: volume %g\n", abut_version(), abut_solid_facts_of(box).volume);
 *         abut_solid_free(NULL, box);
 *     }
 */
#ifndef ABUT_ABUT_H
#define ABUT_ABUT_H

#include "abut/base.h"
#include "abut/complementarity.h"
#include "abut/convex.h"
#include "abut/export.h"
#include "abut/index.h"
#include "abut/live.h"
#include "abut/math.h"
#include "abut/record.h"
#include "abut/scene.h"
#include "abut/sim.h"
#include "abut/solid.h"
#include "abut/surface.h"
#include "abut/touch.h"
#include "abut/world.h"

#endif
