/* One recorded scene with a body of each shape, its export in a format, and what the recording has of it:
 * shared by the tests of exports. */
#ifndef ABUT_TESTS_RECORD_EXPORTED_H
#define ABUT_TESTS_RECORD_EXPORTED_H

#include "abut/export.h"
#include "support.h"

/* The recording of the scene; it is made once. */
const char *recorded(void);
abut_recording *open_recorded(void);
abut_export_report export_to(abut_export_format format, const char *path);
/* A whole file, with a zero behind it; to be freed. */
char *read_all(const char *path, size_t *size);

/* The pose of the shape's origin at a frame: centre of mass minus the turned centre. */
pose true_pose(abut_recording *r, int64_t frame, int body);
/* Largest difference of the two rotation matrices' columns. */
double turn_between(quat a, quat b);

#endif
