/* Area, volume, centre of mass and inertia of a smooth surface, by the divergence theorem.
 *
 *   volume   = 1/3 integral of c . N,           N = c_u x c_v du dv
 *   first    = integral of x^2/2 N_x, ...       second = integral of x^3/3 N_x, x^2 y/2 N_x, ...
 *
 * Each domain polygon is a triangle, or cut into triangles from its centre; a triangle is integrated by
 * Gauss's rules of 6 x 6 and 8 x 8 points (collapsed at a corner), and split in four where the second is off
 * by more than its share of the tolerance.  How much it is off: where a patch is analytic, errors fall like
 * r^(-2n) with the number n of points, so that for a scale S the second is off by S (d / S)^(8/6) where they
 * differ by d; around an extraordinary vertex by d, to be safe.  All is summed about the middle of the box,
 * so that a body far from the origin keeps its digits. */
#include "surface/surface.h"

/* area, volume, x y z, xx yy zz xy xz yz */
enum { INTEGRALS = 11, GAUSS = 8, DEEPEST = 14 };
typedef struct integrals {
    double of[INTEGRALS];
} integrals;

/* Gauss's points and weights on [0, 1]; of the rule to compare with */
enum { ROUGH = 6 };
static const double rough_x[ROUGH] = {0.03376524289842399, 0.16939530676686774, 0.38069040695840154,
                                      0.61930959304159846, 0.83060469323313226, 0.96623475710157601};
static const double rough_w[ROUGH] = {0.08566224618958517, 0.18038078652406930, 0.23395696728634552,
                                      0.23395696728634552, 0.18038078652406930, 0.08566224618958517};
static const double gauss_x[GAUSS] = {0.01985507175123188, 0.10166676129318664, 0.23723379504183550,
                                      0.40828267875217510, 0.59171732124782490, 0.76276620495816450,
                                      0.89833323870681336, 0.98014492824876812};
static const double gauss_w[GAUSS] = {0.05061426814518813, 0.11119051722668724, 0.15685332293894364,
                                      0.18134189168918099, 0.18134189168918099, 0.15685332293894364,
                                      0.11119051722668724, 0.05061426814518813};

typedef struct integrator {
    const abut_surface *s;
    const patch *p;
    vec3 origin;
    double tolerance[INTEGRALS]; /* for a whole patch */
    double small;                /* the tolerance for the area */
    int64_t evaluations, budget;
    double error[INTEGRALS];
    integrals total;
} integrator;

static void add_point(const partials *at, vec3 origin, double weight, integrals *sum) {
    vec3 n = vec3_scale(vec3_cross(at->u, at->v), weight), x = vec3_sub(at->c, origin);
    double f[INTEGRALS] = {vec3_length(n),
                           vec3_dot(x, n) / 3,
                           x.x * x.x * n.x / 2,
                           x.y * x.y * n.y / 2,
                           x.z * x.z * n.z / 2,
                           x.x * x.x * x.x * n.x / 3,
                           x.y * x.y * x.y * n.y / 3,
                           x.z * x.z * x.z * n.z / 3,
                           x.x * x.x * x.y * n.x / 2,
                           x.z * x.z * x.x * n.z / 2,
                           x.y * x.y * x.z * n.y / 2};
    for (int i = 0; i < INTEGRALS; i++) sum->of[i] += f[i];
}

/* Corner a and the opposite side b c: (u, v) = a + s ((b - a) + t (c - b)), du dv = 2 area s ds dt. */
static integrals rule(integrator *g, const double *a, const double *b, const double *c, int points,
                      const double *x, const double *w) {
    integrals sum = {{0}};
    double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    for (int i = 0; i < points; i++)
        for (int j = 0; j < points; j++) {
            double s = x[i], t = x[j];
            partials at;
            patch_evaluate(g->s, g->p, a[0] + s * (b[0] - a[0] + t * (c[0] - b[0])),
                           a[1] + s * (b[1] - a[1] + t * (c[1] - b[1])), 1, &at);
            add_point(&at, g->origin, twice * s * w[i] * w[j], &sum);
        }
    g->evaluations += points * points;
    return sum;
}

/* How much less the finer rule is off than the two differ: S (d / S)^(4/3) <= e where d <= e (S / e)^(1/4);
 * with S = area * size^k and e = tolerance * size^(k + 2) their ratio is the same for all integrals. */
static double gain(const integrator *g, double area, double share) {
    bool analytic = g->p->kind != ABUT_PATCH_STAM && g->p->kind != ABUT_PATCH_SPLIT;
    return analytic ? fmax(sqrt(sqrt(area / (share * g->small))), 1) : 1;
}

/* A triangle with its share of the patch's tolerance. */
static void integrate(integrator *g, const double t[3][2], double share, int depth) {
    integrals fine = rule(g, t[0], t[1], t[2], GAUSS, gauss_x, gauss_w),
              rough = rule(g, t[0], t[1], t[2], ROUGH, rough_x, rough_w);
    bool agree = true;
    double less = gain(g, fine.of[0], share);
    for (int k = 0; k < INTEGRALS; k++)
        agree &= fabs(fine.of[k] - rough.of[k]) <= less * share * g->tolerance[k];
    if (agree || depth == DEEPEST || g->evaluations > g->budget) {
        for (int k = 0; k < INTEGRALS; k++) {
            g->total.of[k] += fine.of[k];
            g->error[k] += fabs(fine.of[k] - rough.of[k]) / (agree ? less : 1);
        }
        return;
    }
    double m[3][2]; /* middle of the side opposite corner i */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) m[i][k] = 0.5 * (t[(i + 1) % 3][k] + t[(i + 2) % 3][k]);
    for (int i = 0; i < 3; i++) {
        double part[3][2] = {{t[i][0], t[i][1]},
                             {m[(i + 2) % 3][0], m[(i + 2) % 3][1]},
                             {m[(i + 1) % 3][0], m[(i + 1) % 3][1]}};
        integrate(g, (const double(*)[2])part, share / 4, depth + 1);
    }
    integrate(g, (const double(*)[2])m, share / 4, depth + 1);
}

/* A triangle is taken whole: its halvings then follow those of subdivision, across which an extraordinary
 * Loop patch is not smooth.  Other polygons are cut from their centre. */
static void integrate_patch(integrator *g) {
    double center[2] = {0, 0};
    if (g->p->sides == 3) {
        double t[3][2];
        for (int i = 0; i < 3; i++) memcpy(t[i], surface_corner(g->s, g->p->first + i), sizeof t[i]);
        integrate(g, (const double(*)[2])t, 1, 0);
        return;
    }
    for (int i = 0; i < g->p->sides; i++)
        for (int k = 0; k < 2; k++) center[k] += surface_corner(g->s, g->p->first + i)[k] / g->p->sides;
    for (int i = 0; i < g->p->sides; i++) {
        double t[3][2];
        memcpy(t[0], center, sizeof center);
        memcpy(t[1], surface_corner(g->s, g->p->first + i), sizeof t[1]);
        memcpy(t[2], surface_corner(g->s, g->p->first + (i + 1) % g->p->sides), sizeof t[2]);
        integrate(g, (const double(*)[2])t, 1.0 / g->p->sides, 0);
    }
}

/* About the centre, for unit density: xx = integral of y^2 + z^2, xy = -integral of x y. */
static void finish(const integrator *g, abut_surface_measures *m) {
    const double *f = g->total.of;
    vec3 first = {f[2], f[3], f[4]}, c = vec3_scale(first, 1 / f[1]);
    double xx = f[5] - f[1] * c.x * c.x, yy = f[6] - f[1] * c.y * c.y, zz = f[7] - f[1] * c.z * c.z;
    m->area = f[0], m->volume = f[1], m->center = vec3_add(c, g->origin);
    double inertia[6] = {yy + zz,
                         xx + zz,
                         xx + yy,
                         f[1] * c.x * c.y - f[8],
                         f[1] * c.x * c.z - f[9],
                         f[1] * c.y * c.z - f[10]};
    memcpy(m->inertia, inertia, sizeof inertia);
    m->volume_error = g->error[1], m->evaluations = g->evaluations;
}

abut_status abut_surface_measure(const abut_surface *s, double tolerance, abut_surface_measures *measures,
                                 abut_error *error) {
    if (!s->closed)
        return fail(error, ABUT_INVALID,
                    "the surface is open, so it has no volume; close it, or give mass, centre and inertia");
    if (!(tolerance > 0))
        return fail(error, ABUT_INVALID, "the tolerance is %g; it must be positive", tolerance);
    box bounds = box_empty();
    for (int p = 0; p < s->patch_count; p++) bounds = box_union(bounds, patch_box(s, p));
    integrator g = {.s = s, .origin = box_center(bounds), .budget = 2000000 + 4096 * (int64_t)s->patch_count};
    double size = 0.5 * box_diagonal(bounds), scale = tolerance / s->patch_count;
    for (int k = 0; k < INTEGRALS; k++) {
        double power = k == 0 ? size * size : k == 1 ? size * size * size : size * size * size * size;
        g.tolerance[k] = scale * power * (k >= 5 ? size : 1);
    }
    g.small = g.tolerance[0];
    for (int p = 0; p < s->patch_count; p++) {
        g.p = surface_patch(s, p);
        integrate_patch(&g);
    }
    *measures = (abut_surface_measures){0};
    if (!(g.total.of[1] > 0))
        return fail(
            error, ABUT_INVALID,
            "the volume is %g; the outside is where c_u x c_v points, turn the patches or faces round",
            g.total.of[1]);
    finish(&g, measures);
    if (g.evaluations > g.budget)
        return fail(error, ABUT_BUDGET,
                    "the tolerance %g is not reached in %lld evaluations; the estimate is %g, ask for less",
                    tolerance, (long long)g.evaluations, measures->volume_error);
    return ABUT_OK;
}
