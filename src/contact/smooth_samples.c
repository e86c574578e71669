/* A smooth surface as a shape: boxes, cells (smooth_cells.c), and samples on every patch.
 *
 * The search for places against planes, points and lines starts from samples all over the domain of a patch;
 * the cone around their normals tells which patches can have none. */
#include "contact/smooth.h"

enum { GRID = 6, FAN = 4, MOST_SAMPLES = ABUT_SIDES_MOST * FAN * FAN + 64 };

typedef struct sampler {
    double at[MOST_SAMPLES][2];
    double spacing;
    int count;
} sampler;

static void add_sample(sampler *s, double u, double v) {
    if (s->count < MOST_SAMPLES) s->at[s->count][0] = u, s->at[s->count++][1] = v;
}

/* The triangle a b c with n parts a side; without its side b c, which the next triangle of a fan has. */
static void add_triangle(sampler *s, const double *a, const double *b, const double *c, int n, bool whole) {
    for (int i = 0; i <= n; i++)
        for (int j = 0; i + j <= n; j++) {
            if (!whole && (i == n || j == 0)) continue;
            double x = (double)i / n, y = (double)j / n;
            add_sample(s, a[0] + x * (b[0] - a[0]) + y * (c[0] - a[0]),
                       a[1] + x * (b[1] - a[1]) + y * (c[1] - a[1]));
        }
}

static double apart(const double *a, const double *b) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
}

/* Points all over the domain: a grid for three and four sides, a fan around the middle for more. */
static void sample_domain(const abut_surface *surface, int patch, sampler *s) {
    double c[ABUT_SIDES_MOST][2], middle[2] = {0, 0};
    int sides = abut_surface_domain(surface, patch, c);
    s->count = 0, s->spacing = 0;
    for (int i = 0; i < sides; i++) s->spacing = fmax(s->spacing, apart(c[i], c[(i + 1) % sides]));
    s->spacing *= sides > 4 ? 1.3 / FAN : sides == 4 ? 1.5 / GRID : 1.05 / GRID;
    if (sides == 3) {
        add_triangle(s, c[0], c[1], c[2], GRID, true);
    } else if (sides == 4) {
        for (int i = 0; i <= GRID; i++)
            for (int j = 0; j <= GRID; j++) {
                double x = (double)i / GRID, y = (double)j / GRID, a = (1 - x) * (1 - y), b = x * (1 - y);
                double d = x * y, e = (1 - x) * y;
                add_sample(s, a * c[0][0] + b * c[1][0] + d * c[2][0] + e * c[3][0],
                           a * c[0][1] + b * c[1][1] + d * c[2][1] + e * c[3][1]);
            }
    } else {
        for (int i = 0; i < sides; i++) middle[0] += c[i][0] / sides, middle[1] += c[i][1] / sides;
        add_sample(s, middle[0], middle[1]);
        for (int i = 0; i < sides; i++) add_triangle(s, middle, c[i], c[(i + 1) % sides], FAN, false);
    }
}

/* The edges of the domain that a sample lies on: two at a corner. */
static void find_edges(const abut_surface *surface, int patch, smooth_sample *s) {
    double c[ABUT_SIDES_MOST][2];
    int sides = abut_surface_domain(surface, patch, c), count = 0;
    for (int i = 0; i < sides && count < 2; i++) {
        const double *a = c[i], *b = c[(i + 1) % sides];
        double cross = (b[0] - a[0]) * (s->v - a[1]) - (b[1] - a[1]) * (s->u - a[0]);
        if (fabs(cross) < 1e-9) s->edge[count++] = i;
    }
}

/* -H -+ sqrt(H^2 - K) of the fundamental forms with the normal c_u x c_v, so that they are positive where the
 * surface is convex. */
void smooth_curvatures(const abut_partials *p, double curvature[2]) {
    vec3 n = vec3_cross(p->u, p->v);
    double area2 = vec3_length2(n), area = sqrt(area2);
    double uu = vec3_dot(n, p->uu), uv = vec3_dot(n, p->uv), vv = vec3_dot(n, p->vv);
    double h = (uu * vec3_length2(p->v) - 2 * uv * vec3_dot(p->u, p->v) + vv * vec3_length2(p->u)) /
               (2 * area2 * area);
    double k = (uu * vv - uv * uv) / (area2 * area2), half = sqrt(fmax(h * h - k, 0));
    bool fine = isfinite(h) && isfinite(half);
    curvature[0] = fine ? -h - half : -INFINITY, curvature[1] = fine ? -h + half : INFINITY;
}

double smooth_least_curvature(const contact_shape *s) {
    if (s->smooth) return s->smooth->least_curvature;
    if (s->shape.kind == ABUT_SHAPE_CAVITY) return -1 / s->shape.radius;
    return s->shape.kind == ABUT_SHAPE_SPHERE ? 1 / s->shape.radius : 0;
}

/* ---- bounds */

/* The cone around the normals of the samples, wider by a third (in 1 - cosine) and by a few degrees for what
 * lies between them; a patch that turns by more than a right angle from its middle has any normal. */
static void put_cone(smooth_bounds *b, const vec3 *normals, int count) {
    vec3 sum = vec3_zero();
    for (int i = 0; i < count; i++) sum = vec3_add(sum, normals[i]);
    b->axis = vec3_unit(sum), b->cosine = 1;
    for (int i = 0; i < count; i++) b->cosine = fmin(b->cosine, vec3_dot(b->axis, normals[i]));
    b->flat = b->cosine > 1 - 5e-15; /* to 1e-7 rad */
    b->cosine = 1 - 4.0 / 3 * (1 - b->cosine) - 0.002;
    if (!(b->cosine > 0)) b->cosine = -1;
    b->sine = sqrt(fmax(1 - b->cosine * b->cosine, 0));
}

/* How far the samples are apart, and how far the surface can be from planes through three of them: h^2 / 6
 * times the second derivative, for triangles with sides of up to h; taken half as large again, as that is
 * known at the samples only. */
static void put_pitch(smooth_bounds *b, const smooth_sample *s, int count, double second) {
    double most = 0, near = b->spacing * b->spacing;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++) {
            double u = s[i].u - s[k].u, v = s[i].v - s[k].v;
            if (u * u + v * v <= near) most = fmax(most, vec3_distance(s[i].at, s[k].at));
        }
    b->bulge = 0.25 * near * second;
    b->pitch = 0.6 * most + b->bulge; /* 1/sqrt(3): the middle of a triangle */
}

/* Samples of a patch, and what is around them. */
static void sample_patch(contact_shape *shape, int patch) {
    smooth_samples *all = shape->smooth;
    smooth_sample *samples = all->samples + all->first[patch];
    smooth_bounds *b = &all->bounds[patch];
    vec3 normals[MOST_SAMPLES];
    sampler s;
    sample_domain(shape->atlas, patch, &s);
    double second = 0;
    b->least_curvature = INFINITY;
    for (int k = 0; k < s.count; k++) {
        abut_partials p;
        bool regular = abut_surface_evaluate(shape->atlas, patch, s.at[k][0], s.at[k][1], 2, &p);
        double curvature[2] = {-INFINITY, INFINITY};
        if (regular) smooth_curvatures(&p, curvature);
        b->least_curvature = fmin(b->least_curvature, curvature[0]);
        if (regular) second = fmax(second, fmax(vec3_length(p.uu), vec3_length(p.vv)) + vec3_length(p.uv));
        normals[k] = vec3_unit(vec3_cross(p.u, p.v));
        samples[k] = (smooth_sample){vec3_sub(p.c, shape->center), s.at[k][0], s.at[k][1], {-1, -1}};
        find_edges(shape->atlas, patch, &samples[k]);
    }
    b->spacing = s.spacing;
    put_pitch(b, samples, s.count, second);
    put_cone(b, normals, s.count);
}

/* The least curvature of the surface; then that of every patch becomes the least of the patches around it,
 * over two edges: a place that was born there may have come over. */
static abut_status spread_curvature(const abut_context *context, contact_shape *shape, abut_error *error) {
    smooth_samples *all = shape->smooth;
    size_t patches = (size_t)all->patch_count;
    double *least = mem_alloc(context, patches, sizeof *least);
    if (!least) return fail_memory(error);
    all->least_curvature = INFINITY;
    for (int i = 0; i < all->patch_count; i++)
        all->least_curvature = fmin(all->least_curvature, all->bounds[i].least_curvature);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < all->patch_count; i++) {
            least[i] = all->bounds[i].least_curvature;
            int sides = abut_surface_patch_facts(shape->atlas, i).sides, patch, edge;
            for (int k = 0; k < sides; k++)
                if (abut_surface_neighbour(shape->atlas, i, k, &patch, &edge))
                    least[i] = fmin(least[i], all->bounds[patch].least_curvature);
        }
        for (int i = 0; i < all->patch_count; i++) all->bounds[i].least_curvature = least[i];
    }
    mem_free(context, least, patches, sizeof *least);
    return ABUT_OK;
}

static abut_status sample_patches(const abut_context *context, contact_shape *shape, abut_error *error) {
    int patches = abut_surface_patch_count(shape->atlas), total = 0;
    sampler s;
    smooth_samples *all = mem_calloc(context, 1, sizeof *all);
    if (!all) return fail_memory(error);
    shape->smooth = all;
    all->patch_count = patches;
    all->first = mem_calloc(context, (size_t)patches + 1, sizeof *all->first);
    all->bounds = mem_calloc(context, (size_t)patches, sizeof *all->bounds);
    if (!all->first || !all->bounds) return fail_memory(error);
    for (int i = 0; i < patches; i++) {
        sample_domain(shape->atlas, i, &s);
        all->first[i] = total;
        total += s.count;
    }
    all->samples = mem_calloc(context, (size_t)total, sizeof *all->samples);
    if (!all->samples) return fail_memory(error);
    all->first[patches] = total;
    for (int i = 0; i < patches; i++) sample_patch(shape, i);
    return spread_curvature(context, shape, error);
}

void smooth_shape_free(const abut_context *context, contact_shape *shape) {
    smooth_samples *all = shape->smooth;
    if (!all) return;
    if (all->samples)
        mem_free(context, all->samples, (size_t)all->first[all->patch_count], sizeof *all->samples);
    if (all->bounds) mem_free(context, all->bounds, (size_t)all->patch_count, sizeof *all->bounds);
    array_free(context, &all->cells);
    if (all->first) mem_free(context, all->first, (size_t)all->patch_count + 1, sizeof *all->first);
    mem_free(context, all, 1, sizeof *all);
    shape->smooth = NULL;
    if (shape->shape.kind != ABUT_SHAPE_SURFACE)
        abut_surface_free(context, (abut_surface *)(uintptr_t)shape->atlas);
    shape->atlas = NULL;
}

/* Boxes, samples and bounds from the atlas of a shape. */
static abut_status make(const abut_context *context, contact_shape *s, abut_error *error) {
    const abut_surface *surface = s->atlas;
    int patches = abut_surface_patch_count(surface);
    box *boxes = mem_alloc(context, (size_t)patches, sizeof *boxes);
    if (!boxes) return fail_memory(error);
    for (int i = 0; i < patches; i++) {
        abut_box b = abut_surface_box(surface, i);
        boxes[i] = (box){vec3_sub(b.lower, s->center), vec3_sub(b.upper, s->center)};
        vec3 reach = vec3_max(vec3_abs(boxes[i].lower), vec3_abs(boxes[i].upper));
        s->radius = fmax(s->radius, vec3_length(reach));
    }
    bool fine = box_tree_build(context, boxes, patches, &s->faces);
    mem_free(context, boxes, (size_t)patches, sizeof *boxes);
    return fine ? sample_patches(context, s, error) : fail_memory(error);
}

abut_status smooth_shape_make(const abut_context *context, contact_shape *s, abut_error *error) {
    s->atlas = s->shape.surface;
    abut_status status = make(context, s, error);
    if (status == ABUT_OK)
        s->bounds = s->faces.nodes[0].bounds;
    else
        contact_shape_free(context, s);
    return status;
}

abut_status smooth_shape_add(const abut_context *context, contact_shape *s, abut_error *error) {
    if (s->smooth) return smooth_cells_make(context, s) ? ABUT_OK : fail_memory(error);
    if (s->shape.kind != ABUT_SHAPE_ELLIPSOID) return ABUT_OK;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{s->shape.axes.x, 0, 0}, {0, s->shape.axes.y, 0}, {0, 0, s->shape.axes.z}};
    abut_surface *surface = NULL;
    abut_status status = abut_surface_quadric(context, &q, &surface, error);
    s->atlas = surface;
    double radius = s->radius;
    if (status == ABUT_OK) status = make(context, s, error);
    s->radius = radius;
    if (status == ABUT_OK && !smooth_cells_make(context, s)) status = fail_memory(error);
    if (status != ABUT_OK && !s->smooth) {
        abut_surface_free(context, surface);
        s->atlas = NULL;
    }
    return status;
}
