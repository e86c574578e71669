/* Primitives: box, prism, tetrahedron, and the faceted sphere, cylinder and torus.  All centred at the
 * origin, axes along z, the first vertex of a circle on +x.  Each makes the mesh and builds it like any
 * other.
 *
 * Circles are computed here, from integers, so that the same call gives the same bits on every machine and
 * mirrored vertices are exact mirror images. */
#include "solid/read.h"

#include <math.h>

/* Bounds the memory that one call can ask for. */
enum { MOST_FACES = 1 << 26 };

/* (cos, sin) of 2 pi i / n, 0 <= i < n.  The octant comes from the integers 8 i and n; inside it the angle
 * x = pi/4 t, 0 <= t <= 1, goes through the Taylor series, whose remainder is below 1e-19 there. */
static void circle(int64_t i, int64_t n, double *cosine, double *sine) {
    int64_t octant = 8 * i / n, rest = 8 * i % n;
    bool mirrored = octant & 1;
    double t = (double)(mirrored ? n - rest : rest) / (double)n;
    double x = 0.78539816339744830962 * t, y = x * x;
    double s = x, c = 1;
    double s_term = x, c_term = 1, s_sum = 0, c_sum = 0;
    for (int k = 1; k <= 10; k++) {
        c_term *= -y / ((2 * k - 1) * (2 * k));
        s_term *= -y / ((2 * k) * (2 * k + 1));
        c_sum += c_term, s_sum += s_term;
    }
    c += c_sum, s += s_sum;
    if (t == 1) c = s = sqrt(0.5);
    double a = mirrored ? s : c, b = mirrored ? c : s; /* (cos, sin) folded back into the quadrant */
    switch (octant / 2) {
    case 0: *cosine = a, *sine = b; break;
    case 1: *cosine = -b, *sine = a; break;
    case 2: *cosine = -a, *sine = -b; break;
    default: *cosine = b, *sine = -a; break;
    }
}

/* ---- arguments */
static abut_status check_length(const char *shape, const char *name, double length, abut_error *error) {
    if (length > 0 && isfinite(length)) return ABUT_OK;
    return fail(error, ABUT_INVALID, "the %s of a %s is %g; give a finite length above 0", name, shape,
                length);
}

static abut_status check_count(const char *shape, const char *name, int count, int least, abut_error *error) {
    if (count >= least && count <= MOST_FACES) return ABUT_OK;
    return fail(error, ABUT_INVALID, "a %s of %d %s is asked for; give %d to %d", shape, count, name, least,
                (int)MOST_FACES);
}

static abut_status check_grid(const char *shape, int n, int m, abut_error *error) {
    if ((int64_t)n * m <= MOST_FACES) return ABUT_OK;
    return fail(error, ABUT_INVALID, "a %s of %d times %d faces is too large; give at most %d faces", shape,
                n, m, (int)MOST_FACES);
}

/* ---- meshes */
/* Appends a face to a mesh that mesh_create made large enough; face_count and corner_count grow to it. */
static void put_face(abut_mesh *mesh, int64_t *face, int count, const int *corners) {
    int64_t start = mesh->face_start[*face];
    memcpy(mesh->corners + start, corners, (size_t)count * sizeof *corners);
    mesh->face_start[++*face] = start + count;
}

static void put_quad(abut_mesh *mesh, int64_t *face, int a, int b, int c, int d) {
    put_face(mesh, face, 4, (int[]){a, b, c, d});
}

/* Builds and frees the mesh.  Shapes that cannot cross themselves are not searched for crossings. */
static abut_status build(const abut_context *context, abut_mesh *mesh, abut_solid **solid,
                         abut_error *error) {
    if (!mesh) return fail_memory(error);
    abut_solid_options options = abut_default_solid_options();
    options.skip_self_intersection = true;
    abut_status status = abut_solid_build(context, mesh, &options, solid, error);
    abut_mesh_free(context, mesh);
    return status;
}

/* The outline at -height/2 and +height/2: caps 0 (below) and 1 (above), then a quad for each side. */
static abut_mesh *extrude(const abut_context *context, const double (*outline)[2], int count, double height) {
    abut_mesh *mesh = mesh_create(context, 2 * (int64_t)count, (int64_t)count + 2, 6 * (int64_t)count, false);
    if (!mesh) return NULL;
    for (int i = 0; i < count; i++) {
        mesh->points[i] = vec3_make(outline[i][0], outline[i][1], -height / 2);
        mesh->points[count + i] = vec3_make(outline[i][0], outline[i][1], height / 2);
        mesh->corners[i] = count - 1 - i;
        mesh->corners[count + i] = count + i;
    }
    mesh->face_start[1] = count, mesh->face_start[2] = 2 * (int64_t)count;
    int64_t face = 2;
    for (int i = 0; i < count; i++) {
        int j = i + 1 < count ? i + 1 : 0;
        put_quad(mesh, &face, i, j, count + j, count + i);
    }
    return mesh;
}

abut_status abut_solid_box(const abut_context *context, double lx, double ly, double lz, abut_solid **solid,
                           abut_error *error) {
    *solid = NULL;
    abut_status status = check_length("box", "length along x", lx, error);
    if (status == ABUT_OK) status = check_length("box", "length along y", ly, error);
    if (status == ABUT_OK) status = check_length("box", "length along z", lz, error);
    if (status != ABUT_OK) return status;
    const double outline[4][2] = {{-lx / 2, -ly / 2}, {lx / 2, -ly / 2}, {lx / 2, ly / 2}, {-lx / 2, ly / 2}};
    return build(context, extrude(context, outline, 4, lz), solid, error);
}

/* A regular tetrahedron that stands on a face: the base at z = -edge sqrt(6)/12, its first vertex on +x. */
abut_status abut_solid_tetrahedron(const abut_context *context, double edge, abut_solid **solid,
                                   abut_error *error) {
    *solid = NULL;
    abut_status status = check_length("tetrahedron", "edge", edge, error);
    if (status != ABUT_OK) return status;
    abut_mesh *mesh = mesh_create(context, 4, 4, 12, false);
    if (!mesh) return fail_memory(error);
    double below = -edge * sqrt(6.0) / 12, radius = edge / sqrt(3.0);
    mesh->points[0] = vec3_make(radius, 0, below);
    mesh->points[1] = vec3_make(-radius / 2, edge / 2, below);
    mesh->points[2] = vec3_make(-radius / 2, -edge / 2, below);
    mesh->points[3] = vec3_make(0, 0, edge * sqrt(6.0) / 4);
    int64_t face = 0;
    put_face(mesh, &face, 3, (int[]){0, 2, 1});
    for (int i = 0; i < 3; i++) put_face(mesh, &face, 3, (int[]){i, (i + 1) % 3, 3});
    return build(context, mesh, solid, error);
}

abut_status abut_solid_cylinder(const abut_context *context, double radius, double height, int sides,
                                abut_solid **solid, abut_error *error) {
    *solid = NULL;
    abut_status status = check_length("cylinder", "radius", radius, error);
    if (status == ABUT_OK) status = check_length("cylinder", "height", height, error);
    if (status == ABUT_OK) status = check_count("cylinder", "sides", sides, 3, error);
    if (status != ABUT_OK) return status;
    double(*outline)[2] = mem_alloc(context, (size_t)sides, sizeof *outline);
    if (!outline) return fail_memory(error);
    for (int i = 0; i < sides; i++) {
        circle(i, sides, &outline[i][0], &outline[i][1]);
        outline[i][0] *= radius, outline[i][1] *= radius;
    }
    abut_mesh *mesh = extrude(context, (const double(*)[2])outline, sides, height);
    mem_free(context, outline, (size_t)sides, sizeof *outline);
    return build(context, mesh, solid, error);
}

/* Poles at +-radius on z; stack i has the latitude angle pi i / stacks from the upper pole.  V = n (m - 1) +
 * 2, F = n m: triangles at the poles, else planar trapezoids (two edges are parallel chords). */
abut_status abut_solid_sphere(const abut_context *context, double radius, int slices, int stacks,
                              abut_solid **solid, abut_error *error) {
    *solid = NULL;
    abut_status status = check_length("sphere", "radius", radius, error);
    if (status == ABUT_OK) status = check_count("sphere", "slices", slices, 3, error);
    if (status == ABUT_OK) status = check_count("sphere", "stacks", stacks, 2, error);
    if (status == ABUT_OK) status = check_grid("sphere", slices, stacks, error);
    if (status != ABUT_OK) return status;
    int n = slices, m = stacks, south = n * (m - 1) + 1;
    abut_mesh *mesh =
        mesh_create(context, south + 1, (int64_t)n * m, 6 * (int64_t)n + 4 * (int64_t)n * (m - 2), false);
    if (!mesh) return fail_memory(error);
    mesh->points[0] = vec3_make(0, 0, radius);
    mesh->points[south] = vec3_make(0, 0, -radius);
    for (int i = 1; i < m; i++) {
        double up, out, c, s;
        circle(i, 2 * (int64_t)m, &up, &out);
        for (int j = 0; j < n; j++) {
            circle(j, n, &c, &s);
            mesh->points[1 + (i - 1) * n + j] = vec3_make(radius * out * c, radius * out * s, radius * up);
        }
    }
    int64_t face = 0;
    for (int j = 0; j < n; j++) put_face(mesh, &face, 3, (int[]){0, 1 + j, 1 + (j + 1) % n});
    for (int i = 0; i < m - 2; i++)
        for (int j = 0; j < n; j++) {
            int above = 1 + i * n, below = above + n, next = (j + 1) % n;
            put_quad(mesh, &face, above + j, below + j, below + next, above + next);
        }
    int last = 1 + (m - 2) * n;
    for (int j = 0; j < n; j++) put_face(mesh, &face, 3, (int[]){last + j, south, last + (j + 1) % n});
    return build(context, mesh, solid, error);
}

/* n sections around z, m vertices around the tube.  The quads are planar trapezoids. */
abut_status abut_solid_torus(const abut_context *context, double major, double minor, int n, int m,
                             abut_solid **solid, abut_error *error) {
    *solid = NULL;
    abut_status status = check_length("torus", "major radius", major, error);
    if (status == ABUT_OK) status = check_length("torus", "minor radius", minor, error);
    if (status == ABUT_OK) status = check_count("torus", "sections", n, 3, error);
    if (status == ABUT_OK) status = check_count("torus", "vertices around the tube", m, 3, error);
    if (status == ABUT_OK) status = check_grid("torus", n, m, error);
    if (status != ABUT_OK) return status;
    if (!(minor < major))
        return fail(
            error, ABUT_INVALID,
            "the minor radius %g of a torus is not below the major radius %g, so it would cross itself; "
            "make the tube thinner",
            minor, major);
    abut_mesh *mesh = mesh_create(context, (int64_t)n * m, (int64_t)n * m, 4 * (int64_t)n * m, false);
    if (!mesh) return fail_memory(error);
    for (int i = 0; i < n; i++) {
        double c, s, out, up;
        circle(i, n, &c, &s);
        for (int j = 0; j < m; j++) {
            circle(j, m, &out, &up);
            double r = major + minor * out;
            mesh->points[i * m + j] = vec3_make(r * c, r * s, minor * up);
        }
    }
    int64_t face = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int here = i * m, there = (i + 1) % n * m, next = (j + 1) % m;
            put_quad(mesh, &face, here + j, there + j, there + next, here + next);
        }
    return build(context, mesh, solid, error);
}

abut_status abut_solid_prism(const abut_context *context, const double (*outline)[2], int count,
                             double height, abut_solid **solid, abut_error *error) {
    *solid = NULL;
    abut_status status = check_length("prism", "height", height, error);
    if (status == ABUT_OK) status = check_count("prism", "outline points", count, 3, error);
    if (status == ABUT_OK) status = outline_check(context, outline, count, error);
    if (status != ABUT_OK) return status;
    return build(context, extrude(context, outline, count, height), solid, error);
}
