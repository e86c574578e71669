#include <abut/abut.h>
#include <stdio.h>

int main(int argc, char **argv) {
    abut_mesh *mesh = NULL;
    abut_solid *solid = NULL;
    abut_error error = {0};
    if (argc < 2 || abut_mesh_load(NULL, argv[1], &mesh, &error) != ABUT_OK ||
        abut_solid_build(NULL, mesh, NULL, &solid, &error) != ABUT_OK)
        return fprintf(stderr, "%s:%d: %s\n", error.file, error.line, error.message), 1;
    printf("abut %s: volume %.6g\n", abut_version(), abut_solid_facts_of(solid).volume);
    abut_solid_free(NULL, solid);
    abut_mesh_free(NULL, mesh);
    return 0;
}
