/* Edges that are not the border of exactly two faces that agree, and vertices that join two sheets.
 *
 *   open         one face                    T-junction   a vertex of the other side stands in the middle
 *   nonmanifold  three or more               flipped      two faces that run along it the same way
 */
#include "solid/check.h"

/* ---- orientation */

/* The face on the other side of half-edge c and whether it agrees; -1 where there is not exactly one. */
static int32_t across(const topology *t, int32_t c, bool *agrees) {
    *agrees = t->twin[c] >= 0;
    if (*agrees) return t->face[t->twin[c]];
    return t->twin[c] == TWIN_FLIPPED ? t->face[t->ring[c]] : -1;
}

/* Spreads the orientation of `seed` over its part; faces[0..*count) are those it reached. */
static void spread_part(const topology *t, orientation *o, int32_t seed, int32_t *faces, int32_t *count) {
    *count = 0;
    o->part[seed] = o->part_count;
    faces[(*count)++] = seed;
    for (int32_t i = 0; i < *count; i++) {
        int32_t f = faces[i], first = topology_first(t, f);
        for (int32_t c = first; c < first + topology_size(t, f); c++) {
            bool agrees;
            int32_t g = across(t, c, &agrees);
            if (g < 0) continue;
            int8_t wanted = (int8_t)(agrees ? o->flip[f] : !o->flip[f]);
            if (o->part[g] < 0) {
                o->part[g] = o->part_count, o->flip[g] = wanted;
                faces[(*count)++] = g;
            } else if (o->flip[g] != wanted && o->twisted < 0) {
                o->twisted = g;
            }
        }
    }
}

bool check_orientation(topology *t, orientation *o) {
    int32_t *faces = scratch_take(&t->memory, t->face_count, sizeof *faces);
    *o = (orientation){.twisted = -1};
    o->flip = scratch_clear(&t->memory, t->face_count, sizeof *o->flip);
    o->part = scratch_take(&t->memory, t->face_count, sizeof *o->part);
    if (!faces || !o->flip || !o->part) return false;
    for (int32_t f = 0; f < t->face_count; f++) o->part[f] = -1;
    for (int32_t seed = 0; seed < t->face_count; seed++) {
        if (o->part[seed] >= 0) continue;
        int32_t count, flipped = 0;
        spread_part(t, o, seed, faces, &count);
        for (int32_t i = 0; i < count; i++) flipped += o->flip[faces[i]];
        for (int32_t i = 0; i < count && 2 * flipped > count; i++) o->flip[faces[i]] = !o->flip[faces[i]];
        o->part_count++;
    }
    scratch_drop(&t->memory, faces);
    return true;
}

static bool report_flipped(reporter *r, topology *t) {
    if (t->flipped_edges == 0) return true;
    orientation o;
    if (!check_orientation(t, &o)) return false;
    if (o.twisted >= 0) {
        abut_finding *f = report_add(r, ABUT_DEFECT_FLIPPED_FACE);
        if (f) {
            report_face(f, t, o.twisted);
            report_text(
                f,
                "face %d: its part has only one side, like a Moebius strip, so no orientation fits; it "
                "bounds no solid, so rebuild it",
                o.twisted);
        }
    }
    for (int32_t i = 0; i < t->face_count && o.twisted < 0; i++) {
        if (!o.flip[i]) continue;
        abut_finding *f = report_add(r, ABUT_DEFECT_FLIPPED_FACE);
        if (!f) continue;
        report_face(f, t, i);
        f->repairable = true;
        report_text(
            f,
            "face %d runs the other way than its neighbours, so inside and outside are swapped there; "
            "reverse its corners (abut check --fix does)",
            i);
    }
    scratch_drop(&t->memory, o.flip);
    scratch_drop(&t->memory, o.part);
    return true;
}

/* ---- T-junctions */

typedef struct open_vertex {
    double x;
    int32_t vertex;
} open_vertex;

static int by_x(const void *user, const void *a, const void *b) {
    const open_vertex *p = a, *q = b;
    (void)user;
    return p->x != q->x ? (p->x < q->x ? -1 : 1) : p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

/* The vertices at open edges, sorted by x. */
static open_vertex *open_vertices(topology *t, int64_t *count) {
    open_vertex *list = scratch_take(&t->memory, 2 * t->open_edges, sizeof *list);
    *count = 0;
    if (!list) return NULL;
    for (int32_t c = 0; c < t->corner_count; c++) {
        if (t->twin[c] != TWIN_OPEN) continue;
        int32_t ends[2] = {t->vertex[c], t->vertex[topology_next(t, c)]};
        for (int i = 0; i < 2; i++) list[(*count)++] = (open_vertex){t->position[ends[i]].x, ends[i]};
    }
    if (!sort_stable(t->context, list, (size_t)*count, sizeof *list, by_x, NULL)) return NULL;
    int64_t kept = 0;
    for (int64_t i = 0; i < *count; i++)
        if (kept == 0 || list[kept - 1].vertex != list[i].vertex) list[kept++] = list[i];
    *count = kept;
    return list;
}

/* A vertex strictly between the ends of half-edge c, within the weld tolerance of it, or -1.  The one nearest
 * to the start. */
static int32_t vertex_on_edge(const topology *t, int32_t c, const open_vertex *list, int64_t count,
                              int64_t *budget) {
    int32_t v = t->vertex[c], w = t->vertex[topology_next(t, c)], best = -1;
    vec3 a = t->position[v], d = vec3_sub(t->position[w], a);
    double lower = fmin(a.x, a.x + d.x) - t->weld, upper = fmax(a.x, a.x + d.x) + t->weld, nearest = 1;
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (list[middle].x < lower)
            low = middle + 1;
        else
            high = middle;
    }
    for (int64_t i = low; i < count && list[i].x <= upper && *budget > 0; i++, --*budget) {
        int32_t u = list[i].vertex;
        if (u == v || u == w) continue;
        vec3 p = vec3_sub(t->position[u], a);
        double s = vec3_dot(p, d) / vec3_length2(d);
        if (s <= 0 || s >= nearest || vec3_length(vec3_axpy(p, -s, d)) > t->weld) continue;
        nearest = s, best = u;
    }
    return best;
}

/* An open edge with a vertex of the boundary in its middle is a T-junction.  The short open edges on the
 * other side, which the vertex ends, belong to it and are not reported again. */
static bool report_open_edges(reporter *r, topology *t) {
    if (t->open_edges == 0) return true;
    int64_t count, budget = 20000000;
    open_vertex *list = open_vertices(t, &count);
    bool *explained = scratch_clear(&t->memory, t->vertex_count, sizeof *explained);
    int32_t *middle = scratch_take(&t->memory, t->corner_count, sizeof *middle);
    if (!list || !explained || !middle) return false;
    for (int32_t c = 0; c < t->corner_count; c++) {
        middle[c] = t->twin[c] == TWIN_OPEN ? vertex_on_edge(t, c, list, count, &budget) : -1;
        if (middle[c] >= 0) explained[middle[c]] = true;
    }
    for (int32_t c = 0; c < t->corner_count; c++) {
        if (t->twin[c] != TWIN_OPEN) continue;
        bool short_side = explained[t->vertex[c]] || explained[t->vertex[topology_next(t, c)]];
        if (middle[c] < 0 && short_side) continue;
        abut_finding *f = report_add(r, middle[c] >= 0 ? ABUT_DEFECT_T_JUNCTION : ABUT_DEFECT_OPEN_EDGE);
        if (!f) continue;
        report_edge(f, t, c);
        if (middle[c] >= 0) {
            f->vertex = t->point[middle[c]];
            f->at = t->mesh->points[t->point[middle[c]]];
            report_text(
                f,
                "vertex %lld stands in the middle of edge %lld-%lld of face %lld, which does not use it "
                "(a T-junction); split the face at that vertex",
                (long long)f->vertex, (long long)f->edge[0], (long long)f->edge[1], (long long)f->face[0]);
        } else {
            report_text(f,
                        "edge %lld-%lld has face %lld on one side and nothing on the other; close the hole "
                        "there",
                        (long long)f->edge[0], (long long)f->edge[1], (long long)f->face[0]);
        }
    }
    scratch_drop(&t->memory, list);
    scratch_drop(&t->memory, explained);
    scratch_drop(&t->memory, middle);
    return true;
}

static void report_many(reporter *r, const topology *t) {
    for (int32_t c = 0; c < t->corner_count && t->many_edges > 0; c++) {
        if (t->twin[c] != TWIN_MANY) continue;
        int32_t faces = 1, smallest = c;
        for (int32_t i = t->ring[c]; i != c; i = t->ring[i]) faces++, smallest = i < smallest ? i : smallest;
        if (smallest != c) continue;
        abut_finding *f = report_add(r, ABUT_DEFECT_NONMANIFOLD_EDGE);
        if (!f) continue;
        report_edge(f, t, c);
        f->face[1] = t->face[t->ring[c]];
        report_text(
            f,
            "edge %lld-%lld belongs to %d faces (%lld, %lld, ...) where a solid has two; separate the "
            "parts that touch there, or remove the face that is too many",
            (long long)f->edge[0], (long long)f->edge[1], faces, (long long)f->face[0],
            (long long)f->face[1]);
    }
}

bool check_edges(reporter *r, topology *t) {
    report_many(r, t);
    return report_open_edges(r, t) && report_flipped(r, t);
}

bool check_vertices(reporter *r, topology *t) {
    int32_t *sheet = scratch_take(&t->memory, t->corner_count, sizeof *sheet);
    int32_t *first = scratch_take(&t->memory, t->vertex_count, sizeof *first);
    if (!sheet || !first) return false;
    topology_sheets(t, sheet);
    for (int32_t v = 0; v < t->vertex_count; v++) first[v] = -1;
    for (int32_t c = 0; c < t->corner_count; c++) {
        int32_t v = t->vertex[c];
        if (first[v] == -2 || first[v] == sheet[c]) continue;
        if (first[v] == -1) {
            first[v] = sheet[c];
            continue;
        }
        abut_finding *f = report_add(r, ABUT_DEFECT_NONMANIFOLD_VERTEX);
        if (f) {
            report_vertex(f, t, v);
            f->face[0] = t->face[first[v]], f->face[1] = t->face[c];
            report_text(
                f,
                "vertex %lld joins two parts (at faces %lld and %lld) that share no edge there; move them "
                "apart and give each its own vertex",
                (long long)f->vertex, (long long)f->face[0], (long long)f->face[1]);
        }
        first[v] = -2;
    }
    scratch_drop(&t->memory, sheet);
    scratch_drop(&t->memory, first);
    return true;
}
