/* abut/solid.h: polyhedral solids as boundary representations, from files, polygons or primitives.
 *
 *     abut_solid *solid = NULL;
 *     abut_error error = {0};
 *     if (abut_solid_load(NULL, "gear.obj", NULL, &solid, &error) == ABUT_OK) {
 *         abut_mass mass = abut_solid_mass(solid, 7850.0);
 *         printf("%g kg, genus %d\n", mass.mass, abut_solid_facts_of(solid).genus);
 *     }
 *     abut_solid_free(NULL, solid);
 *
 * A solid is immutable and one relocatable block without pointers: copy it, map it, share it.  Its faces are
 * maximal: coplanar neighbours of the file are one face, which may be concave and have holes.
 */
#ifndef ABUT_SOLID_H
#define ABUT_SOLID_H

#include "abut/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_solid abut_solid;

/* A polygon soup as a file gives it.  Face f has the corners corner[face_start[f]] ..
 * corner[face_start[f+1]-1], counter-clockwise seen from outside; a hole is a bridge (keyhole polygon).  The
 * lines are where the vertex or the face stood in the file, or NULL. */
typedef struct abut_mesh {
    char file[256]; /* name for messages; may be empty */
    abut_vec3 *points;
    int *point_lines;
    int *corners;
    int64_t *face_start; /* face_count + 1 entries */
    int *face_lines;
    int64_t point_count, face_count, corner_count;
    bool separate_corners; /* the format has no shared vertices (STL).  The reader made corners with equal
                              coordinates one point; building welds nearly equal ones silently */
    int crease_line;       /* the first line of an OBJ file that tags a crease or corner (`t crease`, as
                              OpenSubdiv writes them), or 0: means nothing to solids */
} abut_mesh;

typedef enum abut_mesh_format {
    ABUT_FORMAT_AUTO, /* by extension, then by content */
    ABUT_FORMAT_OBJ,
    ABUT_FORMAT_STL, /* ASCII or binary, told apart by size and content, not by the word "solid" */
    ABUT_FORMAT_PLY, /* ASCII, binary of both endians */
    ABUT_FORMAT_OFF
} abut_mesh_format;

/* Reading checks syntax, index ranges and finite numbers; it does not ask whether the polygons bound a solid.
 */
ABUT_API abut_status abut_mesh_load(const abut_context *context, const char *path, abut_mesh **mesh,
                                    abut_error *error);
ABUT_API abut_status abut_mesh_read(const abut_context *context, const void *bytes, size_t size,
                                    abut_mesh_format format, const char *name, abut_mesh **mesh,
                                    abut_error *error);
/* Format by extension: OBJ and OFF as text, PLY as binary doubles; these read back bit for bit.  STL as
 * binary float32, with faces cut into triangles. */
ABUT_API abut_status abut_mesh_save(const abut_context *context, const abut_mesh *mesh, const char *path,
                                    abut_error *error);
ABUT_API void abut_mesh_free(const abut_context *context, abut_mesh *mesh);

/* What any polygon mesh is, solid or not.  Counts are taken after welding with the tolerance `weld` relative
 * to the diagonal: 1e-9 is what building a solid uses, 0 joins equal points only, and a negative number joins
 * nothing, so that vertices, edges and faces are those of the file. */
typedef struct abut_mesh_facts {
    int64_t vertices, edges, faces; /* vertices that no face uses do not count */
    int64_t components;             /* parts that share no vertex */
    int64_t open_edges, nonmanifold_edges, flipped_edges, nonmanifold_vertices;
    int64_t equal_points, close_points; /* points that welding joined to an earlier one */
    int64_t unused_points, degenerate_faces, reflex_edges;
    int largest_face; /* corners of the largest face */
    int genus;        /* sum over the components; -1 when the mesh is not closed and manifold */
    bool closed, manifold, oriented; /* every edge has two faces; no vertex joins two sheets; faces agree */
    bool convex; /* closed, one component, and no edge is reflex by more than 1e-6 radians */
    double diagonal, shortest_edge, flatness; /* flatness: the largest distance of a corner from its polygon's
                                                 plane */
    double volume, area; /* volume, centre and inertia (density 1) of a closed, oriented mesh; 0 otherwise */
    abut_vec3 center;
    double inertia[6];
    abut_box bounds;
} abut_mesh_facts;
ABUT_API abut_status abut_mesh_facts_of(const abut_context *context, const abut_mesh *mesh, double weld,
                                        abut_mesh_facts *facts, abut_error *error);

/* What can be wrong with a mesh.  X(constant, word, is_error): a finding that is not an error is a warning.
 */
#define ABUT_DEFECT_LIST(X)                           \
    X(EMPTY, "empty", true)                           \
    X(DEGENERATE_FACE, "degenerate-face", true)       \
    X(DUPLICATE_FACE, "duplicate-face", true)         \
    X(DUPLICATE_VERTEX, "duplicate-vertex", false)    \
    X(UNUSED_VERTEX, "unused-vertex", false)          \
    X(OPEN_EDGE, "open-edge", true)                   \
    X(NONMANIFOLD_EDGE, "nonmanifold-edge", true)     \
    X(NONMANIFOLD_VERTEX, "nonmanifold-vertex", true) \
    X(FLIPPED_FACE, "flipped-face", true)             \
    X(INSIDE_OUT, "inside-out", true)                 \
    X(NONPLANAR_FACE, "nonplanar-face", true)         \
    X(SELF_INTERSECTION, "self-intersection", true)   \
    X(T_JUNCTION, "t-junction", true)                 \
    X(SMALL_FEATURE, "small-feature", false)          \
    X(TOO_THIN, "too-thin", true)

typedef enum abut_defect {
#define ABUT_DEFECT_CONSTANT(name, word, is_error) ABUT_DEFECT_##name,
    ABUT_DEFECT_LIST(ABUT_DEFECT_CONSTANT)
#undef ABUT_DEFECT_CONSTANT
} abut_defect;
ABUT_API const char *abut_defect_name(abut_defect defect);

/* One finding: what, where (numbers as in the file, counted from 0, -1 where there is none; coordinates; line
 * or 0), and a sentence with the remedy. */
typedef struct abut_finding {
    abut_defect defect;
    bool is_error;
    bool repairable; /* abut_mesh_repair mends it */
    int64_t face[2], edge[2] /* its two vertices */, vertex;
    abut_vec3 at;
    int line;
    char message[320];
} abut_finding;

typedef struct abut_report {
    abut_finding *findings; /* the first `limit` of each kind are listed, all are counted */
    int64_t finding_count, error_count, warning_count;
    int64_t count_of[32]; /* by defect */
    bool is_valid;        /* no errors: abut_solid_build will take it */
} abut_report;

/* Tolerances of geometry, all lengths relative to the diagonal D of the solid's box. */
typedef struct abut_solid_options {
    double weld;      /* vertices and planes closer than this are one: 1e-9 */
    double epsilon;   /* the touching distance: 5e-7 */
    double feature;   /* features smaller than this are reported: 100 epsilon */
    int limit;        /* findings listed for each kind: 20 */
    bool keep_facets; /* do not merge coplanar neighbours: a face of the file is a face of the solid */
    bool skip_self_intersection; /* for callers who know */
} abut_solid_options;
ABUT_API abut_solid_options abut_default_solid_options(void);

/* All findings, in the order in which they are best mended.  Faces that intersect are searched for when faces
 * are planar and edges regular (and skip_self_intersection is not set); features are measured on the solid,
 * when there are no errors.  The status is not ABUT_OK only where the mesh cannot be looked at (bad indices,
 * memory). */
ABUT_API abut_status abut_mesh_check(const abut_context *context, const abut_mesh *mesh,
                                     const abut_solid_options *options, abut_report **report,
                                     abut_error *error);
/* The safe repairs: weld, drop degenerate, duplicate and unused parts, split non-planar faces, flip faces and
 * shells. The findings of `report` say what was done, with the numbers of the given mesh; the result is
 * checked again and refused (ABUT_INVALID, *repaired untouched, *report still given) where it bounds no
 * solid. */
ABUT_API abut_status abut_mesh_repair(const abut_context *context, const abut_mesh *mesh,
                                      const abut_solid_options *options, abut_mesh **repaired,
                                      abut_report **report, abut_error *error);
ABUT_API void abut_report_free(const abut_context *context, abut_report *report);

/* Builds the B-rep.  The mesh must pass abut_mesh_check, but for shared vertices: welding at `weld` is part
 * of building (formats without shared vertices need it).  The error is the first finding. */
ABUT_API abut_status abut_solid_build(const abut_context *context, const abut_mesh *mesh,
                                      const abut_solid_options *options, abut_solid **solid,
                                      abut_error *error);
ABUT_API abut_status abut_solid_load(const abut_context *context, const char *path,
                                     const abut_solid_options *options, abut_solid **solid,
                                     abut_error *error);
ABUT_API void abut_solid_free(const abut_context *context, abut_solid *solid);

/* Primitives, centred at the origin (lengths in metres). The prism's outline is counter-clockwise in x, y. */
ABUT_API abut_status abut_solid_box(const abut_context *context, double lx, double ly, double lz,
                                    abut_solid **solid, abut_error *error);
ABUT_API abut_status abut_solid_prism(const abut_context *context, const double (*outline)[2], int count,
                                      double height, abut_solid **solid, abut_error *error);
ABUT_API abut_status abut_solid_tetrahedron(const abut_context *context, double edge, abut_solid **solid,
                                            abut_error *error);
ABUT_API abut_status abut_solid_sphere(const abut_context *context, double radius, int slices, int stacks,
                                       abut_solid **solid, abut_error *error);
ABUT_API abut_status abut_solid_cylinder(const abut_context *context, double radius, double height, int sides,
                                         abut_solid **solid, abut_error *error);
ABUT_API abut_status abut_solid_torus(const abut_context *context, double major, double minor, int n, int m,
                                      abut_solid **solid, abut_error *error);
ABUT_API abut_status abut_solid_hull(const abut_context *context, const abut_vec3 *points, int count,
                                     abut_solid **solid, abut_error *error);
/* The same solid, scaled about its origin (scale > 0). */
ABUT_API abut_status abut_solid_scaled(const abut_context *context, const abut_solid *solid, double scale,
                                       abut_solid **scaled, abut_error *error);

typedef struct abut_solid_facts {
    int64_t vertices, edges, faces; /* as in the file, after welding */
    int64_t maximal_vertices, maximal_edges, maximal_faces, planes;
    int64_t shells, cavities; /* all shells; those that bound a void */
    int genus;                /* sum over the shells */
    bool convex;
    double volume, area;
    double smallest_feature; /* of the maximal faces: the shortest edge, or the least distance within a face
                                between a vertex and an edge that does not end there */
    double epsilon;          /* touching distance in metres: options.epsilon * diagonal */
    abut_vec3 center;
    abut_box bounds;
    uint64_t hash; /* of the block's content */
} abut_solid_facts;
ABUT_API abut_solid_facts abut_solid_facts_of(const abut_solid *solid);

/* Mass, centre and tensor about the centre for a density: xx yy zz xy xz yz, where xy = -integral of x y. */
typedef struct abut_mass {
    double mass;
    abut_vec3 center;
    double inertia[6];
} abut_mass;
ABUT_API abut_mass abut_solid_mass(const abut_solid *solid, double density);

/* Reading the B-rep, in shape coordinates.  The corners of loop 0 of a face are its outer boundary,
 * counter-clockwise seen from outside; the others are holes, clockwise. */
ABUT_API abut_vec3 abut_solid_vertex(const abut_solid *solid, int64_t vertex);
ABUT_API void abut_solid_edge(const abut_solid *solid, int64_t edge, int64_t vertices[2], int64_t faces[2]);
ABUT_API int64_t abut_solid_face_loops(const abut_solid *solid, int64_t face, abut_vec3 *normal,
                                       double *offset);
ABUT_API int64_t abut_solid_loop(const abut_solid *solid, int64_t face, int64_t loop, int64_t *vertices,
                                 int64_t capacity); /* returns the number of corners */
/* The maximal face that face f of the file became part of; -1 where it was dropped. */
ABUT_API int64_t abut_solid_face_of_file(const abut_solid *solid, int64_t file_face);
ABUT_API int64_t abut_solid_file_faces(const abut_solid *solid);
/* Triangles of every maximal face, for drawing: three vertex numbers each. */
ABUT_API abut_status abut_solid_triangles(const abut_context *context, const abut_solid *solid,
                                          int32_t **triangles, int64_t *count, abut_error *error);
ABUT_API void abut_solid_triangles_free(const abut_context *context, int32_t *triangles, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
