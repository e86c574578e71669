/* abut export REC --to FORMAT -o OUT: a recording as a file for other programs. */
#include "cli.h"
#include "export_html.h"

#include <string.h>

static bool find_format(const char *word, abut_export_format *format) {
    for (int i = 0; i < ABUT_EXPORT_FORMATS; i++)
        if (strcmp(word, abut_export_name((abut_export_format)i)) == 0) {
            *format = (abut_export_format)i;
            return true;
        }
    return false;
}

static int report_done(const char *path, const abut_export_report *r, bool json) {
    if (json)
        return cli_print_json(json_pack("{s:s, s:I, s:I, s:I, s:i, s:I}", "output", path, "files",
                                        (json_int_t)r->files, "bytes", (json_int_t)r->bytes, "frames",
                                        (json_int_t)r->frames, "bodies", r->bodies, "left_out",
                                        (json_int_t)r->left_out));
    printf("%s: %lld frames of %d bodies, ", path, (long long)r->frames, r->bodies);
    if (r->files != 1) printf("%lld files, ", (long long)r->files);
    if (r->bytes < 100000)
        printf("%.1f kB\n", (double)r->bytes / 1e3);
    else
        printf("%.1f MB\n", (double)r->bytes / 1e6);
    if (r->left_out) printf("%lld marks of contacts were left out: too many\n", (long long)r->left_out);
    return EXIT_DONE;
}

static int export_to(const char *recording_path, const char *path, const abut_export_options *options,
                     bool html, bool json) {
    abut_recording *recording = NULL;
    abut_error error = {0};
    abut_export_report report;
    if (abut_recording_open(NULL, recording_path, &recording, &error) != ABUT_OK) return cli_error(&error);
    abut_status s = html ? export_html(recording, path, &report, &error)
                         : abut_recording_export(NULL, recording, path, options, &report, &error);
    abut_recording_close(recording);
    if (s == ABUT_OK) return report_done(path, &report, json);
    if (!error.file[0]) snprintf(error.file, sizeof error.file, "%s", recording_path);
    return cli_error(&error);
}

int command_export(int argc, char **argv) {
    const char *to = NULL, *path = NULL, *begin = NULL, *end = NULL, *every = NULL;
    bool stop, json = false, bare = false;
    const cli_option list[] = {
        {.name = "--to", .value = &to},       {.name = "-o", .value = &path},
        {.name = "--begin", .value = &begin}, {.name = "--end", .value = &end},
        {.name = "--every", .value = &every}, {.name = "--without-contacts", .flag = &bare},
        {.name = "--json", .flag = &json}};
    cli_call call = {.command = "export",
                     .arguments = "REC --to glb|rib|usda|html|csv -o OUT [--begin T] [--end T] [--every N] "
                                  "[--without-contacts] [--json]",
                     .options = list,
                     .option_count = (int)(sizeof list / sizeof list[0]),
                     .least = 1,
                     .most = 1};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    abut_export_options options = abut_default_export();
    if (!to || !path)
        return cli_complain("export: %s is missing; usage: abut export %s", to ? "-o" : "--to",
                            call.arguments);
    bool html = strcmp(to, "html") == 0; /* the page is the command's, not the library's */
    if (!html && !find_format(to, &options.format))
        return cli_complain("export: there is no format `%s`; take glb, rib, usda, html or csv", to);
    long n = 1;
    if ((begin && !cli_number("export: --begin", begin, &options.begin)) ||
        (end && !cli_number("export: --end", end, &options.end)) ||
        (every && !cli_integer("export: --every", every, 1, 1000000000, &n)))
        return EXIT_WRONG;
    if (html && (begin || end || every || bare))
        return cli_complain("export: the page holds the whole recording; leave --begin, --end, --every and "
                            "--without-contacts away");
    options.every = n, options.without_contacts = bare;
    return export_to(call.positional[0], path, &options, html, json);
}
