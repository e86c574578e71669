/* Area, volume, centre of mass and inertia of a smooth surface, by the divergence theorem.
 *
 *   volume   = 1/3 integral of c . N,           N = c_u x c_v du dv
 *   first    = integral of x^2/2 N_x, ...       second = integral of x^3/3 N_x, x^2 y/2 N_x, ...
 *
 * Each domain polygon is a triangle, or cut into triangles from its centre; a triangle is integrated by
 * Gauss's rules of 6 x 6 and 8 x 8 points (collapsed at a corner), where they disagree of 16 x 16, and where
 * that is not enough split in four.  How much the finer of two rules is off: where a patch is analytic,
 * errors fall like r^(-2n) with the number n of points, so that for a scale S the finer one of n' points is
 * off by S (d / S)^(n'/n) where they differ by d; around an extraordinary vertex by d, to be safe.  All is
 * summed about the middle of the box, so that a body far from the origin keeps its digits. */
#include "surface/surface.h"

/* area, volume, x y z, xx yy zz xy xz yz */
enum { INTEGRALS = 11, FINEST = 16, DEEPEST = 14 };
typedef struct integrals {
    double of[INTEGRALS];
} integrals;

/* Gauss's points and weights on [0, 1] */
typedef struct gauss_rule {
    int count;
    double x[FINEST], w[FINEST];
} gauss_rule;
static const gauss_rule rules[3] = {
    {6,
     {0.03376524289842399, 0.16939530676686774, 0.38069040695840154, 0.61930959304159846, 0.83060469323313226,
      0.96623475710157601},
     {0.08566224618958517, 0.18038078652406930, 0.23395696728634552, 0.23395696728634552, 0.18038078652406930,
      0.08566224618958517}},
    {8,
     {0.01985507175123188, 0.10166676129318664, 0.23723379504183550, 0.40828267875217510, 0.59171732124782490,
      0.76276620495816450, 0.89833323870681336, 0.98014492824876812},
     {0.05061426814518813, 0.11119051722668724, 0.15685332293894364, 0.18134189168918099, 0.18134189168918099,
      0.15685332293894364, 0.11119051722668724, 0.05061426814518813}},
    {FINEST,
     {0.0052995325041750337, 0.027712488463383712, 0.067184398806084128, 0.12229779582249848,
      0.19106187779867813, 0.27099161117138631, 0.35919822461037054, 0.45249374508118128, 0.54750625491881872,
      0.64080177538962946, 0.72900838882861369, 0.80893812220132187, 0.87770220417750152, 0.93281560119391587,
      0.97228751153661629, 0.99470046749582497},
     {0.013576229705877047, 0.031126761969323946, 0.047579255841246392, 0.062314485627766936,
      0.074797994408288366, 0.084578259697501269, 0.091301707522461794, 0.094725305227534248,
      0.094725305227534248, 0.091301707522461794, 0.084578259697501269, 0.074797994408288366,
      0.062314485627766936, 0.047579255841246392, 0.031126761969323946, 0.013576229705877047}},
};

typedef struct integrator {
    const abut_surface *s;
    const patch *p;
    vec3 origin;
    double tolerance[INTEGRALS]; /* for the whole surface */
    double small;                /* the tolerance for the area */
    double share;                /* of the patch */
    int64_t evaluations;
    int64_t last, last_for_area; /* how many there may have been when the patch ends */
    int over;                    /* a patch that came to its last, or -1 */
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
static integrals integral(integrator *g, const double (*corner)[2], const gauss_rule *rule) {
    const double *a = corner[0], *b = corner[1], *c = corner[2];
    integrals sum = {{0}};
    double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    for (int i = 0; i < rule->count; i++)
        for (int j = 0; j < rule->count; j++) {
            double s = rule->x[i], t = rule->x[j];
            partials at;
            patch_evaluate(g->s, g->p, a[0] + s * (b[0] - a[0] + t * (c[0] - b[0])),
                           a[1] + s * (b[1] - a[1] + t * (c[1] - b[1])), 1, &at);
            add_point(&at, g->origin, twice * s * rule->w[i] * rule->w[j], &sum);
        }
    g->evaluations += rule->count * rule->count;
    return sum;
}

/* True when two rules agree so well that the finer one is as good as its share asks for.  With S = area *
 * size^k and e = tolerance * size^(k + 2) their ratio is the same for all integrals. */
static bool agree(const integrator *g, const integrals *rough, const integrals *fine, double share,
                  double gain) {
    for (int k = g->evaluations > g->last_for_area ? 1 : 0; k < INTEGRALS; k++)
        if (!(fabs(fine->of[k] - rough->of[k]) <= gain * share * g->tolerance[k])) return false;
    return true;
}

static void accept(integrator *g, const integrals *rough, const integrals *fine, double gain) {
    for (int k = 0; k < INTEGRALS; k++) {
        g->total.of[k] += fine->of[k];
        g->error[k] += fabs(fine->of[k] - rough->of[k]) / gain;
    }
}

/* A triangle with its share of the tolerance. */
static void integrate(integrator *g, const double (*t)[2], double share, int depth) {
    bool analytic = g->p->kind != ABUT_PATCH_STAM && g->p->kind != ABUT_PATCH_SPLIT;
    integrals rough = integral(g, t, &rules[0]), fine = integral(g, t, &rules[1]);
    /* S (d / S)^(8/6) <= e where d <= e (S / e)^(1/4); S (d / S)^(16/8) <= e where d <= e (S / e)^(1/2) */
    double half = analytic ? fmax(sqrt(fine.of[0] / (share * g->small)), 1) : 1, quarter = sqrt(half);
    if (agree(g, &rough, &fine, share, quarter)) {
        accept(g, &rough, &fine, quarter);
        return;
    }
    if (analytic) {
        rough = fine, fine = integral(g, t, &rules[2]);
        if (agree(g, &rough, &fine, share, half)) {
            accept(g, &rough, &fine, half);
            return;
        }
    }
    if (depth == DEEPEST || g->evaluations > g->last) {
        accept(g, &rough, &fine, 1);
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
        integrate(g, (const double(*)[2])t, g->share, 0);
        return;
    }
    for (int i = 0; i < g->p->sides; i++)
        for (int k = 0; k < 2; k++) center[k] += surface_corner(g->s, g->p->first + i)[k] / g->p->sides;
    for (int i = 0; i < g->p->sides; i++) {
        double t[3][2];
        memcpy(t[0], center, sizeof center);
        memcpy(t[1], surface_corner(g->s, g->p->first + i), sizeof t[1]);
        memcpy(t[2], surface_corner(g->s, g->p->first + (i + 1) % g->p->sides), sizeof t[2]);
        integrate(g, (const double(*)[2])t, g->share / g->p->sides, 0);
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

/* How much of the tolerance a patch asks for: as its area, and little where the rules are exact or nearly so
 * (the integrands of a polynomial patch are polynomials of degree 18 at most): that is left to the others. */
static double claim(const abut_surface *s, int p) {
    int32_t kind = surface_patch(s, p)->kind;
    double size = box_diagonal(patch_box(s, p));
    return size * size * (kind == ABUT_PATCH_LOOP || kind == ABUT_PATCH_BEZIER ? 1.0 / 64 : 1);
}

/* How many triangles a patch is cut into at first. */
static int sectors(const patch *p) { return p->sides == 3 ? 1 : p->sides; }

/* Where a patch folds, its area has a kink, and no number of evaluations is enough: after this many (on
 * S-patches, which are slow, fewer) only what is smooth is looked at. */
static int64_t most_for_area(const patch *p) {
    return p->kind == ABUT_PATCH_S_PATCH ? 1000 * sectors(p) : 20000 * sectors(p);
}
/* The others converge on any patch; around an extraordinary vertex by one level after the other, at four
 * triangles each, of which 400 are plenty. */
static int64_t most_evaluations(const patch *p) { return 40000 * sectors(p); }

abut_status abut_surface_measure(const abut_surface *s, double tolerance, abut_surface_measures *measures,
                                 abut_error *error) {
    if (!s->closed)
        return fail(error, ABUT_INVALID,
                    "the surface is open, so it has no volume; close it, or give mass, centre and inertia");
    if (!(tolerance > 0))
        return fail(error, ABUT_INVALID, "the tolerance is %g; it must be positive", tolerance);
    box bounds = box_empty();
    double claims = 0;
    for (int p = 0; p < s->patch_count; p++)
        bounds = box_union(bounds, patch_box(s, p)), claims += claim(s, p);
    integrator g = {.s = s, .origin = box_center(bounds)};
    double size = 0.5 * box_diagonal(bounds);
    for (int k = 0; k < INTEGRALS; k++) {
        double power = k == 0 ? size * size : k == 1 ? size * size * size : size * size * size * size;
        g.tolerance[k] = tolerance * power * (k >= 5 ? size : 1);
    }
    g.small = g.tolerance[0];
    *measures = (abut_surface_measures){0};
    for (int p = 0; p < s->patch_count; p++) {
        g.p = surface_patch(s, p), g.share = claim(s, p) / claims;
        g.last = g.evaluations + most_evaluations(g.p);
        g.last_for_area = g.evaluations + most_for_area(g.p);
        integrate_patch(&g);
        if (g.evaluations > g.last)
            return fail(error, ABUT_BUDGET,
                        "the tolerance %g is not reached in %lld evaluations on patch %d; refine or "
                        "smooth the surface there, or ask for less",
                        tolerance, (long long)most_evaluations(g.p), p);
    }
    if (!(g.total.of[1] > 0))
        return fail(
            error, ABUT_INVALID,
            "the volume is %g; the outside is where c_u x c_v points, turn the patches or faces round",
            g.total.of[1]);
    finish(&g, measures);
    return ABUT_OK;
}
