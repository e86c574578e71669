/* abut_mesh_repair: the repairs that cannot change what was meant, and nothing else.
 *
 *   weld      points closer than the tolerance become one, unused points go
 *   drop      faces without area and second copies of a face; a sliver that holds the surface together is
 * folded into the neighbour at its long side:   a───b───c  becomes a corner b in the edge a c split     faces
 * that are not planar, into triangles flip      faces that disagree with their neighbours, shells that look
 * inward
 *
 * Each step makes a new mesh from the topology of the one before.  What was done is listed; the result is
 * checked like any other mesh and refused where it still bounds no solid.
 */
#include "solid/check.h"
#include "solid/mass.h"
#include "solid/planes.h"
#include "solid/read.h"
#include "solid/shells.h"
#include "solid/triangulate.h"

enum { FOLDING_ROUNDS = 8 /* slivers next to slivers need several */ };

typedef struct workshop {
    const abut_context *context;
    const abut_mesh *original;
    abut_solid_options options;
    reporter report;
    abut_mesh *mesh;    /* the current one */
    int32_t *file_face; /* of its faces: their numbers in the original */
} workshop;

/* ---- making meshes */

/* A mesh under construction, face by face. */
typedef struct draft {
    int_array corners, file_face;
    ARRAY(int64_t) face_start;
    bool out_of_memory;
} draft;

static void draft_face(workshop *w, draft *d, const int32_t *corners, int32_t count, int32_t file_face) {
    if (d->face_start.count == 0 && !array_push(w->context, &d->face_start, 0)) d->out_of_memory = true;
    for (int32_t i = 0; i < count && !d->out_of_memory; i++)
        if (!array_push(w->context, &d->corners, corners[i])) d->out_of_memory = true;
    if (d->out_of_memory || !array_push(w->context, &d->face_start, d->corners.count) ||
        !array_push(w->context, &d->file_face, file_face))
        d->out_of_memory = true;
}

static void draft_free(workshop *w, draft *d) {
    array_free(w->context, &d->corners);
    array_free(w->context, &d->file_face);
    array_free(w->context, &d->face_start);
}

/* The current mesh becomes the draft, whose corners are vertices of t; vertices that no face uses go. */
static bool draft_finish(workshop *w, draft *d, topology *t) {
    int64_t faces = d->file_face.count, used = 0;
    int32_t *number = scratch_take(&t->memory, t->vertex_count, sizeof *number);
    if (d->out_of_memory || !number) return false;
    for (int32_t v = 0; v < t->vertex_count; v++) number[v] = -1;
    for (int64_t i = 0; i < d->corners.count; i++) number[d->corners.data[i]] = 0;
    for (int32_t v = 0; v < t->vertex_count; v++)
        if (number[v] == 0) number[v] = (int32_t)used++;
    abut_mesh *made = mesh_create(w->context, used, faces, d->corners.count, w->original->face_lines != NULL);
    int32_t *file_face = mem_alloc(w->context, (size_t)faces, sizeof *file_face);
    if (!made || !file_face) {
        abut_mesh_free(w->context, made);
        mem_free(w->context, file_face, (size_t)faces, sizeof *file_face);
        return false;
    }
    memcpy(made->file, w->original->file, sizeof made->file);
    for (int32_t v = 0; v < t->vertex_count; v++) {
        if (number[v] < 0) continue;
        made->points[number[v]] = t->mesh->points[t->point[v]];
        if (made->point_lines && t->mesh->point_lines)
            made->point_lines[number[v]] = t->mesh->point_lines[t->point[v]];
    }
    for (int64_t i = 0; i < d->corners.count; i++) made->corners[i] = number[d->corners.data[i]];
    for (int64_t f = 0; f < faces; f++) {
        made->face_start[f + 1] = d->face_start.data[f + 1];
        file_face[f] = d->file_face.data[f];
        if (made->face_lines) made->face_lines[f] = w->original->face_lines[file_face[f]];
    }
    if (w->mesh) mem_free(w->context, w->file_face, (size_t)w->mesh->face_count, sizeof *file_face);
    abut_mesh_free(w->context, w->mesh);
    w->mesh = made, w->file_face = file_face;
    return true;
}

/* A line of the report: what was done to a face of the file. */
static abut_finding *note(workshop *w, abut_defect defect, int32_t file_face) {
    abut_finding *f = report_add(&w->report, defect);
    if (!f) return NULL;
    f->repairable = true, f->is_error = false;
    f->face[0] = file_face;
    if (file_face >= 0 && w->original->face_lines) f->line = w->original->face_lines[file_face];
    if (file_face >= 0) f->at = w->original->points[w->original->corners[w->original->face_start[file_face]]];
    return f;
}

static int32_t number_of(const workshop *w, int32_t face) { return w->file_face ? w->file_face[face] : face; }

/* ---- weld, drop, fold */

/* The corner of triangle f opposite to its longest side, when all its sides have good neighbours and the one
 * at the longest side is no sliver itself; -1 otherwise. */
static int32_t fold_corner(const topology *t, int32_t f, const bool *thin) {
    int32_t first = topology_first(t, f), longest = first;
    if (topology_size(t, f) != 3) return -1;
    double most = -1;
    for (int32_t c = first; c < first + 3; c++) {
        if (t->twin[c] < 0) return -1;
        double d2 = vec3_length2(vec3_sub(topology_at(t, topology_next(t, c)), topology_at(t, c)));
        if (d2 > most) most = d2, longest = c;
    }
    return thin[t->face[t->twin[longest]]] ? -1 : topology_prev(t, longest);
}

/* The corners of face f without repetitions, and with those of slivers that were folded into it: insert[c] is
 * the vertex that comes behind corner c, or -1. */
static bool clean_corners(workshop *w, const topology *t, int32_t f, const int32_t *insert, int_array *out) {
    out->count = 0;
    for (int32_t c = topology_first(t, f), end = c + topology_size(t, f); c < end; c++) {
        if (t->twin[c] != TWIN_LOOP && !array_push(w->context, out, t->vertex[c])) return false;
        if (insert[c] >= 0 && !array_push(w->context, out, insert[c])) return false;
    }
    return true;
}

/* One round; *again: slivers were left because they lie beside other slivers. */
static bool drop_faces(workshop *w, topology *t, bool *again) {
    scratch *m = &t->memory;
    bool *thin = scratch_take(m, t->face_count, sizeof *thin);
    int32_t *insert = scratch_take(m, t->corner_count, sizeof *insert);
    int32_t *same = scratch_take(m, t->face_count, sizeof *same);
    if (!thin || !insert || !same || !check_same_faces(t, same)) return false;
    memset(insert, -1, (size_t)t->corner_count * sizeof *insert);
    for (int32_t f = 0; f < t->face_count; f++) {
        double area;
        topology_plane(t, f, &area);
        thin[f] = face_width(t, f, area) <= t->weld;
    }
    *again = false;
    draft d = {0};
    int_array corners = {0};
    bool fine = true;
    for (int32_t f = 0; f < t->face_count; f++) {
        int32_t fold = thin[f] ? fold_corner(t, f, thin) : -1;
        if (fold < 0 || insert[t->twin[topology_next(t, fold)]] >= 0) continue;
        insert[t->twin[topology_next(t, fold)]] = t->vertex[fold];
        *again = true;
    }
    for (int32_t f = 0; f < t->face_count && fine; f++) {
        abut_finding *line = NULL;
        if (thin[f] && (line = note(w, ABUT_DEFECT_DEGENERATE_FACE, number_of(w, f))))
            report_text(line, "dropped face %d, which had no area", number_of(w, f));
        if (!thin[f] && same[f] != f && (line = note(w, ABUT_DEFECT_DUPLICATE_FACE, number_of(w, f))))
            report_text(line, "dropped face %d, a copy of face %d", number_of(w, f), number_of(w, same[f]));
        if (thin[f] || same[f] != f) continue;
        fine = clean_corners(w, t, f, insert, &corners);
        if (fine && corners.count >= 3)
            draft_face(w, &d, corners.data, (int32_t)corners.count, number_of(w, f));
    }
    fine = fine && draft_finish(w, &d, t);
    array_free(w->context, &corners);
    draft_free(w, &d);
    return fine;
}

static void note_welded(workshop *w, const topology *t) {
    int64_t welded = t->exact_duplicates + t->near_duplicates, unused = 0;
    for (int64_t i = 0; i < t->mesh->point_count; i++) unused += t->point_vertex[i] < 0;
    abut_finding *line;
    if (welded > 0 && !t->mesh->separate_corners && (line = note(w, ABUT_DEFECT_DUPLICATE_VERTEX, -1)))
        report_text(line, "joined %lld vertices with others at the same place (%lld of them equal)",
                    (long long)welded, (long long)t->exact_duplicates);
    if (unused > 0 && (line = note(w, ABUT_DEFECT_UNUSED_VERTEX, -1)))
        report_text(line, "dropped %lld vertices that no face uses", (long long)unused);
}

/* ---- split */

/* A quadrilateral is cut along the diagonal over which it bends least. */
static void split_quad(const topology *t, const int32_t *q, int32_t *triangles) {
    vec3 p[4];
    for (int i = 0; i < 4; i++) p[i] = t->position[q[i]];
    double flat[2];
    for (int i = 0; i < 2; i++) {
        vec3 a = p[i], b = p[i + 1], c = p[i + 2], e = p[(i + 3) % 4];
        vec3 m = vec3_unit(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
        vec3 n = vec3_unit(vec3_cross(vec3_sub(c, a), vec3_sub(e, a)));
        flat[i] = vec3_dot(m, n);
    }
    int k = flat[1] > flat[0];
    int32_t split[6] = {q[k], q[k + 1], q[k + 2], q[k], q[k + 2], q[(k + 3) % 4]};
    memcpy(triangles, split, sizeof split);
}

static bool split_faces(workshop *w, topology *t) {
    draft d = {0};
    int_array triangles = {0};
    bool fine = true;
    for (int32_t f = 0; f < t->face_count && fine; f++) {
        double area;
        plane p = topology_plane(t, f, &area);
        int32_t size = topology_size(t, f), *corners = t->vertex + topology_first(t, f);
        if (size == 3 || face_flatness(t, f, p) <= t->weld) {
            draft_face(w, &d, corners, size, w->file_face[f]);
            continue;
        }
        fine = array_reserve(w->context, &triangles, 3 * (int64_t)(size - 2));
        if (fine && size == 4)
            split_quad(t, corners, triangles.data);
        else if (fine)
            fine = triangulate_polygon(w->context, t->position, corners, size, p.n, triangles.data);
        for (int32_t i = 0; i < size - 2 && fine; i++)
            draft_face(w, &d, triangles.data + 3 * i, 3, w->file_face[f]);
        abut_finding *line = note(w, ABUT_DEFECT_NONPLANAR_FACE, w->file_face[f]);
        if (line)
            report_text(line, "split face %d, which was not planar, into %d triangles", w->file_face[f],
                        size - 2);
    }
    fine = fine && draft_finish(w, &d, t);
    array_free(w->context, &triangles);
    draft_free(w, &d);
    return fine;
}

/* ---- flip */

static void reverse(abut_mesh *m, int32_t face) {
    for (int64_t i = m->face_start[face], j = m->face_start[face + 1] - 1; i < j; i++, j--) {
        int swap = m->corners[i];
        m->corners[i] = m->corners[j], m->corners[j] = swap;
    }
}

static bool flip_faces(workshop *w, topology *t) {
    orientation o;
    if (t->flipped_edges == 0) return true;
    if (!check_orientation(t, &o)) return false;
    for (int32_t f = 0; f < t->face_count && o.twisted < 0; f++) {
        if (!o.flip[f]) continue;
        reverse(w->mesh, f);
        abut_finding *line = note(w, ABUT_DEFECT_FLIPPED_FACE, w->file_face[f]);
        if (line) report_text(line, "reversed face %d, which disagreed with its neighbours", w->file_face[f]);
    }
    return true;
}

/* Shells inside an even number of others bound material and have a positive volume, the others are cavities.
 * Where every shell is the wrong way, the whole file is inside out; otherwise only shells outside of all
 * others are turned, because one inside another may be meant either way. */
static abut_status flip_shells(workshop *w, topology *t, abut_error *error) {
    if (!topology_closed(t)) return ABUT_OK;
    scratch *m = &t->memory;
    int32_t *component = scratch_take(m, t->face_count, sizeof *component);
    if (!component) return fail_memory(error);
    int32_t count = topology_components(t, component), wrong = 0;
    double *volume = scratch_take(m, 2 * (int64_t)count, sizeof *volume);
    int *depth = scratch_take(m, 2 * (int64_t)count, sizeof *depth), *within = depth ? depth + count : NULL;
    bool *touch = scratch_take(m, count, sizeof *touch);
    if (!volume || !depth || !touch) return fail_memory(error);
    mass_of_mesh(t, component, count, volume, volume + count);
    abut_status status = shells_nest(t, component, count, depth, touch, within, error);
    if (status) return status;
    for (int32_t k = 0; k < count; k++) wrong += (volume[k] < 0) == (within[k] % 2 == 0);
    int32_t next = 0;
    for (int32_t f = 0; f < t->face_count; f++) {
        int32_t k = component[f];
        if (!(wrong == count || (volume[k] < 0 && within[k] == 0))) continue;
        reverse(w->mesh, f);
        if (k < next) continue;
        next = k + 1;
        abut_finding *line = note(w, ABUT_DEFECT_INSIDE_OUT, w->file_face[f]);
        if (line)
            report_text(line, "reversed all faces of the shell of face %d, which was inside out",
                        w->file_face[f]);
    }
    return ABUT_OK;
}

/* ---- all */

static abut_status repair_surface(workshop *w, abut_error *error) {
    topology t;
    bool again = true;
    for (int round = 0; round < FOLDING_ROUNDS && again; round++) {
        abut_status status =
            topology_make(&t, w->context, w->mesh ? w->mesh : w->original, w->options.weld, error);
        if (status) return status;
        if (round == 0) note_welded(w, &t);
        bool fine = drop_faces(w, &t, &again);
        topology_free(&t);
        if (!fine) return fail_memory(error);
        if (w->mesh->face_count == 0) return ABUT_OK;
    }
    abut_status status = topology_make(&t, w->context, w->mesh, -1, error);
    if (status) return status;
    t.weld = w->options.weld * t.diagonal;
    bool fine = split_faces(w, &t);
    topology_free(&t);
    return fine ? ABUT_OK : fail_memory(error);
}

static abut_status repair_orientation(workshop *w, abut_error *error) {
    topology t;
    if (w->mesh->face_count == 0) return ABUT_OK;
    abut_status status = topology_make(&t, w->context, w->mesh, -1, error);
    if (status) return status;
    bool fine = flip_faces(w, &t);
    topology_free(&t);
    if (!fine) return fail_memory(error);
    status = topology_make(&t, w->context, w->mesh, -1, error);
    if (status) return status;
    status = flip_shells(w, &t, error);
    topology_free(&t);
    return status;
}

static abut_status check_again(workshop *w, abut_error *error) {
    abut_report *left = NULL;
    abut_status status = abut_mesh_check(w->context, w->mesh, &w->options, &left, error);
    if (status) return status;
    for (int64_t i = 0; i < left->finding_count && !status; i++)
        if (left->findings[i].is_error)
            status = fail_at(error, ABUT_INVALID, w->original->file, left->findings[i].line,
                             "after the safe repairs this is left (numbers count in the repaired mesh): %s",
                             left->findings[i].message);
    abut_report_free(w->context, left);
    return status;
}

abut_status abut_mesh_repair(const abut_context *context, const abut_mesh *mesh,
                             const abut_solid_options *options, abut_mesh **repaired, abut_report **report,
                             abut_error *error) {
    workshop w = {.context = context, .original = mesh};
    w.options = options ? *options : abut_default_solid_options();
    *report = NULL;
    if (!report_open(&w.report, context, mesh, w.options.limit)) return fail_memory(error);
    abut_status status = mesh->face_count > 0
                             ? repair_surface(&w, error)
                             : fail_at(error, ABUT_INVALID, mesh->file, 0,
                                       "the mesh has no faces; give polygons that enclose a volume");
    if (!status) status = repair_orientation(&w, error);
    if (!status) status = check_again(&w, error);
    if (w.mesh) mem_free(context, w.file_face, (size_t)w.mesh->face_count, sizeof *w.file_face);
    abut_report *closed = report_close(&w.report);
    if (!closed && !status) status = fail_memory(error);
    if (closed) closed->is_valid = status == ABUT_OK;
    if (status == ABUT_OK || status == ABUT_INVALID)
        *report = closed;
    else
        abut_report_free(context, closed);
    if (status)
        abut_mesh_free(context, w.mesh);
    else
        *repaired = w.mesh;
    return status;
}
