/* Facts of any mesh: counts, Euler's formula, orientation, volume where there is one. */
#include "solid/mass.h"
#include "solid/planes.h"

/* Parts that share no vertex. */
static int64_t count_components(const topology *t, int32_t *parent) {
    int64_t count = 0;
    for (int32_t v = 0; v < t->vertex_count; v++) parent[v] = v;
    for (int32_t c = 0; c < t->corner_count; c++)
        union_join(parent, t->vertex[c], t->vertex[topology_next(t, c)]);
    for (int32_t v = 0; v < t->vertex_count; v++) count += parent[v] == v;
    return count;
}

/* Vertices whose corners belong to more than one sheet. */
static int64_t count_bad_vertices(const topology *t, const int32_t *sheet, int32_t *first) {
    int64_t count = 0;
    for (int32_t v = 0; v < t->vertex_count; v++) first[v] = -1;
    for (int32_t c = 0; c < t->corner_count; c++) {
        int32_t *seen = &first[t->vertex[c]];
        if (*seen == -2) continue;
        if (*seen >= 0 && *seen != sheet[c])
            count++, *seen = -2;
        else
            *seen = sheet[c];
    }
    return count;
}

/* Areas, flatness, edge lengths, and reflex edges by the normals of the facets. */
static void measure_faces(const topology *t, vec3 *normals, abut_mesh_facts *facts) {
    facts->shortest_edge = INFINITY;
    for (int32_t f = 0; f < t->face_count; f++) {
        double area;
        plane p = topology_plane(t, f, &area);
        normals[f] = p.n;
        facts->area += area;
        facts->flatness = fmax(facts->flatness, face_flatness(t, f, p));
        facts->degenerate_faces += face_width(t, f, area) <= t->weld;
        if (topology_size(t, f) > facts->largest_face) facts->largest_face = topology_size(t, f);
    }
    for (int32_t c = 0; c < t->corner_count; c++) {
        vec3 d = vec3_sub(topology_at(t, topology_next(t, c)), topology_at(t, c));
        double length = vec3_length(d);
        facts->shortest_edge = fmin(facts->shortest_edge, length);
        if (t->twin[c] < c) continue;
        double turn = vec3_triple(d, normals[t->face[c]], normals[t->face[t->twin[c]]]);
        facts->reflex_edges += turn < -1e-6 * length;
    }
}

static void measure_volume(const topology *t, const int32_t *one_shell, abut_mesh_facts *facts) {
    double volume, rest;
    mass_integrals m = mass_of_mesh(t, one_shell, 1, &volume, &rest);
    facts->volume = m.volume;
    facts->center = vec3_add(m.center, t->origin);
    memcpy(facts->inertia, m.inertia, sizeof facts->inertia);
}

static bool fill_facts(topology *t, abut_mesh_facts *facts) {
    scratch *s = &t->memory;
    int32_t *numbers = scratch_take(s, t->vertex_count, sizeof *numbers);
    int32_t *sheet = scratch_take(s, t->corner_count, sizeof *sheet);
    vec3 *normals = scratch_take(s, t->face_count, sizeof *normals);
    int32_t *one_shell = scratch_clear(s, t->face_count, sizeof *one_shell);
    if (!numbers || !sheet || !normals || !one_shell) return false;
    *facts = (abut_mesh_facts){.vertices = t->vertex_count,
                               .edges = t->edge_count,
                               .faces = t->face_count,
                               .open_edges = t->open_edges,
                               .nonmanifold_edges = t->many_edges,
                               .flipped_edges = t->flipped_edges,
                               .equal_points = t->exact_duplicates,
                               .close_points = t->near_duplicates,
                               .genus = -1,
                               .diagonal = t->diagonal,
                               .bounds = box_empty()};
    facts->components = count_components(t, numbers);
    topology_sheets(t, sheet);
    facts->nonmanifold_vertices = count_bad_vertices(t, sheet, numbers);
    for (int64_t i = 0; i < t->mesh->point_count; i++) facts->unused_points += t->point_vertex[i] < 0;
    for (int32_t v = 0; v < t->vertex_count; v++)
        facts->bounds = box_add_point(facts->bounds, vec3_add(t->position[v], t->origin));
    measure_faces(t, normals, facts);
    facts->closed = t->open_edges + t->many_edges + t->loop_edges == 0;
    facts->manifold = t->many_edges == 0 && facts->nonmanifold_vertices == 0;
    facts->oriented = t->flipped_edges == 0 && t->many_edges == 0;
    if (facts->closed && facts->manifold) {
        int64_t euler = facts->vertices - facts->edges + facts->faces;
        facts->genus = (int)((2 * facts->components - euler) / 2);
    }
    facts->convex = facts->closed && facts->oriented && facts->components == 1 && facts->reflex_edges == 0;
    if (facts->closed && facts->oriented) measure_volume(t, one_shell, facts);
    return true;
}

abut_status abut_mesh_facts_of(const abut_context *context, const abut_mesh *mesh, double weld,
                               abut_mesh_facts *facts, abut_error *error) {
    topology t;
    *facts = (abut_mesh_facts){.genus = -1};
    abut_status status = topology_make(&t, context, mesh, weld, error);
    if (status) return status;
    bool fine = fill_facts(&t, facts);
    topology_free(&t);
    return fine ? ABUT_OK : fail_memory(error);
}
