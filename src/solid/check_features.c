/* Features too small for the touching distance. */
#include "solid/check.h"
#include "solid/features.h"

#include "math/eigen.h"

double check_thickness_of(const topology *t) {
    vec3 mean = {0, 0, 0}, values;
    mat3 spread = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, axes;
    double scale = t->diagonal > 0 ? 1 / t->diagonal : 1, lower = INFINITY, upper = -INFINITY;
    for (int32_t v = 0; v < t->vertex_count; v++)
        mean = vec3_axpy(mean, scale / t->vertex_count, t->position[v]);
    for (int32_t v = 0; v < t->vertex_count; v++) {
        vec3 d = vec3_sub(vec3_scale(t->position[v], scale), mean);
        spread = mat3_add(spread, mat3_outer(d, d));
    }
    sym3_eigen(spread, &values, &axes);
    for (int32_t v = 0; v < t->vertex_count; v++) {
        double x = vec3_dot(axes.cx, t->position[v]);
        lower = x < lower ? x : lower, upper = x > upper ? x : upper;
    }
    return upper - lower;
}

void check_thickness(reporter *r, const topology *t, double epsilon) {
    double thickness = check_thickness_of(t);
    if (thickness > epsilon) return;
    abut_finding *f = report_add(r, ABUT_DEFECT_TOO_THIN);
    if (!f) return;
    report_vertex(f, t, 0);
    report_text(f,
                "the mesh is %.6g across and only %.3g thick, less than the touching distance %.3g; make it "
                "thicker or "
                "set a smaller epsilon",
                t->diagonal, thickness, epsilon);
}

/* The point of the file at a vertex of the solid. */
static int64_t file_point(const abut_mesh *m, vec3 p) {
    for (int64_t i = 0; i < m->point_count; i++)
        if (m->points[i].x == p.x && m->points[i].y == p.y && m->points[i].z == p.z) return i;
    return -1;
}

/* The first face of the file that became part of a maximal face. */
static int64_t file_face(const abut_solid *s, int32_t face) {
    for (int64_t f = 0; f < s->file_face_count; f++)
        if (solid_file_faces(s)[f] == face) return f;
    return -1;
}

static void place(const reporter *r, abut_finding *f, const abut_solid *s, int32_t edge) {
    int64_t ends[2], faces[2];
    abut_solid_edge(s, edge, ends, faces);
    for (int i = 0; i < 2; i++) {
        f->edge[i] = file_point(r->mesh, abut_solid_vertex(s, ends[i]));
        f->face[i] = file_face(s, (int32_t)faces[i]);
    }
    f->at = vec3_lerp(abut_solid_vertex(s, ends[0]), abut_solid_vertex(s, ends[1]), 0.5);
    if (r->mesh->face_lines && f->face[0] >= 0) f->line = r->mesh->face_lines[f->face[0]];
}

/* Edges shorter than alpha, and edges whose faces lean by less than the touching distance. */
static void check_feature_edges(reporter *r, const abut_solid *s, double alpha) {
    for (int32_t e = 0; e < s->edge_count; e++) {
        const solid_edge *edge = &solid_edges(s)[e];
        double length = vec3_distance(solid_position(s, edge->vertex[0]), solid_position(s, edge->vertex[1]));
        double step = edge->convexity ? feature_step(s, e) : INFINITY;
        if (length >= alpha && step >= s->epsilon) continue;
        abut_finding *f = report_add(r, ABUT_DEFECT_SMALL_FEATURE);
        if (!f) continue;
        place(r, f, s, e);
        if (length < alpha)
            report_text(
                f,
                "edge %lld-%lld is %.3g long, less than %.3g, the smallest feature that contact can tell "
                "apart; remove the detail or set a smaller epsilon",
                (long long)f->edge[0], (long long)f->edge[1], length, alpha);
        else
            report_text(
                f,
                "faces %lld and %lld at edge %lld-%lld are nearly coplanar: they leave one plane by %.3g, "
                "less than the touching distance %.3g; flatten them or set a smaller epsilon",
                (long long)f->face[0], (long long)f->face[1], (long long)f->edge[0], (long long)f->edge[1],
                step, s->epsilon);
    }
}

/* Faces that are narrower than alpha somewhere, and not because of a short edge. */
static abut_status check_feature_faces(reporter *r, const abut_solid *s, double alpha, abut_error *error) {
    for (int32_t i = 0; i < s->face_count; i++) {
        double best2 = alpha * alpha;
        if (!feature_of_face(r->context, s, i, &best2)) return fail_memory(error);
        if (best2 >= alpha * alpha) continue;
        abut_finding *f = report_add(r, ABUT_DEFECT_SMALL_FEATURE);
        if (!f) continue;
        f->face[0] = file_face(s, i);
        const solid_loop *l = &solid_loops(s)[solid_faces(s)[i].first_loop];
        f->at = abut_solid_vertex(s, solid_coedges(s)[l->coedge].vertex);
        if (r->mesh->face_lines && f->face[0] >= 0) f->line = r->mesh->face_lines[f->face[0]];
        report_text(
            f,
            "face %lld is %.3g wide at its narrowest, less than %.3g, the smallest feature that contact can "
            "tell apart; remove the detail or set a smaller epsilon",
            (long long)f->face[0], sqrt(best2), alpha);
    }
    return ABUT_OK;
}

abut_status check_features(reporter *r, const abut_solid *s, const abut_solid_options *options,
                           abut_error *error) {
    double alpha = options->feature * s->diagonal;
    check_feature_edges(r, s, alpha);
    return check_feature_faces(r, s, alpha, error);
}
