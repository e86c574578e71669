/* Questions to a surface: its patches, and a point with its partial derivatives. */
#include "surface/surface.h"

const char *abut_patch_kind_name(abut_patch_kind kind) {
    static const char *const names[] = {
#define NAME(name, word) word,
        ABUT_PATCH_LIST(NAME)
#undef NAME
    };
    return (unsigned)kind < (unsigned)COUNT_OF(names) ? names[kind] : "unknown";
}

void abut_surface_free(const abut_context *context, abut_surface *surface) {
    if (surface) mem_free(context, surface, 1, surface->size);
}

int abut_surface_patch_count(const abut_surface *surface) { return surface->patch_count; }
uint64_t abut_surface_hash(const abut_surface *surface) { return surface->hash; }
bool abut_surface_is_closed(const abut_surface *surface) { return surface->closed; }

abut_patch_facts abut_surface_patch_facts(const abut_surface *surface, int index) {
    const patch *p = surface_patch(surface, index);
    double area = 0;
    for (int i = 0; i < p->sides; i++) {
        const double *a = surface_corner(surface, p->first + i),
                     *b = surface_corner(surface, p->first + (i + 1) % p->sides);
        area += 0.5 * (a[0] * b[1] - a[1] * b[0]);
    }
    return (abut_patch_facts){.kind = (abut_patch_kind)p->kind,
                              .sides = p->sides,
                              .valence = p->valence,
                              .face = p->face,
                              .area_of_domain = area,
                              .deviation = p->deviation,
                              .normal_jump = p->normal_jump,
                              .least_area = p->least_area};
}

int abut_surface_domain(const abut_surface *surface, int index, double corners[][2]) {
    const patch *p = surface_patch(surface, index);
    memcpy(corners, surface_corner(surface, p->first), (size_t)p->sides * 2 * sizeof(double));
    return p->sides;
}

bool abut_surface_neighbour(const abut_surface *surface, int index, int edge, int *other_patch,
                            int *other_edge) {
    const edge_link *link = surface_edge(surface, surface_patch(surface, index)->first + edge);
    *other_patch = link->patch, *other_edge = link->edge;
    return link->patch >= 0;
}

/* A triangle split in four: the child that holds (u, v), as the subdivision makes them; each derivative
 * doubles, and changes sign in the middle child, which is turned by half a turn. */
static bool split_evaluate(const abut_surface *s, const patch *p, double u, double v, int order,
                           partials *out) {
    double b[3] = {2 * (1 - u - v), 2 * u, 2 * v};
    int child = b[0] >= 1 ? 0 : b[1] > 1 ? 1 : b[2] > 1 ? 2 : 3;
    for (int i = 0; i < 3; i++) b[i] = child == 3 ? 1 - b[i] : b[i];
    if (child < 3) b[child] -= 1;
    bool regular = patch_evaluate(s, surface_patch(s, p->part + child), b[1], b[2], order, out);
    double f[3] = {child == 3 ? -2 : 2, 4, child == 3 ? -8 : 8};
    vec3 *by = (vec3 *)out;
    for (int i = 1; i < 10; i++) by[i] = vec3_scale(by[i], f[i < 3 ? 0 : i < 6 ? 1 : 2]);
    return regular;
}

bool patch_evaluate(const abut_surface *s, const patch *p, double u, double v, int order, partials *out) {
    const double *data = surface_numbers(s, p->data);
    switch ((abut_patch_kind)p->kind) {
    case ABUT_PATCH_BEZIER: bezier_evaluate(data, u, v, order, out); return true;
    case ABUT_PATCH_RATIONAL: rational_evaluate(data, u, v, order, out); return true;
    case ABUT_PATCH_LOOP: triangle_evaluate(data, u, v, order, out); return true;
    case ABUT_PATCH_STAM: return stam_evaluate(data, p->valence, p->part, u, v, order, out);
    case ABUT_PATCH_SPLIT: return split_evaluate(s, p, u, v, order, out);
    case ABUT_PATCH_S_PATCH: s_patch_evaluate(data, p->sides, u, v, order, out); return true;
    default: quadric_evaluate(data, (abut_patch_kind)p->kind, p->part, u, v, order, out); return true;
    }
}

bool abut_surface_evaluate(const abut_surface *surface, int index, double u, double v, int order,
                           abut_partials *out) {
    return patch_evaluate(surface, surface_patch(surface, index), u, v, order, out);
}

abut_vec3 abut_partials_normal(const abut_partials *p) { return vec3_unit(vec3_cross(p->u, p->v)); }
