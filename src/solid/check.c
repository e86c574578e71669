/* abut_mesh_check: what is wrong with a mesh, where, and what to do.  Later stages need what earlier ones ask
 * for, so the first error is the one to mend first. */
#include "solid/check.h"
#include "solid/intersect.h"
#include "solid/mass.h"
#include "solid/planes.h"
#include "solid/shells.h"

enum { MOST_CROSSINGS = 100000 /* the search for crossing faces ends there */ };

/* ---- points */

static void check_points(reporter *r, const topology *t) {
    const abut_mesh *m = t->mesh;
    for (int64_t i = 0; i < m->point_count; i++) {
        int32_t v = t->point_vertex[i];
        if (v >= 0 && (t->point[v] == i || m->separate_corners)) continue;
        abut_finding *f = report_add(r, v < 0 ? ABUT_DEFECT_UNUSED_VERTEX : ABUT_DEFECT_DUPLICATE_VERTEX);
        if (!f) continue;
        f->vertex = i, f->at = m->points[i], f->repairable = true;
        if (m->point_lines) f->line = m->point_lines[i];
        if (v < 0)
            report_text(f, "vertex %lld belongs to no face; remove it", (long long)i);
        else
            report_text(
                f,
                "vertex %lld stands at the place of vertex %d (%.3g apart); building joins them, abut check "
                "--fix writes them as one",
                (long long)i, t->point[v], vec3_distance(m->points[i], m->points[t->point[v]]));
    }
}

/* ---- faces */

static bool check_planes(reporter *r, const topology *t) {
    bool fine = true;
    for (int32_t i = 0; i < t->face_count; i++) {
        double area;
        plane p = topology_plane(t, i, &area);
        if (topology_size(t, i) == 3 || face_width(t, i, area) <= t->weld) continue;
        double flatness = face_flatness(t, i, p);
        if (flatness <= t->weld) continue;
        fine = false;
        abut_finding *f = report_add(r, ABUT_DEFECT_NONPLANAR_FACE);
        if (!f) continue;
        report_face(f, t, i);
        f->repairable = true;
        report_text(
            f,
            "face %d is not planar: a corner lies %.3g off its plane, more than the weld tolerance %.3g; "
            "split it into triangles (abut check --fix does)",
            i, flatness, t->weld);
    }
    return fine;
}

static bool check_degenerate(reporter *r, const topology *t) {
    bool fine = true;
    for (int32_t i = 0; i < t->face_count; i++) {
        double area;
        topology_plane(t, i, &area);
        double width = face_width(t, i, area);
        int32_t repeated = -1;
        for (int32_t c = topology_first(t, i), end = c + topology_size(t, i); c < end; c++)
            if (t->twin[c] == TWIN_LOOP) repeated = t->vertex[c];
        if (width > t->weld && repeated < 0) continue;
        fine = false;
        abut_finding *f = report_add(r, ABUT_DEFECT_DEGENERATE_FACE);
        if (!f) continue;
        report_face(f, t, i);
        f->repairable = true;
        if (repeated >= 0)
            report_text(
                f,
                "face %d uses vertex %d twice in a row; remove one of them, or the face (abut check --fix "
                "does)",
                i, t->point[repeated]);
        else
            report_text(f,
                        "face %d has no area: it is %.3g wide, not more than the weld tolerance %.3g; remove "
                        "it (abut "
                        "check --fix does)",
                        i, width, t->weld);
    }
    return fine;
}

/* Equal sets of corners have equal sums of scrambled numbers. */
static uint64_t corner_key(const topology *t, int32_t face) {
    uint64_t key = (uint64_t)topology_size(t, face);
    for (int32_t c = topology_first(t, face), end = c + topology_size(t, face); c < end; c++)
        key += hash64_mix((uint64_t)t->vertex[c] + 1);
    return key;
}

bool check_same_faces(topology *t, int32_t *same) {
    map64 first = {0};
    bool fine = true;
    for (int32_t f = 0; fine && f < t->face_count; f++) {
        int32_t *slot = map64_put(t->context, &first, corner_key(t, f), f);
        fine = slot != NULL;
        if (fine) same[f] = *slot;
    }
    map64_free(t->context, &first);
    return fine;
}

static bool check_duplicates(reporter *r, topology *t, bool *fine) {
    int32_t *same = scratch_take(&t->memory, t->face_count, sizeof *same);
    if (!same || !check_same_faces(t, same)) return false;
    for (int32_t i = 0; i < t->face_count; i++) {
        if (same[i] == i) continue;
        *fine = false;
        abut_finding *f = report_add(r, ABUT_DEFECT_DUPLICATE_FACE);
        if (!f) continue;
        report_face(f, t, i);
        f->face[1] = same[i], f->repairable = true;
        report_text(f, "face %d has the same corners as face %d; remove one of them (abut check --fix does)",
                    i, same[i]);
    }
    scratch_drop(&t->memory, same);
    return true;
}

/* ---- shells */

static abut_status check_shells(reporter *r, topology *t, abut_error *error) {
    scratch *m = &t->memory;
    int32_t *component = scratch_take(m, t->face_count, sizeof *component);
    if (!component) return fail_memory(error);
    int32_t count = topology_components(t, component);
    double *volume = scratch_take(m, 2 * (int64_t)count, sizeof *volume);
    int *depth = scratch_take(m, count, sizeof *depth);
    bool *touch = scratch_take(m, count, sizeof *touch);
    if (!volume || !depth || !touch) return fail_memory(error);
    mass_of_mesh(t, component, count, volume, volume + count);
    abut_status status = shells_nest(t, component, count, depth, touch, NULL, error);
    if (status) return status;
    int32_t next = 0; /* components are numbered by their first face */
    for (int32_t i = 0; i < t->face_count; i++) {
        if (component[i] != next) continue;
        next++;
        shell_verdict verdict = shells_judge(volume[component[i]], depth[component[i]], touch[component[i]]);
        if (verdict == SHELL_FINE || verdict == SHELL_TOUCHES) continue; /* touching is found face by face */
        abut_finding *f = report_add(r, ABUT_DEFECT_INSIDE_OUT);
        if (!f) continue;
        report_face(f, t, i);
        f->repairable = verdict == SHELL_INSIDE_OUT;
        report_text(
            f, "the shell of face %d (volume %.6g) %s", i, volume[component[i]],
            verdict == SHELL_INSIDE_OUT ? "is inside out; reverse all its faces (abut check --fix does)"
            : verdict == SHELL_NESTED
                ? "lies inside another one; reverse its faces where it is meant as a cavity, or remove it"
                : "encloses no volume; remove it");
    }
    void *done[] = {component, volume, depth, touch};
    for (int i = 0; i < COUNT_OF(done); i++) scratch_drop(m, done[i]);
    return ABUT_OK;
}

/* ---- crossing faces */

static abut_status check_crossings(reporter *r, topology *t, bool with_planes, abut_error *error) {
    face_pairs pairs = {0};
    plane_table table = {0};
    int32_t *plane_of = NULL;
    if (with_planes) {
        abut_status status = planes_make(t, false, &table, error);
        if (status) return status;
        plane_of = table.region; /* from here on: the plane instead of the region */
        for (int32_t f = 0; f < t->face_count; f++) plane_of[f] = table.plane_id[plane_of[f]];
    }
    abut_status status = intersect_faces(t, plane_of, MOST_CROSSINGS, &pairs, error);
    for (int64_t i = 0; i < pairs.count && !status; i++) {
        abut_finding *f = report_add(r, ABUT_DEFECT_SELF_INTERSECTION);
        if (!f) continue;
        const face_pair *pair = &pairs.data[i];
        report_face(f, t, pair->face[0]);
        f->face[1] = pair->face[1], f->at = vec3_add(pair->at, t->origin);
        if (pair->face[0] == pair->face[1])
            report_text(f, "face %d crosses itself; give its corners in order around it", pair->face[0]);
        else
            report_text(f,
                        "faces %d and %d intersect near (%.6g, %.6g, %.6g); move or cut the parts so that "
                        "they do not "
                        "meet",
                        pair->face[0], pair->face[1], f->at.x, f->at.y, f->at.z);
    }
    array_free(t->context, &pairs);
    return status;
}

/* ---- all stages */

/* The topology, then geometry as far as the topology allows. */
static abut_status check_topology(reporter *r, topology *t, const abut_solid_options *o, bool *solid,
                                  abut_error *error) {
    bool fine = true;
    check_thickness(r, t, o->epsilon * t->diagonal);
    fine &= check_degenerate(r, t);
    if (!check_duplicates(r, t, &fine) || !check_edges(r, t) || !check_vertices(r, t))
        return fail_memory(error);
    bool planar = check_planes(r, t);
    check_points(r, t);
    *solid = fine && planar && topology_closed(t) && r->report->count_of[ABUT_DEFECT_NONMANIFOLD_VERTEX] == 0;
    abut_status status = ABUT_OK;
    if (*solid) status = check_shells(r, t, error);
    /* faces that cross are worth knowing also where edges are open or faces flipped, but where faces are bent
     * or do not fit together they cross as a consequence */
    bool regular = fine && planar && t->many_edges == 0 && r->report->count_of[ABUT_DEFECT_T_JUNCTION] == 0;
    if (!status && regular && !o->skip_self_intersection) status = check_crossings(r, t, *solid, error);
    return status;
}

static abut_status check_mesh(reporter *r, const abut_mesh *mesh, const abut_solid_options *o,
                              abut_error *error) {
    if (mesh->face_count == 0) {
        abut_finding *f = report_add(r, ABUT_DEFECT_EMPTY);
        if (f) report_text(f, "the mesh has no faces; give polygons that enclose a volume");
        return ABUT_OK;
    }
    topology t;
    bool solid;
    abut_status status = topology_make(&t, r->context, mesh, o->weld, error);
    if (status) return status;
    status = check_topology(r, &t, o, &solid, error);
    topology_free(&t);
    if (status || r->report->error_count > 0) return status;
    /* what is left is building it, and looking at its features */
    abut_solid *s = NULL;
    abut_error why = {0};
    abut_solid_options again = *o;
    again.skip_self_intersection = true;
    status = solid_build_quietly(r->context, mesh, &again, &s, &why);
    if (status == ABUT_INVALID) {
        abut_finding *f = report_add(r, ABUT_DEFECT_TOO_THIN);
        if (f) report_text(f, "%s", why.message);
        return ABUT_OK;
    }
    if (!status) status = check_features(r, s, o, error);
    abut_solid_free(r->context, s);
    return status ? fail(error, status, "%s", status == ABUT_NO_MEMORY ? "memory ran out" : why.message)
                  : ABUT_OK;
}

abut_status abut_mesh_check(const abut_context *context, const abut_mesh *mesh,
                            const abut_solid_options *options, abut_report **report, abut_error *error) {
    abut_solid_options o = options ? *options : abut_default_solid_options();
    reporter r;
    if (!report_open(&r, context, mesh, o.limit)) return fail_memory(error);
    abut_status status = check_mesh(&r, mesh, &o, error);
    abut_report *closed = report_close(&r);
    if (!status && !closed) status = fail_memory(error);
    if (status) {
        abut_report_free(context, closed);
        return status;
    }
    *report = closed;
    return ABUT_OK;
}
