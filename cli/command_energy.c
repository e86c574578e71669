/* abut energy REC: energies and momenta of every frame as CSV. */
#include "cli.h"

static abut_status print_rows(abut_recording *recording, abut_error *error) {
    printf("t,kinetic,potential,dissipated,total,px,py,pz,lx,ly,lz\n");
    abut_status status = ABUT_OK;
    for (int64_t i = 0; i < abut_recording_frames(recording) && status == ABUT_OK; i++) {
        abut_frame f;
        status = abut_recording_frame(recording, i, &f, error);
        if (status != ABUT_OK) break;
        const abut_energy *e = &f.energy;
        printf("%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", f.time, e->kinetic,
               e->potential, e->dissipated, e->kinetic + e->potential, e->momentum.x, e->momentum.y,
               e->momentum.z, e->angular_momentum.x, e->angular_momentum.y, e->angular_momentum.z);
    }
    return status;
}

int command_energy(int argc, char **argv) {
    cli_call call = {.command = "energy", .arguments = "REC", .least = 1, .most = 1};
    abut_recording *recording = NULL;
    abut_error error = {0};
    int status;
    if (!cli_open_recording(&call, argc, argv, &recording, &status)) return status;
    if (print_rows(recording, &error) != ABUT_OK) status = cli_error(&error);
    abut_recording_close(recording);
    return status;
}
