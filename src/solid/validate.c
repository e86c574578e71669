/* The validator of the B-rep: every invariant of the block, in the order in which later checks rely on
 * earlier ones. */
#include "solid/solid.h"

#include <stdlib.h>

#define REQUIRE(condition, ...)                                         \
    do {                                                                \
        if (!(condition)) return fail(error, ABUT_FAILED, __VA_ARGS__); \
    } while (0)

static bool in_range(int32_t i, int64_t count) { return i >= 0 && i < count; }

/* The arrays lie in the block, one behind the other, aligned. */
static abut_status check_header(const abut_solid *s, abut_error *error) {
    REQUIRE(s->magic == SOLID_MAGIC && s->version == SOLID_VERSION,
            "block has magic %08x version %u; this library reads %08x version %u", s->magic, s->version,
            SOLID_MAGIC, SOLID_VERSION);
    const struct {
        uint64_t at;
        int64_t count;
        size_t size;
    } arrays[] = {{s->vertices, s->vertex_count, sizeof(solid_vertex)},
                  {s->edges, s->edge_count, sizeof(solid_edge)},
                  {s->coedges, s->coedge_count, sizeof(solid_coedge)},
                  {s->loops, s->loop_count, sizeof(solid_loop)},
                  {s->faces, s->face_count, sizeof(solid_face)},
                  {s->planes, s->plane_count, sizeof(plane)},
                  {s->shells, s->shell_count, sizeof(solid_shell)},
                  {s->file_faces, s->file_face_count, sizeof(int32_t)}};
    uint64_t end = sizeof *s;
    for (int i = 0; i < COUNT_OF(arrays); i++) {
        REQUIRE(arrays[i].count > 0 && arrays[i].count <= INT32_MAX, "array %d has %lld entries", i,
                (long long)arrays[i].count);
        REQUIRE(arrays[i].at >= end && arrays[i].at % 16 == 0 && arrays[i].at <= s->bytes &&
                    (s->bytes - arrays[i].at) / arrays[i].size >= (uint64_t)arrays[i].count,
                "array %d does not lie in the block", i);
        end = arrays[i].at + (uint64_t)arrays[i].count * arrays[i].size;
    }
    REQUIRE(s->coedge_count == 2 * s->edge_count, "%lld coedges for %lld edges", (long long)s->coedge_count,
            (long long)s->edge_count);
    return ABUT_OK;
}

/* Faces own consecutive loops, loops own consecutive coedges that form one cycle. */
static abut_status check_loops(const abut_solid *s, abut_error *error) {
    const solid_coedge *coedges = solid_coedges(s);
    int32_t loop = 0, coedge = 0;
    for (int32_t f = 0; f < s->face_count; f++) {
        const solid_face *face = &solid_faces(s)[f];
        REQUIRE(face->first_loop == loop && face->loops > 0, "face %d: its loops do not follow each other",
                f);
        REQUIRE(in_range(face->plane_id, s->plane_count) && abs(face->plane_sign) == 1, "face %d: plane", f);
        REQUIRE(in_range(face->shell, s->shell_count), "face %d: shell", f);
        for (; loop < face->first_loop + face->loops; loop++) {
            REQUIRE(loop < s->loop_count, "face %d: loop out of range", f);
            const solid_loop *l = &solid_loops(s)[loop];
            REQUIRE(l->face == f && l->coedge == coedge && l->count >= 3 &&
                        l->count <= s->coedge_count - coedge,
                    "loop %d of face %d: coedges do not follow each other", loop, f);
            for (int32_t i = 0; i < l->count; i++, coedge++) {
                const solid_coedge *c = &coedges[coedge];
                REQUIRE(c->face == f && c->loop == loop &&
                            c->next == (i + 1 < l->count ? coedge + 1 : l->coedge) &&
                            c->prev == (i > 0 ? coedge - 1 : l->coedge + l->count - 1),
                        "coedge %d of loop %d: broken cycle", coedge, loop);
                REQUIRE(in_range(c->vertex, s->vertex_count) && in_range(c->edge, s->edge_count),
                        "coedge %d: vertex or edge out of range", coedge);
            }
        }
    }
    REQUIRE(loop == s->loop_count && coedge == s->coedge_count, "loops or coedges without a face");
    return ABUT_OK;
}

/* The two coedges of an edge run in opposite directions; each belongs to one edge. */
static abut_status check_edges(const abut_solid *s, abut_error *error) {
    const solid_coedge *coedges = solid_coedges(s);
    for (int32_t e = 0; e < s->edge_count; e++) {
        const solid_edge *edge = &solid_edges(s)[e];
        REQUIRE(edge->vertex[0] != edge->vertex[1], "edge %d: both ends are vertex %d", e, edge->vertex[0]);
        REQUIRE(edge->coedge[0] != edge->coedge[1], "edge %d: only one coedge", e);
        for (int i = 0; i < 2; i++) {
            REQUIRE(in_range(edge->coedge[i], s->coedge_count) && in_range(edge->vertex[i], s->vertex_count),
                    "edge %d: out of range", e);
            const solid_coedge *c = &coedges[edge->coedge[i]];
            REQUIRE(c->edge == e && c->vertex == edge->vertex[i] &&
                        coedges[c->next].vertex == edge->vertex[1 - i],
                    "edge %d: coedge %d does not run between its vertices", e, edge->coedge[i]);
        }
        REQUIRE(coedges[edge->coedge[0]].face != coedges[edge->coedge[1]].face,
                "edge %d: one face on both sides", e);
        REQUIRE(abs(edge->convexity) <= 1, "edge %d: convexity %d", e, edge->convexity);
    }
    return ABUT_OK;
}

/* Turning around a vertex visits as many coedges as start there. */
static abut_status check_vertices(const abut_solid *s, abut_error *error) {
    const solid_coedge *coedges = solid_coedges(s);
    int64_t total = 0;
    for (int32_t v = 0; v < s->vertex_count; v++) {
        const solid_vertex *vertex = &solid_vertices(s)[v];
        REQUIRE(vec3_is_finite(vertex->position), "vertex %d: not finite", v);
        REQUIRE(in_range(vertex->coedge, s->coedge_count), "vertex %d: coedge", v);
        int32_t c = vertex->coedge, turns = 0;
        do {
            REQUIRE(coedges[c].vertex == v && turns < s->coedge_count,
                    "vertex %d: its coedges do not turn around "
                    "it",
                    v);
            c = solid_twin(s, coedges[c].prev);
            turns++;
        } while (c != vertex->coedge);
        REQUIRE(turns == vertex->valence && turns >= 2,
                "vertex %d: valence %d, but %d coedges turn around it", v, vertex->valence, turns);
        total += turns;
    }
    REQUIRE(total == s->coedge_count, "coedges that no vertex reaches");
    return ABUT_OK;
}

/* Unit normals; vertices within 4 weld of the planes of their faces; face planes are those of the table. */
static abut_status check_planes(const abut_solid *s, abut_error *error) {
    for (int32_t i = 0; i < s->plane_count; i++)
        REQUIRE(fabs(vec3_length2(solid_planes(s)[i].n) - 1) < 1e-12, "plane %d: normal is not unit", i);
    for (int32_t f = 0; f < s->face_count; f++) {
        const solid_face *face = &solid_faces(s)[f];
        plane p = solid_planes(s)[face->plane_id];
        if (face->plane_sign < 0) p = plane_flip(p);
        REQUIRE(p.d == face->plane.d && vec3_dot(p.n, face->plane.n) > 0.5,
                "face %d: not the plane of the table", f);
        REQUIRE(face->area > 0, "face %d: area %g", f, face->area);
    }
    for (int32_t c = 0; c < s->coedge_count; c++) {
        const solid_coedge *coedge = &solid_coedges(s)[c];
        double distance =
            plane_distance(solid_faces(s)[coedge->face].plane, solid_position(s, coedge->vertex));
        REQUIRE(fabs(distance) <= 4 * s->weld, "vertex %d lies %g off the plane of face %d", coedge->vertex,
                distance, coedge->face);
    }
    return ABUT_OK;
}

/* Euler: V - E + F - (L - F) = sum over the shells of 2 - 2 genus. */
static abut_status check_euler(const abut_solid *s, abut_error *error) {
    int64_t euler = s->vertex_count - s->edge_count + 2 * s->face_count - s->loop_count, wanted = 0;
    for (int32_t k = 0; k < s->shell_count; k++) {
        const solid_shell *shell = &solid_shells(s)[k];
        REQUIRE(shell->genus >= 0 && in_range(shell->face, s->face_count) &&
                    solid_faces(s)[shell->face].shell == k,
                "shell %d: genus %d, face %d", k, shell->genus, shell->face);
        wanted += 2 - 2 * shell->genus;
    }
    REQUIRE(euler == wanted, "Euler's formula: V - E + 2 F - L is %lld, the shells want %lld",
            (long long)euler, (long long)wanted);
    for (int64_t f = 0; f < s->file_face_count; f++)
        REQUIRE(solid_file_faces(s)[f] >= -1 && solid_file_faces(s)[f] < s->face_count,
                "face %lld of the file: out of range", (long long)f);
    return ABUT_OK;
}

abut_status solid_validate(const abut_solid *s, abut_error *error) {
    abut_status status = check_header(s, error);
    if (!status) status = check_loops(s, error);
    if (!status) status = check_edges(s, error);
    if (!status) status = check_vertices(s, error);
    if (!status) status = check_planes(s, error);
    if (!status) status = check_euler(s, error);
    if (status) return status;
    REQUIRE(solid_hash(s) == s->hash && s->facts.hash == s->hash,
            "the content does not have the hash it says");
    return ABUT_OK;
}
