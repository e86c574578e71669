/* abut contacts REC --at T: contact regions with normals, forces and friction state.  Frames are recorded;
 * for other times the scene goes on from the last snapshot before T. */
#include "cli.h"
#include "replay.h"

static const char *const states[] = {"frictionless", "stick", "slip"};
static const char *const representations[] = {"region", "manifold", "rolling"};

static json_t *vectors_json(const abut_vec3 *v, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, cli_json_vec3(v[i]));
    return list;
}

static json_t *entity_json(abut_entity e) {
    return json_pack("{s:s,s:I}", "kind", abut_entity_name(e.kind), "id", (json_int_t)e.id);
}

/* Of an area that is not the hull of its points. */
static json_t *border_json(const abut_contact *c) {
    json_t *list = json_array();
    for (int i = 0; i < c->loop_count; i++)
        json_array_append_new(
            list, vectors_json(c->corners + c->loop_start[i], c->loop_start[i + 1] - c->loop_start[i]));
    return list;
}

static json_t *contact_json(const abut_recording *r, const abut_contact *c) {
    json_t *out = json_pack(
        "{s:[s,s],s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:s,s:f,s:o,s:b}", "bodies",
        abut_recording_body_name(r, c->body[0]), abut_recording_body_name(r, c->body[1]), "representation",
        representations[c->representation], "dimension", c->dimension, "a", entity_json(c->entity[0]), "b",
        entity_json(c->entity[1]), "points", vectors_json(c->points, c->point_count), "normals",
        vectors_json(c->normals, c->point_count), "forces", vectors_json(c->forces, c->point_count), "state",
        states[c->state], "area", c->area, "center_of_pressure", cli_json_vec3(c->center_of_pressure),
        "determined", (int)c->determined);
    if (c->loop_count) json_object_set_new(out, "border", border_json(c));
    return out;
}

static void print_contact(const abut_recording *r, const abut_contact *c) {
    printf("%s on %s: %dD, %s, area %.9g m2%s\n", abut_recording_body_name(r, c->body[0]),
           abut_recording_body_name(r, c->body[1]), c->dimension, states[c->state], c->area,
           c->determined ? "" : ", forces of least norm");
    for (int i = 0; i < c->point_count; i++)
        printf("  at %.9g %.9g %.9g  normal %.6g %.6g %.6g  force %.9g %.9g %.9g N\n", c->points[i].x,
               c->points[i].y, c->points[i].z, c->normals[i].x, c->normals[i].y, c->normals[i].z,
               c->forces[i].x, c->forces[i].y, c->forces[i].z);
}

static int print_contacts(const abut_recording *r, double t, const abut_contact *contacts, int count,
                          bool json) {
    if (!json) {
        if (count == 0) printf("nothing touches at t = %.9g s\n", t);
        for (int i = 0; i < count; i++) print_contact(r, &contacts[i]);
        return EXIT_DONE;
    }
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, contact_json(r, &contacts[i]));
    return cli_print_json(json_pack("{s:f,s:o}", "time", t, "contacts", list));
}

/* Between frames: the recording's scene, from its last snapshot to T. */
static int contacts_between(abut_recording *r, double t, bool json) {
    abut_error error = {0};
    replay again = {0};
    const abut_contact *contacts = NULL;
    int count = replay_contacts(&again, r, t, &contacts, &error);
    int status = count >= 0 ? print_contacts(r, t, contacts, count, json) : cli_error(&error);
    replay_free(&again);
    return status;
}

int command_contacts(int argc, char **argv) {
    const char *at_text = NULL;
    bool json = false;
    const cli_option options[] = {{.name = "--at", .value = &at_text}, {.name = "--json", .flag = &json}};
    cli_call call = {.command = "contacts",
                     .arguments = "REC --at T [--json]",
                     .options = options,
                     .option_count = 2,
                     .least = 1,
                     .most = 1};
    abut_recording *recording = NULL;
    abut_error error = {0};
    int status;
    if (!cli_open_recording(&call, argc, argv, &recording, &status)) return status;
    double at = 0;
    bool given = at_text && cli_number("contacts: --at", at_text, &at);
    int64_t frame = given ? abut_recording_find_frame(recording, at) : -1;
    if (!at_text) {
        status = cli_complain("contacts: --at is missing; usage: abut contacts %s", call.arguments);
    } else if (!given) {
        status = EXIT_WRONG;
    } else if (at < 0 || at > abut_recording_end(recording) + 1e-9) {
        status = cli_complain("contacts: t = %g is outside the recording, which goes from 0 to %g", at,
                              abut_recording_end(recording));
    } else if (frame >= 0 && !replay_is_before_steps(recording, at)) {
        const abut_contact *contacts;
        int count = abut_recording_contacts(recording, frame, &contacts, &error);
        status = count >= 0 ? print_contacts(recording, at, contacts, count, json) : cli_error(&error);
    } else {
        status = contacts_between(recording, at, json);
    }
    abut_recording_close(recording);
    return status;
}
