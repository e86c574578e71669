/* abut events REC: every event, as a table or as JSON. */
#include "cli.h"

#include <math.h>

typedef struct printer {
    abut_recording *recording;
    json_t *list; /* NULL: a table */
} printer;

static json_t *entity_json(abut_entity e) {
    return json_pack("{s:s,s:I}", "kind", abut_entity_name(e.kind), "id", (json_int_t)e.id);
}

static const char *name_of(const printer *p, int body) {
    return body >= 0 ? abut_recording_body_name(p->recording, body) : "ground";
}

/* Events of the user have the bodies that were named, which need not be two. */
static int bodies_of(const abut_event *e) {
    return e->kind != ABUT_EVENT_USER || e->body[1] >= 0 ? 2 : e->body[0] >= 0;
}

static json_t *event_json(const printer *p, const abut_event *e) {
    json_t *bodies = json_array();
    for (int i = 0; i < bodies_of(e); i++) json_array_append_new(bodies, json_string(name_of(p, e->body[i])));
    json_t *out = json_pack("{s:f,s:s,s:o,s:[o,o],s:o,s:o,s:o,s:f,s:f,s:i}", "time", e->time, "kind",
                            abut_event_name(e->kind), "bodies", bodies, "entities", entity_json(e->entity[0]),
                            entity_json(e->entity[1]), "point", cli_json_vec3(e->point), "normal",
                            cli_json_vec3(e->normal), "impulse", cli_json_vec3(e->impulse), "energy_before",
                            e->energy_before, "energy_after", e->energy_after, "count", e->count);
    if (e->name) json_object_set_new(out, "name", json_string(e->name));
    return out;
}

static bool print_event(void *user, const abut_event *e) {
    printer *p = user;
    if (p->list) return json_array_append_new(p->list, event_json(p, e)) == 0;
    double impulse =
        sqrt(e->impulse.x * e->impulse.x + e->impulse.y * e->impulse.y + e->impulse.z * e->impulse.z);
    printf("%-18.12g %-22s", e->time, abut_event_name(e->kind));
    for (int i = 0; i < bodies_of(e); i++) printf("%s%s", i ? ", " : " ", name_of(p, e->body[i]));
    if (e->name) printf("  `%s`", e->name);
    if (e->entity[0].kind != ABUT_ENTITY_NONE)
        printf("  %s %lld, %s %lld", abut_entity_name(e->entity[0].kind), (long long)e->entity[0].id,
               abut_entity_name(e->entity[1].kind), (long long)e->entity[1].id);
    if (impulse > 0) printf("  impulse %.9g N s", impulse);
    return putchar('\n') != EOF;
}

int command_events(int argc, char **argv) {
    bool json = false;
    const cli_option options[] = {{.name = "--json", .flag = &json}};
    cli_call call = {.command = "events",
                     .arguments = "REC [--json]",
                     .options = options,
                     .option_count = 1,
                     .least = 1,
                     .most = 1};
    printer p = {0};
    abut_error error = {0};
    int status;
    if (!cli_open_recording(&call, argc, argv, &p.recording, &status)) return status;
    if (json) p.list = json_array();
    if (!json) printf("%-18s %-22s %s\n", "time", "kind", "bodies, entities");
    if (abut_recording_events(p.recording, print_event, &p, &error) != ABUT_OK) status = cli_error(&error);
    if (json && status == EXIT_DONE) status = cli_print_json(json_pack("{s:o}", "events", p.list));
    abut_recording_close(p.recording);
    return status;
}
