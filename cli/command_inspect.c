#include "cli.h"

int command_inspect(int argc, char **argv) {
    (void)argc, (void)argv;
    return cli_complain("inspect: being built");
}
