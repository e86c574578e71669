/* Solids made of cubes on a grid of 3 x 3 x 3, for tests whose answers are arithmetic of integers. */
#ifndef TESTS_CONTACT_MAKE_CUBES_H
#define TESTS_CONTACT_MAKE_CUBES_H

#include "abut/solid.h"
#include "support.h"

enum { VOXELS = 3 };

typedef struct cubes {
    bool voxel[VOXELS][VOXELS][VOXELS];
} cubes;

static inline bool voxel_at(const cubes *s, int x, int y, int z) {
    return x >= 0 && y >= 0 && z >= 0 && x < VOXELS && y < VOXELS && z < VOXELS && s->voxel[x][y][z];
}

/* Two of eight cubes around a point are joined when they share a square and are both full or both empty; the
 * boundary is a surface there when full and empty ones make one part each. */
static inline bool is_surface_at(const cubes *s, int x, int y, int z) {
    int part[8], parts[2] = {0, 0};
    bool full[8];
    for (int i = 0; i < 8; i++)
        full[i] = voxel_at(s, x - (i & 1), y - (i >> 1 & 1), z - (i >> 2)), part[i] = i;
    for (int round = 0; round < 8; round++)
        for (int i = 0; i < 8; i++)
            for (int k = 1; k < 8; k *= 2)
                if (full[i] == full[i ^ k] && part[i ^ k] > part[i]) part[i ^ k] = part[i];
    for (int i = 0; i < 8; i++) parts[full[i]] += part[i] == i;
    return parts[0] <= 1 && parts[1] <= 1;
}

static inline bool is_solid(const cubes *s) {
    for (int x = 0; x <= VOXELS; x++)
        for (int y = 0; y <= VOXELS; y++)
            for (int z = 0; z <= VOXELS; z++)
                if (!is_surface_at(s, x, y, z)) return false;
    return true;
}

/* Of cubes of that size, the grid's corner at the origin. */
static inline abut_solid *make_cubes(const cubes *s, double size) {
    enum { GRID = VOXELS + 1, POINTS = GRID * GRID * GRID, SQUARES = 6 * VOXELS * VOXELS * VOXELS };
    abut_vec3 points[POINTS];
    int corners[4 * SQUARES];
    int64_t start[SQUARES + 1] = {0};
    abut_mesh mesh = {.points = points, .corners = corners, .face_start = start, .point_count = POINTS};
    for (int i = 0; i < POINTS; i++)
        points[i] = (abut_vec3){size * (i / GRID / GRID), size * (i / GRID % GRID), size * (i % GRID)};
    for (int v = 0; v < VOXELS * VOXELS * VOXELS; v++)
        for (int axis = 0; axis < 3; axis++)
            for (int side = 0; side < 2; side++) {
                int x[3] = {v / VOXELS / VOXELS, v / VOXELS % VOXELS, v % VOXELS},
                    next[3] = {x[0], x[1], x[2]};
                next[axis] += side ? 1 : -1;
                if (!voxel_at(s, x[0], x[1], x[2]) || voxel_at(s, next[0], next[1], next[2])) continue;
                for (int c = 0; c < 4; c++) {
                    int k = side ? c : 3 - c, p[3] = {x[0], x[1], x[2]};
                    p[axis] += side;
                    p[(axis + 1) % 3] += k == 1 || k == 2, p[(axis + 2) % 3] += k >= 2;
                    corners[mesh.corner_count++] = (p[0] * GRID + p[1]) * GRID + p[2];
                }
                start[++mesh.face_count] = mesh.corner_count;
            }
    abut_solid *solid = NULL;
    abut_error error = {0};
    if (abut_solid_build(NULL, &mesh, NULL, &solid, &error) != ABUT_OK) fail_msg("%s", error.message);
    return solid;
}

static inline void fill_prism(cubes *s, const char *rows, int height, int axis) {
    for (int i = 0; i < VOXELS * VOXELS; i++)
        for (int h = 0; h < height && rows[i] == '#'; h++) {
            int x[3];
            x[axis] = h, x[(axis + 1) % 3] = i % VOXELS, x[(axis + 2) % 3] = i / VOXELS;
            s->voxel[x[0]][x[1]][x[2]] = true;
        }
}

/* A library: boxes, prisms over L, T, U, S and frame outlines along each axis, heaps of cubes. */
static inline void choose_cubes(cubes *s, int most) {
    static const char *const outlines[] = {"##.#.....", "###.#....", "####.####", "##..##...", "###..#..#",
                                           "###.##...", "#.####...", "#.##.####", "####.#...", "###......"};
    int count = 0;
    for (int i = 0; i < 27; i++) /* boxes */
        for (int k = 0; k < 27; k++)
            if (k / 9 <= i / 9 && k / 3 % 3 <= i / 3 % 3 && k % 3 <= i % 3)
                s[i].voxel[k / 9][k / 3 % 3][k % 3] = true;
    count = 27;
    for (int i = 0; i < COUNT_OF(outlines); i++)
        for (int axis = 0; axis < 3; axis++) {
            fill_prism(&s[count], outlines[i], 1 + (i + axis) % 3, axis);
            if (is_solid(&s[count]))
                count++;
            else
                memset(s[count].voxel, 0, sizeof s[count].voxel);
        }
    uint64_t seed = 1;
    while (count < most) { /* heaps: cubes added one by one to the first */
        memset(s[count].voxel, 0, sizeof s[count].voxel);
        int many = support_int(&seed, 3, 18);
        s[count].voxel[1][1][1] = true;
        for (int i = 0; i < 10 * many; i++) {
            int x = support_int(&seed, 0, 2), y = support_int(&seed, 0, 2), z = support_int(&seed, 0, 2);
            bool beside = voxel_at(&s[count], x - 1, y, z) || voxel_at(&s[count], x + 1, y, z) ||
                          voxel_at(&s[count], x, y - 1, z) || voxel_at(&s[count], x, y + 1, z) ||
                          voxel_at(&s[count], x, y, z - 1) || voxel_at(&s[count], x, y, z + 1);
            if (beside) s[count].voxel[x][y][z] = true;
        }
        if (is_solid(&s[count])) count++;
    }
}

#endif
