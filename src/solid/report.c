/* Findings: counted always, listed up to a limit of each kind. */
#include "solid/report.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *word;
    bool is_error;
} defects[] = {
#define DEFECT(name, word, is_error) {word, is_error},
    ABUT_DEFECT_LIST(DEFECT)
#undef DEFECT
};

const char *abut_defect_name(abut_defect defect) {
    return (int)defect >= 0 && (int)defect < COUNT_OF(defects) ? defects[defect].word : "unknown";
}

bool report_open(reporter *r, const abut_context *context, const abut_mesh *mesh, int limit) {
    *r = (reporter){.context = context, .mesh = mesh, .limit = limit > 0 ? limit : 1};
    r->report = mem_calloc(context, 1, sizeof *r->report);
    return r->report != NULL;
}

abut_finding *report_add(reporter *r, abut_defect defect) {
    abut_report *report = r->report;
    if (defects[defect].is_error)
        report->error_count++;
    else
        report->warning_count++;
    if (report->count_of[defect]++ >= r->limit || r->out_of_memory) return NULL;
    if (!array_reserve_(r->context, (void **)&report->findings, &r->capacity, report->finding_count + 1,
                        sizeof *report->findings)) {
        r->out_of_memory = true;
        return NULL;
    }
    abut_finding *f = &report->findings[report->finding_count++];
    *f = (abut_finding){.defect = defect,
                        .is_error = defects[defect].is_error,
                        .face = {-1, -1},
                        .edge = {-1, -1},
                        .vertex = -1};
    return f;
}

void report_text(abut_finding *f, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->message, sizeof f->message, format, arguments); /* cut off where it is longer */
    va_end(arguments);
}

void report_vertex(abut_finding *f, const topology *t, int32_t v) {
    f->vertex = t->point[v];
    f->at = t->mesh->points[t->point[v]];
    if (t->mesh->point_lines) f->line = t->mesh->point_lines[t->point[v]];
}

void report_face(abut_finding *f, const topology *t, int32_t face) {
    vec3 sum = {0, 0, 0};
    int32_t first = topology_first(t, face), size = topology_size(t, face);
    for (int32_t i = 0; i < size; i++) sum = vec3_add(sum, topology_at(t, first + i));
    f->face[0] = face;
    f->at = vec3_add(vec3_scale(sum, 1.0 / size), t->origin);
    if (t->mesh->face_lines) f->line = t->mesh->face_lines[face];
}

void report_edge(abut_finding *f, const topology *t, int32_t c) {
    int32_t v = t->vertex[c], w = t->vertex[topology_next(t, c)];
    f->face[0] = t->face[c];
    f->edge[0] = t->point[v], f->edge[1] = t->point[w];
    f->at = vec3_lerp(t->mesh->points[t->point[v]], t->mesh->points[t->point[w]], 0.5);
    if (t->mesh->face_lines) f->line = t->mesh->face_lines[t->face[c]];
}

abut_report *report_close(reporter *r) {
    abut_report *report = r->report;
    if (r->out_of_memory) {
        mem_free(r->context, report->findings, (size_t)r->capacity, sizeof *report->findings);
        mem_free(r->context, report, 1, sizeof *report);
        return NULL;
    }
    /* exactly as large as its count, which is what abut_report_free knows */
    if (report->finding_count < r->capacity) {
        abut_finding *exact = mem_resize(r->context, report->findings, (size_t)r->capacity,
                                         (size_t)report->finding_count, sizeof *exact);
        if (!exact) {
            r->out_of_memory = true;
            return report_close(r);
        }
        report->findings = exact;
    }
    report->is_valid = report->error_count == 0;
    return report;
}

void abut_report_free(const abut_context *context, abut_report *report) {
    if (!report) return;
    mem_free(context, report->findings, (size_t)report->finding_count, sizeof *report->findings);
    mem_free(context, report, 1, sizeof *report);
}

abut_status report_first_error(const abut_report *report, const abut_mesh *mesh, abut_error *error) {
    for (int64_t i = 0; i < report->finding_count; i++)
        if (report->findings[i].is_error)
            return fail_at(error, ABUT_INVALID, mesh->file, report->findings[i].line, "%s",
                           report->findings[i].message);
    return ABUT_OK;
}
