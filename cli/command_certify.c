/* abut certify REC: whether the run kept its promises, by an independent look at the recorded states. */
#include "cli.h"

static int print_json(const abut_certificate *c) {
    json_t *bodies = c->deepest_overlap > 0 ? json_pack("[s,s]", c->overlap_bodies[0], c->overlap_bodies[1])
                                            : json_array();
    return cli_print_json(json_pack(
        "{s:b,s:I,s:I,s:f,s:f,s:f,s:o,s:f,s:f,s:f,s:I,s:I,s:f,s:f,s:f,s:f,s:f,s:s}", "promises_kept",
        (int)c->kept, "frames", (json_int_t)c->frames, "pairs", (json_int_t)c->pairs, "deepest_overlap_m",
        c->deepest_overlap, "overlap_limit_m", c->overlap_limit, "overlap_time", c->overlap_time,
        "overlap_bodies", bodies, "energy_error_relative", c->energy_error, "energy_error_time",
        c->energy_time, "momentum_error_relative", c->momentum_error, "impacts", (json_int_t)c->impacts,
        "impacts_that_gain", (json_int_t)c->impacts_that_gain, "impulse_error_m_s", c->impulse_error,
        "impulse_limit_m_s", c->impulse_limit, "path_error_m", c->path_error, "hinge_error_m", c->hinge_error,
        "hinge_limit_m", c->hinge_limit, "broken", c->broken));
}

static int print_table(const char *path, const abut_certificate *c) {
    printf("%s: %lld frames, %lld near pairs, %lld impacts looked at again\n", path, (long long)c->frames,
           (long long)c->pairs, (long long)c->impacts);
    if (c->deepest_overlap > 0)
        printf("  %-18s about %.3g m, `%s` and `%s` at t = %.9g s (promised: %.3g m)\n", "deepest overlap",
               c->deepest_overlap, c->overlap_bodies[0], c->overlap_bodies[1], c->overlap_time,
               c->overlap_limit);
    else
        printf("  %-18s none beyond epsilon\n", "overlap");
    printf("  %-18s %.3g of the largest energy\n", "energy balance", c->energy_error);
    printf("  %-18s %.3g\n", "momentum", c->momentum_error);
    printf("  %-18s %.3g m/s more or less than their jumps (promised: %.3g m/s)\n", "impulses",
           c->impulse_error, c->impulse_limit);
    printf("  %-18s jumps by at most %.3g m\n", "dense output", c->path_error);
    printf("  %-18s open by at most %.3g m (promised: %.3g m)\n", "hinges", c->hinge_error, c->hinge_limit);
    printf("  %-18s %s\n", "promises", c->kept ? "kept" : c->broken);
    return fflush(stdout) ? EXIT_WRONG : EXIT_DONE;
}

int command_certify(int argc, char **argv) {
    bool json = false;
    const cli_option options[] = {{.name = "--json", .flag = &json}};
    cli_call call = {.command = "certify",
                     .arguments = "REC [--json]",
                     .options = options,
                     .option_count = 1,
                     .least = 1,
                     .most = 1};
    abut_recording *recording = NULL;
    abut_error error = {0};
    abut_certificate certificate;
    int status;
    if (!cli_open_recording(&call, argc, argv, &recording, &status)) return status;
    if (abut_recording_certify(NULL, recording, &certificate, &error) != ABUT_OK)
        status = cli_error(&error);
    else
        status = json ? print_json(&certificate) : print_table(call.positional[0], &certificate);
    abut_recording_close(recording);
    return status == EXIT_DONE && !certificate.kept ? EXIT_NOT_MET : status;
}
