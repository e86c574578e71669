/* Creating colliders, their bounds, and the table of pairs. */
#include "contact/collider_parts.h"

/* ---- creation */

static abut_convex convex_of(const abut_shape *s) {
    switch (s->kind) {
    case ABUT_SHAPE_SPHERE: return abut_convex_sphere(s->radius);
    case ABUT_SHAPE_CAPSULE: return abut_convex_capsule(s->radius, s->length);
    case ABUT_SHAPE_CYLINDER: return abut_convex_cylinder(s->radius, s->length);
    case ABUT_SHAPE_ELLIPSOID: return abut_convex_ellipsoid(s->axes.x, s->axes.y, s->axes.z);
    default: return (abut_convex){.kind = ABUT_CONVEX_NONE};
    }
}

static abut_status create_solid(const abut_context *context, const abut_shape *shape, collider *c,
                                abut_error *error) {
    if (!shape->solid) return fail(error, ABUT_INVALID, "collider: the shape has no solid");
    abut_status status = abut_hull_of_solid(context, shape->solid, &c->hull, error);
    if (status != ABUT_OK) return status;
    abut_solid_facts facts = abut_solid_facts_of(shape->solid);
    status = boundary_create(context, shape->solid, &c->boundary, error);
    if (status != ABUT_OK) return status;
    c->kind = facts.convex ? COLLIDER_CONVEX : COLLIDER_BOUNDARY;
    if (!facts.convex) status = collider_cells_create(context, &c->boundary, &c->cells, error);
    if (status != ABUT_OK) return status;
    c->convex.convex = abut_convex_hull(c->hull);
    /* the radius of a ball has V / A = r / 3 */
    c->bounds = facts.bounds, c->convex.core = c->core = 3 * facts.volume / facts.area;
    if (manifold_shape_fits(&c->convex)) return ABUT_OK;
    return fail(error, ABUT_INVALID,
                "collider: a face of the solid's hull has %d corners; the live clock takes at most %d",
                shape_most_corners(&c->convex.convex), MANIFOLD_ROOM / 2 - 1);
}

static abut_status create_round(const abut_shape *shape, collider *c, abut_error *error) {
    abut_status status = shape_check(&c->convex.convex, abut_shape_name(shape->kind), error);
    if (status != ABUT_OK) return status;
    double r = shape->radius, half = shape->length / 2;
    vec3 e = {r, r,
              shape->kind == ABUT_SHAPE_SPHERE    ? r
              : shape->kind == ABUT_SHAPE_CAPSULE ? half + r
                                                  : half};
    c->core = shape->kind == ABUT_SHAPE_CYLINDER && half < r ? half : r;
    if (shape->kind == ABUT_SHAPE_ELLIPSOID)
        e = shape->axes, c->core = e.x < e.y ? e.x : e.y, c->core = c->core < e.z ? c->core : e.z;
    c->kind = COLLIDER_CONVEX, c->bounds = (box){vec3_neg(e), e}, c->convex.core = c->core;
    return ABUT_OK;
}

static abut_status fill(const abut_context *context, const abut_shape *shape, collider *c,
                        abut_error *error) {
    c->shape = *shape, c->convex.convex = convex_of(shape), c->core = INFINITY;
    const vec3 all = {INFINITY, INFINITY, INFINITY};
    c->bounds = (box){vec3_neg(all), all};
    switch (shape->kind) {
    case ABUT_SHAPE_NONE: c->bounds = (box){{0, 0, 0}, {0, 0, 0}}; return ABUT_OK;
    case ABUT_SHAPE_SOLID: return create_solid(context, shape, c, error);
    case ABUT_SHAPE_HALFSPACE:
        c->kind = COLLIDER_HALFSPACE;
        c->convex = (manifold_shape){.is_halfspace = true, .normal = shape->normal, .offset = shape->offset};
        if (vec3_length2(shape->normal) > 0 && vec3_is_finite(shape->normal) && isfinite(shape->offset))
            return ABUT_OK;
        return fail(error, ABUT_INVALID, "collider: a half-space needs a normal and a finite offset");
    case ABUT_SHAPE_CAVITY:
        c->kind = COLLIDER_CAVITY;
        if (shape->radius > 0 && isfinite(shape->radius)) return ABUT_OK;
        return fail(error, ABUT_INVALID, "collider: the radius of a cavity must be positive and finite");
    case ABUT_SHAPE_SURFACE: return collider_surface_create(context, c, error);
    default: return create_round(shape, c, error);
    }
}

abut_status collider_create(const abut_context *context, const abut_shape *shape, collider **out,
                            abut_error *error) {
    collider *c = mem_calloc(context, 1, sizeof *c);
    if (!c) return fail_memory(error);
    abut_status status = fill(context, shape, c, error);
    if (status != ABUT_OK) {
        collider_free(context, c);
        return status;
    }
    *out = c;
    return ABUT_OK;
}

void collider_free(const abut_context *context, collider *c) {
    if (!c) return;
    collider_cells_free(context, &c->cells);
    boundary_free(context, &c->boundary);
    abut_surface_tree_free(context, c->tree);
    if (c->gathered) return;
    abut_hull_free(context, c->hull);
    mem_free(context, c, 1, sizeof *c);
}

/* ---- side by side */

enum { LINE = 64 };
static size_t whole_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

bool collider_gather(const abut_context *context, collider **all, int count, collider_block *out) {
    size_t bytes = LINE;
    for (int i = 0; i < count; i++)
        bytes += whole_lines(sizeof **all) + (all[i]->hull ? whole_lines((size_t)all[i]->hull->bytes) : 0);
    char *block = mem_alloc(context, bytes, 1);
    if (!block) return false;
    *out = (collider_block){block, bytes};
    char *at = block + (LINE - (uintptr_t)block % LINE);
    for (int i = 0; i < count; i++) {
        collider *from = all[i], *to = (collider *)(void *)at;
        *to = *from, to->gathered = true;
        at += whole_lines(sizeof *to);
        if (from->hull) {
            to->hull = memcpy(at, from->hull, (size_t)from->hull->bytes);
            to->convex.convex.hull = to->hull;
            at += whole_lines((size_t)from->hull->bytes);
            abut_hull_free(context, from->hull);
        }
        mem_free(context, from, 1, sizeof *from);
        all[i] = to;
    }
    return true;
}

void collider_block_free(const abut_context *context, collider_block *b) {
    mem_free(context, b->data, b->bytes, 1);
    *b = (collider_block){NULL, 0};
}

/* ---- bounds */

bool collider_is_bounded(const collider *c) {
    return c->kind != COLLIDER_HALFSPACE && c->kind != COLLIDER_CAVITY;
}

/* Half extents along the world's axes: of a box |R| e, of an ellipsoid sqrt(sum (R_ij a_j)^2), of a cylinder
 * its axis and its disc. */
static vec3 extents(const collider *c, mat3 m, vec3 e) {
    double r = c->shape.radius, half = c->shape.length / 2;
    vec3 z = m.cz;
    switch (c->shape.kind) {
    case ABUT_SHAPE_SPHERE: return e;
    case ABUT_SHAPE_CAPSULE: return vec3_axpy(vec3_make(r, r, r), half, vec3_abs(z));
    case ABUT_SHAPE_CYLINDER:
        return vec3_make(half * fabs(z.x) + r * sqrt(fmax(0, 1 - z.x * z.x)),
                         half * fabs(z.y) + r * sqrt(fmax(0, 1 - z.y * z.y)),
                         half * fabs(z.z) + r * sqrt(fmax(0, 1 - z.z * z.z)));
    case ABUT_SHAPE_ELLIPSOID: {
        vec3 x = vec3_scale(m.cx, e.x), y = vec3_scale(m.cy, e.y);
        z = vec3_scale(m.cz, e.z);
        return vec3_make(sqrt(x.x * x.x + y.x * y.x + z.x * z.x), sqrt(x.y * x.y + y.y * y.y + z.y * z.y),
                         sqrt(x.z * x.z + y.z * y.z + z.z * z.z));
    }
    default:
        return vec3_add(vec3_add(vec3_scale(vec3_abs(m.cx), e.x), vec3_scale(vec3_abs(m.cy), e.y)),
                        vec3_scale(vec3_abs(m.cz), e.z));
    }
}

/* A hull of many vertices is not asked one by one: the box around its box serves, and the ball. */
enum { MOST_VERTICES = 64 };

static box hull_bounds(const collider *c, pose p) {
    mat3 r = quat_matrix(p.rotation);
    vec3 center = vec3_add(p.position, mat3_mul_vec(r, c->hull->center));
    box b;
    if (c->hull->vertex_count <= MOST_VERTICES) {
        b = hull_box(c->hull, r);
    } else {
        vec3 half = vec3_scale(vec3_sub(c->bounds.upper, c->bounds.lower), 0.5), e = extents(c, r, half);
        vec3 off = mat3_mul_vec(r, vec3_sub(box_center(c->bounds), c->hull->center));
        double s = c->hull->radius;
        vec3 ball = {s, s, s};
        b = (box){vec3_max(vec3_sub(off, e), vec3_neg(ball)), vec3_min(vec3_add(off, e), ball)};
    }
    return (box){vec3_add(center, b.lower), vec3_add(center, b.upper)};
}

box collider_bounds(const collider *c, pose p) {
    if (!collider_is_bounded(c)) return c->bounds;
    if (c->hull) return hull_bounds(c, p);
    vec3 half = vec3_scale(vec3_sub(c->bounds.upper, c->bounds.lower), 0.5);
    vec3 center = pose_point(p, box_center(c->bounds)), e = extents(c, quat_matrix(p.rotation), half);
    return (box){vec3_sub(center, e), vec3_add(center, e)};
}

void collider_prefetch(const collider *c, collider_stage stage) {
    const abut_hull *h = c->hull;
    if (stage == COLLIDER_ITSELF) {
        __builtin_prefetch(c);
    } else if (h && stage == COLLIDER_HULL) {
        prefetch_lines(h, offsetof(abut_hull, volume));
    } else if (h && h->vertex_count <= MOST_VERTICES) {
        const char *all = (const char *)h;
        if (stage == COLLIDER_VERTICES) prefetch_lines(all + h->x, (size_t)h->padded * 3 * sizeof(double));
        if (stage != COLLIDER_ALL) return;
        prefetch_lines(&c->convex, sizeof c->convex);
        prefetch_lines(all + h->x, h->sources - h->x);
    }
}

double collider_radius(const collider *c, vec3 center) {
    if (c->kind == COLLIDER_NONE) return 0;
    if (!collider_is_bounded(c)) return INFINITY;
    if (c->kind == COLLIDER_SURFACE)
        return vec3_distance(center, box_center(c->bounds)) + box_diagonal(c->bounds) / 2;
    if (!c->hull) return vec3_length(center) + shape_radius(&c->convex.convex);
    vec3 from = vec3_sub(c->hull->center, center);
    double most = 0;
    for (int32_t v = 0; v < c->hull->vertex_count; v++)
        most = fmax(most, vec3_length2(vec3_add(from, hull_vertex(c->hull, v))));
    return sqrt(most);
}

double collider_core(const collider *c) { return c->core; }

bool collider_is_light(const collider *c) {
    enum { FEW_FACES = 64 };
    return c->kind != COLLIDER_SURFACE &&
           (c->kind != COLLIDER_BOUNDARY || c->boundary.solid->face_count <= FEW_FACES);
}

/* ---- collision */

int collider_room(const collider *a, const collider *b) {
    if (a->kind == COLLIDER_NONE || b->kind == COLLIDER_NONE) return 1;
    if (a->kind == COLLIDER_HALFSPACE || b->kind == COLLIDER_HALFSPACE) return 1;
    return a->kind == COLLIDER_CONVEX && b->kind == COLLIDER_CONVEX ? 1 : COLLIDER_ROOM;
}

/* A is a boundary, B bounded. */
static int collide_boundary(const collider *a, pose pa, const collider *b, pose pb,
                            const manifold_config *config, manifold *out, int room) {
    if (b->hull) return boundary_collide(&a->boundary, pa, &b->boundary, pb, config, out, room);
    if (b->shape.kind != ABUT_SHAPE_SPHERE && b->shape.kind != ABUT_SHAPE_CAPSULE)
        return collider_collide_curved(a, pa, b, pb, config, out, room);
    double half = b->shape.kind == ABUT_SHAPE_CAPSULE ? b->shape.length / 2 : 0;
    vec3 e = quat_rotate(pb.rotation, vec3_make(0, 0, half));
    bool deep = false;
    int count = boundary_collide_round(vec3_sub(pb.position, e), vec3_add(pb.position, e), b->shape.radius,
                                       &a->boundary, pa, config, out, room, &deep);
    if (deep) return collider_leave(a, pa, b, pb, config, out, room);
    for (int i = 0; i < count; i++) manifold_turn(&out[i]);
    return count;
}

int collider_collide(const collider *a, pose pa, const collider *b, pose pb, const manifold_config *config,
                     abut_convex_cache *caches, int cache_count, manifold *out, int room) {
    if (a->kind == COLLIDER_NONE || b->kind == COLLIDER_NONE || room < 1) return 0;
    if (!collider_is_bounded(a) && !collider_is_bounded(b)) return 0;
    if (b->kind == COLLIDER_CAVITY) return collider_collide_cavity(a, pa, b, pb, config, out, room);
    if (a->kind == COLLIDER_CAVITY) {
        int count = collider_collide_cavity(b, pb, a, pa, config, out, room);
        for (int i = 0; i < count; i++) manifold_turn(&out[i]);
        return count;
    }
    if (a->kind == COLLIDER_SURFACE) return collider_collide_surface(a, pa, b, pb, config, out, room);
    if (b->kind == COLLIDER_SURFACE) {
        int count = collider_collide_surface(b, pb, a, pa, config, out, room);
        for (int i = 0; i < count; i++) manifold_turn(&out[i]);
        return count;
    }
    bool flat = a->kind == COLLIDER_HALFSPACE || b->kind == COLLIDER_HALFSPACE; /* takes the hull */
    if (a->kind == COLLIDER_BOUNDARY && !flat) return collide_boundary(a, pa, b, pb, config, out, room);
    if (b->kind == COLLIDER_BOUNDARY && !flat) {
        int count = collide_boundary(b, pb, a, pa, config, out, room);
        for (int i = 0; i < count; i++) manifold_turn(&out[i]);
        return count;
    }
    manifold_collide(&a->convex, pa, &b->convex, pb, config, cache_count > 0 ? caches : NULL, out);
    return out->count > 0;
}
