#include "cli.h"

int command_check(int argc, char **argv) {
    (void)argc, (void)argv;
    return cli_complain("check: being built");
}
