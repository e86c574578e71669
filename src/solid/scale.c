/* Scaling a solid about the origin of its shape.  Lengths go with s, areas with s^2, volumes with s^3,
 * inertia with s^5; topology, normals and genus stay.  A power of two gives the very block that building the
 * scaled mesh would give. */
#include "solid/solid.h"

static void scale_arrays(abut_solid *s, double scale) {
    char *block = (char *)s;
    solid_vertex *vertices = (solid_vertex *)(void *)(block + s->vertices);
    solid_face *faces = (solid_face *)(void *)(block + s->faces);
    plane *planes = (plane *)(void *)(block + s->planes);
    solid_shell *shells = (solid_shell *)(void *)(block + s->shells);
    for (int64_t i = 0; i < s->vertex_count; i++)
        vertices[i].position = vec3_scale(vertices[i].position, scale);
    for (int64_t i = 0; i < s->face_count; i++) faces[i].plane.d *= scale, faces[i].area *= scale * scale;
    for (int64_t i = 0; i < s->plane_count; i++) planes[i].d *= scale;
    for (int64_t i = 0; i < s->shell_count; i++) shells[i].volume *= scale * scale * scale;
}

static void scale_header(abut_solid *s, double scale) {
    abut_solid_facts *facts = &s->facts;
    s->origin = vec3_scale(s->origin, scale);
    s->diagonal *= scale, s->weld *= scale, s->epsilon *= scale;
    for (int i = 0; i < 6; i++) s->unit_inertia[i] *= scale * scale * scale * (scale * scale);
    facts->volume *= scale * scale * scale;
    facts->area *= scale * scale;
    facts->smallest_feature *= scale;
    facts->epsilon *= scale;
    facts->center = vec3_scale(facts->center, scale);
    facts->bounds.lower = vec3_scale(facts->bounds.lower, scale);
    facts->bounds.upper = vec3_scale(facts->bounds.upper, scale);
}

/* Sizes whose volume and inertia are doubles with all their digits; the largest moment goes with s^5. */
static bool has_digits(const abut_solid *s) {
    double largest = fmax(s->unit_inertia[0], fmax(s->unit_inertia[1], s->unit_inertia[2]));
    return isnormal(s->facts.volume) && isnormal(s->facts.area) && isnormal(largest) && isnormal(s->weld) &&
           vec3_is_finite(s->facts.bounds.lower) && vec3_is_finite(s->facts.bounds.upper);
}

abut_status abut_solid_scaled(const abut_context *context, const abut_solid *solid, double scale,
                              abut_solid **scaled, abut_error *error) {
    *scaled = NULL;
    if (!(scale > 0) || !isfinite(scale))
        return fail(error, ABUT_INVALID, "a solid is scaled by %g; give a finite factor above 0", scale);
    abut_solid *copy = mem_alloc(context, 1, solid->bytes);
    if (!copy) return fail_memory(error);
    memcpy(copy, solid, solid->bytes);
    scale_arrays(copy, scale);
    scale_header(copy, scale);
    if (!has_digits(copy)) {
        mem_free(context, copy, 1, solid->bytes);
        return fail(error, ABUT_INVALID,
                    "scaled by %g the solid is too small or too large for its volume and inertia to be "
                    "numbers; choose other units",
                    scale);
    }
    copy->hash = copy->facts.hash = solid_hash(copy);
    *scaled = copy;
    return ABUT_OK;
}
