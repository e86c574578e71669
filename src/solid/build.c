/* Building a solid: the list of stages. */
#include "solid/brep.h"
#include "solid/check.h"
#include "solid/features.h"
#include "solid/intersect.h"
#include "solid/mass.h"
#include "solid/shells.h"

abut_solid_options abut_default_solid_options(void) {
    return (abut_solid_options){.weld = 1e-9, .epsilon = 5e-7, .feature = 5e-5, .limit = 20};
}

typedef struct builder {
    const abut_context *context;
    abut_solid_options options;
    topology t;
    int32_t shell_count;
    int32_t *component;
    double *shell_volume;
    plane_table planes;
    mass_integrals mass;
    abut_solid *solid;
} builder;

static abut_status check_options(const abut_solid_options *o, abut_error *error) {
    if (!(o->weld >= 0 && o->weld <= 1e-3))
        return fail(error, ABUT_INVALID, "weld is %g; it must lie between 0 and 1e-3 of the diagonal",
                    o->weld);
    if (!(o->epsilon >= o->weld && o->epsilon <= 0.1))
        return fail(error, ABUT_INVALID,
                    "epsilon is %g; it must lie between weld (%g) and 0.1 of the diagonal", o->epsilon,
                    o->weld);
    return ABUT_OK;
}

/* ---- topology */

/* The messages here are short: abut_solid_build asks the checker for the place and the remedy. */
static abut_status build_topology(builder *b, const abut_mesh *mesh, abut_error *error) {
    topology *t = &b->t;
    abut_status status = topology_make(t, b->context, mesh, b->options.weld, error);
    if (status) return status;
    if (check_thickness_of(t) <= b->options.epsilon * t->diagonal)
        return fail_at(error, ABUT_INVALID, mesh->file, 0, "the mesh is thinner than the touching distance");
    if (!topology_closed(t))
        return fail_at(error, ABUT_INVALID, mesh->file, 0,
                       "some edges are not the border of exactly two faces");
    int32_t *orbit = scratch_take(&t->memory, t->corner_count, sizeof *orbit);
    if (!orbit) return fail_memory(error);
    if (topology_orbits(t, orbit) != t->vertex_count)
        return fail_at(error, ABUT_INVALID, mesh->file, 0,
                       "some vertices join parts that share no edge there");
    scratch_drop(&t->memory, orbit);
    b->component = scratch_take(&t->memory, t->face_count, sizeof *b->component);
    if (!b->component) return fail_memory(error);
    b->shell_count = topology_components(t, b->component);
    return ABUT_OK;
}

/* ---- mass, shells */

static abut_status build_shells(builder *b, abut_error *error) {
    topology *t = &b->t;
    scratch *m = &t->memory;
    b->shell_volume = scratch_take(m, 2 * (int64_t)b->shell_count, sizeof *b->shell_volume);
    int *depth = scratch_take(m, b->shell_count, sizeof *depth);
    bool *touch = scratch_take(m, b->shell_count, sizeof *touch);
    if (!b->shell_volume || !depth || !touch) return fail_memory(error);
    b->mass =
        mass_of_mesh(t, b->component, b->shell_count, b->shell_volume, b->shell_volume + b->shell_count);
    abut_status status = shells_nest(t, b->component, b->shell_count, depth, touch, NULL, error);
    if (status) return status;
    for (int32_t k = 0; k < b->shell_count; k++)
        if (shells_judge(b->shell_volume[k], depth[k], touch[k]) != SHELL_FINE)
            return fail_at(error, ABUT_INVALID, t->mesh->file, 0,
                           "a shell of volume %.6g is inside out, empty, or lies in another one",
                           b->shell_volume[k]);
    scratch_drop(m, depth);
    scratch_drop(m, touch);
    return ABUT_OK;
}

static abut_status build_crossings(builder *b, abut_error *error) {
    topology *t = &b->t;
    if (b->options.skip_self_intersection) return ABUT_OK;
    int32_t *plane_of = scratch_take(&t->memory, t->face_count, sizeof *plane_of);
    if (!plane_of) return fail_memory(error);
    for (int32_t f = 0; f < t->face_count; f++) plane_of[f] = b->planes.plane_id[b->planes.region[f]];
    face_pairs pairs = {0};
    abut_status status = intersect_faces(t, plane_of, 1, &pairs, error);
    if (!status && pairs.count > 0)
        status = fail_at(error, ABUT_INVALID, t->mesh->file, 0, "faces %d and %d intersect",
                         pairs.data[0].face[0], pairs.data[0].face[1]);
    array_free(t->context, &pairs);
    scratch_drop(&t->memory, plane_of);
    return status;
}

/* ---- facts */

/* V - E + F of each shell of the file is 2 - 2 genus. */
static bool build_genus(builder *b) {
    topology *t = &b->t;
    solid_shell *shells = brep_at(b->solid, b->solid->shells);
    int64_t *euler = scratch_clear(&t->memory, b->shell_count, sizeof *euler);
    bool *seen = scratch_clear(&t->memory, t->vertex_count, sizeof *seen);
    if (!euler || !seen) return false;
    for (int32_t f = 0; f < t->face_count; f++) euler[b->component[f]]++;
    for (int32_t c = 0; c < t->corner_count; c++) {
        int32_t k = b->component[t->face[c]];
        if (t->twin[c] > c) euler[k]--;
        if (!seen[t->vertex[c]]) seen[t->vertex[c]] = true, euler[k]++;
    }
    for (int32_t k = 0; k < b->shell_count; k++)
        shells[k] = (solid_shell){b->shell_volume[k], (int32_t)((2 - euler[k]) / 2), -1};
    for (int32_t f = (int32_t)b->solid->face_count - 1; f >= 0; f--)
        shells[solid_faces(b->solid)[f].shell].face = f;
    scratch_drop(&t->memory, euler);
    scratch_drop(&t->memory, seen);
    return true;
}

static bool build_facts(builder *b) {
    abut_solid *s = b->solid;
    abut_solid_facts *facts = &s->facts;
    solid_edge *edges = brep_at(s, s->edges);
    bool reflex = false;
    s->epsilon = b->options.epsilon * s->diagonal;
    if (!build_genus(b)) return false;
    for (int32_t e = 0; e < s->edge_count; e++) {
        edges[e].convexity = feature_convexity(s, e);
        reflex |= edges[e].convexity < 0;
    }
    *facts = (abut_solid_facts){.vertices = b->t.vertex_count,
                                .edges = b->t.edge_count,
                                .faces = b->t.face_count,
                                .maximal_vertices = s->vertex_count,
                                .maximal_edges = s->edge_count,
                                .maximal_faces = s->face_count,
                                .planes = s->plane_count,
                                .shells = s->shell_count,
                                .volume = b->mass.volume,
                                .epsilon = s->epsilon,
                                .center = vec3_add(b->mass.center, s->origin),
                                .bounds = box_empty()};
    for (int32_t k = 0; k < s->shell_count; k++) {
        facts->cavities += solid_shells(s)[k].volume < 0;
        facts->genus += solid_shells(s)[k].genus;
    }
    facts->convex = !reflex && s->shell_count == 1 && facts->genus == 0;
    for (int32_t f = 0; f < s->face_count; f++) facts->area += solid_faces(s)[f].area;
    for (int32_t v = 0; v < s->vertex_count; v++)
        facts->bounds = box_add_point(facts->bounds, vec3_add(solid_position(s, v), s->origin));
    memcpy(s->unit_inertia, b->mass.inertia, sizeof s->unit_inertia);
    return feature_smallest(b->context, s, &facts->smallest_feature);
}

/* Faces that lost their border, or all but two of its corners, are thinner than the tolerance. */
static abut_status check_loops(const builder *b, abut_error *error) {
    const abut_solid *s = b->solid;
    const int32_t *file_faces = solid_file_faces(s);
    for (int32_t f = 0; f < b->t.face_count; f++) {
        const solid_face *face = &solid_faces(s)[file_faces[f]];
        bool fine = face->loops > 0 && face->area > 0;
        for (int32_t l = 0; fine && l < face->loops; l++)
            fine = solid_loops(s)[face->first_loop + l].count >= 3;
        if (fine) continue;
        return fail_at(
            error, ABUT_INVALID, b->t.mesh->file, b->t.mesh->face_lines ? b->t.mesh->face_lines[f] : 0,
            "the solid is thinner than the weld tolerance %.3g around face %d; lower the tolerance "
            "or remove the part",
            s->weld, f);
    }
    return ABUT_OK;
}

uint64_t solid_hash(const abut_solid *s) {
    size_t from = offsetof(abut_solid, vertex_count);
    abut_solid header = *s;
    header.facts.hash = 0;
    uint64_t hash = hash64((const char *)&header + from, sizeof header - from, SOLID_VERSION);
    return hash64((const char *)s + sizeof *s, s->bytes - sizeof *s, hash);
}

static abut_status build(builder *b, const abut_mesh *mesh, abut_error *error) {
    abut_status status = build_topology(b, mesh, error);
    if (!status) status = planes_make(&b->t, b->options.keep_facets, &b->planes, error);
    if (!status) status = build_shells(b, error);
    if (!status) status = build_crossings(b, error);
    if (!status)
        status = brep_make(&b->t, &b->planes, b->component, b->shell_count, b->options.keep_facets, &b->solid,
                           error);
    if (!status) status = check_loops(b, error);
    if (!status && !build_facts(b)) status = fail_memory(error);
    if (status) return status;
    b->solid->hash = b->solid->facts.hash = solid_hash(b->solid);
#ifdef ABUT_VALIDATE
    status = solid_validate(b->solid, error);
#endif
    return status;
}

abut_status solid_build_quietly(const abut_context *context, const abut_mesh *mesh,
                                const abut_solid_options *options, abut_solid **solid, abut_error *error) {
    builder b = {.context = context, .options = *options};
    b.t.memory.context = context;
    abut_status status = build(&b, mesh, error);
    topology_free(&b.t);
    if (status) {
        abut_solid_free(context, b.solid);
        return status;
    }
    *solid = b.solid;
    return ABUT_OK;
}

/* Where building fails, checking says where and what to do. */
static abut_status explain(const abut_context *context, const abut_mesh *mesh,
                           const abut_solid_options *options, abut_error *error) {
    abut_solid_options brief = *options;
    abut_report *report = NULL;
    brief.limit = 1;
    abut_status status = abut_mesh_check(context, mesh, &brief, &report, error);
    if (status) return status;
    status = report_first_error(report, mesh, error);
    abut_report_free(context, report);
    return status ? status : ABUT_INVALID;
}

abut_status abut_solid_build(const abut_context *context, const abut_mesh *mesh,
                             const abut_solid_options *options, abut_solid **solid, abut_error *error) {
    abut_solid_options o = options ? *options : abut_default_solid_options();
    abut_status status = check_options(&o, error);
    if (status) return status;
    status = solid_build_quietly(context, mesh, &o, solid, error);
    return status == ABUT_INVALID ? explain(context, mesh, &o, error) : status;
}

void abut_solid_free(const abut_context *context, abut_solid *solid) {
    if (solid) mem_free(context, solid, 1, solid->bytes);
}
