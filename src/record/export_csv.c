/* CSV: one row a frame and body, `t,body,` and the columns of `abut track`; doubles read back bit for bit. */
#include "record/export_scene.h"

/* A field as RFC 4180 has it: between quotes where it needs them, quotes doubled. */
static void put_field(export_out *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        out_text(out, text);
        return;
    }
    out_text(out, "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"') out_text(out, "\"");
        out_bytes(out, p, 1);
    }
    out_text(out, "\"");
}

static void put_row(export_out *out, double t, const char *name, const abut_motion *m) {
    const vec3 *v[] = {&m->velocity, &m->spin, &m->acceleration, &m->spin_rate};
    out_number(out, t);
    out_text(out, ",");
    put_field(out, name);
    out_text(out, ",");
    out_vec3(out, m->center, ",");
    out_text(out, ",");
    out_numbers(out, (const double[]){m->rotation.w, m->rotation.x, m->rotation.y, m->rotation.z}, 4, ",");
    for (int i = 0; i < COUNT_OF(v); i++) {
        out_text(out, ",");
        out_vec3(out, *v[i], ",");
    }
    out_text(out, "\n");
}

abut_status export_csv(export_scene *s, const char *path, abut_export_report *report, abut_error *error) {
    export_out out;
    abut_status status = out_open(s->context, path, &out, error);
    if (status != ABUT_OK) return status;
    out_text(&out, "t,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,ax,ay,az,alphax,alphay,alphaz\n");
    for (int64_t f = 0; f < s->frame_count && status == ABUT_OK; f++) {
        status = export_frame_motions(s, f, error);
        for (int i = 0; i < s->body_count && status == ABUT_OK; i++)
            put_row(&out, s->times[f], s->bodies[i].name, &s->motions[i]);
        if (status == ABUT_OK) status = out_status(&out, error);
    }
    report->files = 1, report->bytes = out.bytes;
    if (status == ABUT_OK) return out_close(&out, error);
    out_discard(&out);
    return status;
}
