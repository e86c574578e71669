/* abut view [SCENE|REC]: serves the page on loopback until it is interrupted. */
#define _DEFAULT_SOURCE
#include "view_server.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* SQLite files begin with these bytes; everything else is a scene. */
static bool is_recording(const char *path) {
    char head[16] = "";
    FILE *file = fopen(path, "rb");
    bool is = file && fread(head, 1, 16, file) == 16 && memcmp(head, "SQLite format 3", 16) == 0;
    if (file) fclose(file);
    return is;
}

/* The address goes to the browser in a private file that leads on to it: arguments of a program can be read
 * by everybody on the machine. */
static bool write_door(const char *address, char *path, size_t size) {
    const char *folder = getenv("XDG_RUNTIME_DIR");
    snprintf(path, size, "%s/abut-view-XXXXXX.html", folder && *folder ? folder : "/tmp");
    int file = mkstemps(path, 5);
    if (file < 0) return false;
    FILE *out = fdopen(file, "w");
    if (!out) {
        close(file);
        return false;
    }
    fprintf(out,
            "<!doctype html><meta charset=\"utf-8\"><title>abut</title>"
            "<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
            address);
    return fclose(out) == 0;
}

static void open_browser(const char *door) {
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
        execlp("xdg-open", "xdg-open", door, (char *)NULL);
        execlp("sensible-browser", "sensible-browser", door, (char *)NULL);
        _exit(127);
    }
}

static int serve(const view_server_def *def, bool browser) {
    view_server *server;
    sigset_t signals;
    char door[600] = "";
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT), sigaddset(&signals, SIGTERM), sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before any thread begins: all of them inherit it */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    int status = view_server_start(def, &server);
    if (status != EXIT_DONE) return status;
    printf("%s\n", view_server_address(server));
    fprintf(stderr, "abut: serving on this machine only; Ctrl-C ends it\n");
    fflush(stdout);
    if (browser && write_door(view_server_address(server), door, sizeof door)) open_browser(door);
    int number;
    sigwait(&signals, &number);
    if (door[0]) unlink(door);
    view_server_stop(server);
    return EXIT_DONE;
}

int command_view(int argc, char **argv) {
    const char *port_text = NULL, *root = NULL;
    bool no_browser = false, stop;
    const cli_option options[] = {{.name = "--port", .value = &port_text},
                                  {.name = "--root", .value = &root},
                                  {.name = "--no-browser", .flag = &no_browser}};
    cli_call call = {.command = "view",
                     .arguments = "[SCENE|REC] [--port N] [--root FOLDER] [--no-browser]",
                     .options = options,
                     .option_count = 3,
                     .least = 0,
                     .most = 1};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    long port = 0;
    if (port_text && !cli_integer("view: --port", port_text, 0, 65535, &port)) return EXIT_WRONG;
    view_server_def def = {.port = (int)port, .root = root};
    const char *file = call.positional_count ? call.positional[0] : NULL;
    if (file && access(file, R_OK) != 0) return cli_complain("%s: cannot be read; is it there?", file);
    if (file && is_recording(file))
        def.recording = file;
    else
        def.scene = file;
    return serve(&def, !no_browser);
}
