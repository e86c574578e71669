/* The outline of a prism: a simple polygon, counter-clockwise.  All signs are exact, so an outline that
 * touches itself in one point is found, and one that passes by at the last bit is not accused. */
#include "solid/read.h"

typedef struct span {
    double lower, upper; /* of x */
    int edge;
} span;

static int compare_spans(const void *user, const void *a, const void *b) {
    (void)user;
    double x = ((const span *)a)->lower, y = ((const span *)b)->lower;
    return x < y ? -1 : x > y;
}

static int turn(const double a[2], const double b[2], const double c[2]) {
    return orient2d(a[0], a[1], b[0], b[1], c[0], c[1]);
}

/* Whether c, on the line through a and b, lies between them or on one of them. */
static bool between(const double a[2], const double b[2], const double c[2]) {
    return fmin(a[0], b[0]) <= c[0] && c[0] <= fmax(a[0], b[0]) && fmin(a[1], b[1]) <= c[1] &&
           c[1] <= fmax(a[1], b[1]);
}

/* Whether the closed segments a b and c d have a point in common. */
static bool meet(const double a[2], const double b[2], const double c[2], const double d[2]) {
    int ac = turn(a, b, c), ad = turn(a, b, d), ca = turn(c, d, a), cb = turn(c, d, b);
    if (ac * ad < 0 && ca * cb < 0) return true;
    return (ac == 0 && between(a, b, c)) || (ad == 0 && between(a, b, d)) || (ca == 0 && between(c, d, a)) ||
           (cb == 0 && between(c, d, b));
}

/* Two edges that are not neighbours share nothing. */
static abut_status check_pair(const double (*p)[2], int count, int i, int j, abut_error *error) {
    int i1 = (i + 1) % count, j1 = (j + 1) % count;
    if (i1 == j || j1 == i || !meet(p[i], p[i1], p[j], p[j1])) return ABUT_OK;
    return fail(
        error, ABUT_INVALID,
        "the outline crosses or touches itself: edge %d-%d meets edge %d-%d near (%.9g, %.9g); a prism "
        "needs a simple polygon",
        i, i1, j, j1, p[j][0], p[j][1]);
}

/* Sweep along x: only edges whose spans overlap are compared. */
static abut_status check_crossings(const double (*p)[2], int count, const span *spans, abut_error *error) {
    for (int i = 0; i < count; i++) {
        int a = spans[i].edge, a1 = (a + 1) % count;
        double low = fmin(p[a][1], p[a1][1]), high = fmax(p[a][1], p[a1][1]);
        for (int j = i + 1; j < count && spans[j].lower <= spans[i].upper; j++) {
            int b = spans[j].edge, b1 = (b + 1) % count;
            if (fmin(p[b][1], p[b1][1]) > high || fmax(p[b][1], p[b1][1]) < low) continue;
            abut_status status = check_pair(p, count, a < b ? a : b, a < b ? b : a, error);
            if (status != ABUT_OK) return status;
        }
    }
    return ABUT_OK;
}

/* The turn at the lowest of the leftmost points, which is a corner of the hull and never straight: the sign
 * of the area of a simple polygon. */
static int winding(const double (*p)[2], int count) {
    int corner = 0;
    for (int i = 1; i < count; i++)
        if (p[i][0] < p[corner][0] || (p[i][0] == p[corner][0] && p[i][1] < p[corner][1])) corner = i;
    return turn(p[(corner + count - 1) % count], p[corner], p[(corner + 1) % count]);
}

/* Each corner: a finite point, not the one before, and the next edge does not run back over the last one. */
static abut_status check_corners(const double (*p)[2], int count, abut_error *error) {
    for (int i = 0; i < count; i++)
        if (!isfinite(p[i][0]) || !isfinite(p[i][1]))
            return fail(error, ABUT_INVALID, "point %d of the outline is not finite (%g, %g); correct it", i,
                        p[i][0], p[i][1]);
    for (int i = 0; i < count; i++) {
        int next = (i + 1) % count, before = (i + count - 1) % count;
        if (p[i][0] == p[next][0] && p[i][1] == p[next][1])
            return fail(error, ABUT_INVALID,
                        "points %d and %d of the outline are the same (%.9g, %.9g); remove one", i, next,
                        p[i][0], p[i][1]);
        if (turn(p[before], p[i], p[next]) == 0 && !between(p[before], p[next], p[i]))
            return fail(error, ABUT_INVALID,
                        "the outline folds back on itself at point %d (%.9g, %.9g); remove the point", i,
                        p[i][0], p[i][1]);
    }
    return ABUT_OK;
}

abut_status outline_check(const abut_context *context, const double (*p)[2], int count, abut_error *error) {
    abut_status status = check_corners(p, count, error);
    if (status != ABUT_OK) return status;
    span *spans = mem_alloc(context, (size_t)count, sizeof *spans);
    if (!spans) return fail_memory(error);
    for (int i = 0; i < count; i++) {
        int next = (i + 1) % count;
        spans[i] = (span){fmin(p[i][0], p[next][0]), fmax(p[i][0], p[next][0]), i};
    }
    if (!sort_stable(context, spans, (size_t)count, sizeof *spans, compare_spans, NULL))
        status = fail_memory(error);
    if (status == ABUT_OK) status = check_crossings(p, count, spans, error);
    mem_free(context, spans, (size_t)count, sizeof *spans);
    if (status != ABUT_OK) return status;
    int sense = winding(p, count);
    if (sense < 0)
        return fail(error, ABUT_INVALID,
                    "the outline runs clockwise; list its %d points the other way round, counter-clockwise",
                    count);
    return ABUT_OK;
}
