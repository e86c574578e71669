/* Contact regions against exact answers: boxes, prisms, L-shapes and other solids made of cubes, placed on a
 * dyadic grid in all kinds of contact.
 *
 * The oracle is arithmetic of integers.  Space is cut into the open cells of the grid, numbered by doubled
 * coordinates: an even one is a grid plane, an odd one an interval between two; with k odd coordinates a cell
 * has dimension k.
 *
 *     4  o───────o───────o     Every cell lies wholly inside one solid, outside, or on one entity (vertex,
 * edge, 3  │   .   │   .   │     face as open sets).  So a region of I is a connected set of cells that lie
 * on the 2  o───────o───────o     same entity of A and the same of B; its dimension is that of its largest
 * cell, 1  │   .   │   .   │     its area their number, its corners the grid points around which one, three,
 * or two 0  o───────o───────o     opposite squares of four belong to it. 0   1   2   3   4     Cubes in both
 * solids mean penetration.
 */
#include "abut/touch.h"
#include "make_cubes.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEP = 2 /* grid units of a voxel */, UNITS = VOXELS * STEP, SIDE = 2 * UNITS + 1 };
enum { CELLS = SIDE * SIDE * SIDE, SHAPES = 96, MOST = 256 };
enum { OUT = -1, IN = -2 };
static const double unit = 0.25, epsilon = 1e-6;

typedef struct cell {
    int x[3];
} cell;

typedef struct shape {
    cubes cubes;
    abut_solid *solid;
    abut_touch_solid *ready;
    int32_t place[CELLS]; /* OUT, IN, or 4 id + kind */
} shape;

static int number_of(cell c) { return (c.x[2] * SIDE + c.x[1]) * SIDE + c.x[0]; }
static cell cell_of(int n) { return (cell){{n % SIDE, n / SIDE % SIDE, n / SIDE / SIDE}}; }
static bool on_grid(cell c) {
    for (int k = 0; k < 3; k++)
        if (c.x[k] < 0 || c.x[k] >= SIDE) return false;
    return true;
}
static int dimension_of(cell c) { return (c.x[0] & 1) + (c.x[1] & 1) + (c.x[2] & 1); }
static cell moved(cell c, int axis, int by) { return c.x[axis] += by, c; }

/* Whether the unit cube (all coordinates odd) belongs to the shape. */
static bool is_filled(const shape *s, cell cube) {
    return on_grid(cube) && s->cubes.voxel[cube.x[0] / 2 / STEP][cube.x[1] / 2 / STEP][cube.x[2] / 2 / STEP];
}

/* ---- which entity each cell lies on, from the B-rep's vertices, edges and normals */

static cell point_cell(vec3 p) {
    return (cell){{(int)(2 * p.x / unit), (int)(2 * p.y / unit), (int)(2 * p.z / unit)}};
}

static int axis_of(vec3 n) { return fabs(n.x) > 0.5 ? 0 : fabs(n.y) > 0.5 ? 1 : 2; }

/* Squares beside the cell (a unit edge) that look along n belong to the face. */
static void label_squares(shape *s, cell edge, int32_t face) {
    vec3 n;
    abut_solid_face_loops(s->solid, face, &n, NULL);
    int axis = axis_of(n), sign = vec3_at(n, axis) > 0 ? 1 : -1;
    for (int k = 0; k < 3; k++)
        for (int by = -1; by <= 1; by += 2) {
            cell square = moved(edge, k, by);
            if (k == axis || edge.x[k] & 1 || !on_grid(square)) continue;
            if (is_filled(s, moved(square, axis, -sign)) && !is_filled(s, moved(square, axis, sign)))
                s->place[number_of(square)] = 4 * face + ABUT_ON_FACE - ABUT_ON_VERTEX;
        }
}

static void label_edges(shape *s) {
    int64_t edges = abut_solid_facts_of(s->solid).maximal_edges;
    for (int64_t e = 0; e < edges; e++) {
        int64_t v[2], f[2];
        abut_solid_edge(s->solid, e, v, f);
        cell from = point_cell(abut_solid_vertex(s->solid, v[0])),
             to = point_cell(abut_solid_vertex(s->solid, v[1]));
        int axis = from.x[0] != to.x[0]   ? 0
                   : from.x[1] != to.x[1] ? 1
                                          : 2,
            by = to.x[axis] > from.x[axis] ? 1 : -1;
        for (cell c = moved(from, axis, by); c.x[axis] != to.x[axis]; c = moved(c, axis, by)) {
            s->place[number_of(c)] = 4 * (int32_t)e + ABUT_ON_EDGE - ABUT_ON_VERTEX;
            for (int k = 0; k < 2 && c.x[axis] & 1; k++) label_squares(s, c, (int32_t)f[k]);
        }
    }
}

/* How many of the unit cubes around a cell are full, and how many there are. */
static void count_cubes(const shape *s, cell c, int *full, int *all) {
    *full = *all = 0;
    for (int i = 0; i < 8; i++) {
        cell cube = c;
        bool twice = false;
        for (int k = 0; k < 3; k++) {
            if (c.x[k] & 1)
                twice = twice || i >> k & 1;
            else
                cube.x[k] += i >> k & 1 ? 1 : -1;
        }
        if (!twice) (*all)++, *full += is_filled(s, cube);
    }
}

/* Cells on the boundary that lie on no edge or vertex take the face of a neighbour, until all have one. */
static void label_faces(shape *s) {
    enum { OPEN = -3 };
    for (int n = 0; n < CELLS; n++) {
        int full, all;
        count_cubes(s, cell_of(n), &full, &all);
        if (s->place[n] == OPEN) s->place[n] = full == all ? IN : full == 0 ? OUT : OPEN;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int n = 0; n < CELLS; n++)
            for (int k = 0; k < 6 && s->place[n] == OPEN; k++) {
                cell next = moved(cell_of(n), k / 2, k % 2 ? 1 : -1);
                int32_t there = on_grid(next) ? s->place[number_of(next)] : OUT;
                if (there >= 0 && there % 4 == ABUT_ON_FACE - ABUT_ON_VERTEX)
                    s->place[n] = there, changed = true;
            }
    }
    for (int n = 0; n < CELLS; n++) assert_true(s->place[n] != OPEN);
}

static void finish(shape *s) {
    s->solid = make_cubes(&s->cubes, unit * STEP);
    assert_int_equal(abut_touch_solid_create(NULL, s->solid, &s->ready, NULL), ABUT_OK);
    for (int n = 0; n < CELLS; n++) s->place[n] = -3;
    int64_t vertices = abut_solid_facts_of(s->solid).maximal_vertices;
    for (int64_t v = 0; v < vertices; v++)
        s->place[number_of(point_cell(abut_solid_vertex(s->solid, v)))] = 4 * (int32_t)v;
    label_edges(s);
    label_faces(s);
}

/* ---- the library of shapes */

static int make_shapes(shape *s) {
    cubes all[SHAPES] = {0};
    choose_cubes(all, SHAPES);
    for (int i = 0; i < SHAPES; i++) s[i].cubes = all[i], finish(&s[i]);
    return SHAPES;
}

/* ---- what is expected */

typedef struct wanted {
    int32_t a, b; /* places */
    int dimension, squares;
    cell corners[MOST]; /* 0D: the point; 1D: both ends; 2D: where its border turns */
    int corner_count;
    cell at; /* a cell of that dimension */
    bool needed, found;
} wanted;

typedef struct oracle {
    int32_t a[CELLS], b[CELLS]; /* places in both, in the frame of A */
    int component[CELLS];
    const shape *shape[2];
    int offset[2][3];
    wanted wanted[MOST];
    int count;
    bool overlap;
} oracle;

static void put_corner(wanted *w, cell c) {
    for (int i = 0; i < w->corner_count; i++)
        if (memcmp(&w->corners[i], &c, sizeof c) == 0) return;
    assert_true(w->corner_count < MOST);
    w->corners[w->corner_count++] = c;
}

/* Grid points around a square where the border of the component turns. */
static void put_square_corners(const oracle *o, wanted *w, cell square) {
    int axis = square.x[0] & 1 ? square.x[1] & 1 ? 2 : 1 : 0, i = (axis + 1) % 3, j = (axis + 2) % 3;
    int self = o->component[number_of(square)];
    for (int k = 0; k < 4; k++) {
        cell point = moved(moved(square, i, k & 1 ? 1 : -1), j, k & 2 ? 1 : -1);
        bool has[4];
        for (int q = 0; q < 4; q++) {
            cell other = moved(moved(point, i, q & 1 ? 1 : -1), j, q & 2 ? 1 : -1);
            has[q] = on_grid(other) && o->component[number_of(other)] == self;
        }
        bool straight = (has[0] == has[1] && has[2] == has[3]) || (has[0] == has[2] && has[1] == has[3]);
        if (!straight) put_corner(w, point);
    }
}

static void measure(const oracle *o, wanted *w, int component) {
    for (int n = 0; n < CELLS; n++)
        if (o->component[n] == component && dimension_of(cell_of(n)) > w->dimension)
            w->dimension = dimension_of(cell_of(n));
    for (int n = 0; n < CELLS; n++) {
        cell c = cell_of(n);
        if (o->component[n] != component || dimension_of(c) != w->dimension) continue;
        w->at = c;
        if (w->dimension == 0) put_corner(w, c);
        if (w->dimension == 2) w->squares++, put_square_corners(o, w, c);
        if (w->dimension != 1) continue;
        int axis = c.x[0] & 1 ? 0 : c.x[1] & 1 ? 1 : 2; /* an end: no unit edge of it beyond */
        for (int by = -1; by <= 1; by += 2) {
            cell next = moved(c, axis, 2 * by);
            if (!on_grid(next) || o->component[number_of(next)] != component)
                put_corner(w, moved(c, axis, by));
        }
    }
}

static void spread(oracle *o, int from, int component) {
    int stack[CELLS], depth = 0;
    stack[depth++] = from, o->component[from] = component;
    while (depth) {
        int n = stack[--depth];
        for (int k = 0; k < 6; k++) {
            cell next = moved(cell_of(n), k / 2, k % 2 ? 1 : -1);
            int m = on_grid(next) ? number_of(next) : n;
            if (o->component[m] >= 0 || o->a[m] != o->a[n] || o->b[m] != o->b[n]) continue;
            o->component[m] = component, stack[depth++] = m;
        }
    }
}

/* ---- R */

/* Octant `way` at a cell, whether solid i fills it: bit k of the number says on which side of axis k. */
static bool fills(const oracle *o, int i, cell c, int way) {
    for (int k = 0; k < 3; k++) {
        if (!(c.x[k] & 1)) c.x[k] += way >> k & 1 ? 1 : -1;
        c.x[k] -= 2 * o->offset[i][k];
    }
    return is_filled(o->shape[i], c);
}

static bool is_behind(const shape *s, int64_t face, int way) {
    vec3 n;
    abut_solid_face_loops(s->solid, face, &n, NULL);
    int axis = axis_of(n);
    return (vec3_at(n, axis) > 0) != (way >> axis & 1);
}

/* Whether H_i of a region (definition 1) holds the octant.  An edge with three of four quarters full is
 * reflex; what is in front of its faces is then one quarter, that of the other solid, so that the half-spaces
 * are the same whether they are taken from its own faces or from the other's. */
static bool is_constrained(const oracle *o, const wanted *r, int i, int way) {
    const shape *s = o->shape[i];
    int32_t place = i ? r->b : r->a;
    if (place % 4 == ABUT_ON_FACE - ABUT_ON_VERTEX) return is_behind(s, place / 4, way);
    int64_t v[2], f[2];
    abut_solid_edge(s->solid, place / 4, v, f);
    int full = 0;
    for (int k = 0; k < 8; k++) full += fills(o, i, r->at, k);
    bool first = is_behind(s, f[0], way), second = is_behind(s, f[1], way);
    return full > 4 ? first || second : first && second;
}

/* Whether region k lies in the closure of region `big`: one of the cells around its own belongs to that. */
static bool is_adjacent(const oracle *o, int k, int big) {
    for (int n = 0; n < 27; n++) {
        cell c = o->wanted[k].at;
        const int by[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        for (int axis = 0; axis < 3; axis++)
            if (!(c.x[axis] & 1)) c.x[axis] += by[axis];
        if (on_grid(c) && o->component[number_of(c)] == big) return true;
    }
    return false;
}

/* Whether octant `way` of solid i, next to region k, is left over. */
static bool is_left(const oracle *o, int k, int i, int way) {
    if (!fills(o, i, o->wanted[k].at, way)) return false;
    for (int big = 0; big < o->count; big++) {
        const wanted *r = &o->wanted[big];
        if (r->dimension > o->wanted[k].dimension && r->needed && is_adjacent(o, k, big) &&
            is_constrained(o, r, i, way))
            return false;
    }
    return true;
}

static void choose(oracle *o) {
    for (int dimension = 2; dimension >= 0; dimension--)
        for (int k = 0; k < o->count; k++) {
            if (o->wanted[k].dimension != dimension) continue;
            o->wanted[k].needed = dimension == 2;
            for (int n = 0; n < 16 && !o->wanted[k].needed; n++)
                o->wanted[k].needed = is_left(o, k, n / 8, n % 8);
        }
}

static void ask_oracle(oracle *o, const shape *a, const shape *b, const int offset[3]) {
    o->count = 0, o->overlap = false;
    o->shape[0] = a, o->shape[1] = b;
    for (int k = 0; k < 3; k++) o->offset[0][k] = 0, o->offset[1][k] = offset[k];
    for (int n = 0; n < CELLS; n++) {
        cell c = cell_of(n), in_b = c;
        for (int k = 0; k < 3; k++) in_b.x[k] -= 2 * offset[k];
        o->a[n] = a->place[n], o->b[n] = on_grid(in_b) ? b->place[number_of(in_b)] : OUT,
        o->component[n] = -1;
        if (o->a[n] == IN && o->b[n] == IN) o->overlap = true;
    }
    for (int n = 0; n < CELLS && !o->overlap; n++) {
        if (o->a[n] < 0 || o->b[n] < 0 || o->component[n] >= 0) continue;
        assert_true(o->count < MOST);
        o->wanted[o->count] = (wanted){.a = o->a[n], .b = o->b[n]};
        spread(o, n, o->count);
        measure(o, &o->wanted[o->count], o->count);
        o->count++;
    }
    choose(o);
}

/* ---- comparison */

static int32_t place_number(abut_place p) { return 4 * p.id + (int)p.kind - ABUT_ON_VERTEX; }

/* Every corner of one is a corner of the other; corners of the region in the middle of a straight side do not
 * count. */
static bool same_corners(const abut_touch *t, const abut_touch_region *r, const wanted *w, pose move) {
    for (int i = 0; i < w->corner_count; i++) {
        vec3 x =
            pose_point(move, vec3_scale(vec3_make(w->corners[i].x[0], w->corners[i].x[1], w->corners[i].x[2]),
                                        unit / 2));
        bool found = false;
        for (int32_t c = t->loop_start[r->first_loop]; c < t->loop_start[r->first_loop + r->loops]; c++)
            found = found || vec3_distance(t->points[c], x) < 4 * epsilon;
        if (!found) return false;
    }
    for (int32_t l = r->first_loop; l < r->first_loop + r->loops; l++) {
        int32_t first = t->loop_start[l], count = t->loop_start[l + 1] - first;
        for (int32_t c = 0; c < count; c++) {
            vec3 p = t->points[first + (c + count - 1) % count], q = t->points[first + c],
                 s = t->points[first + (c + 1) % count];
            vec3 turn = vec3_cross(vec3_unit(vec3_sub(q, p)), vec3_unit(vec3_sub(s, q)));
            if (r->dimension == 2 && vec3_length(turn) < 0.01) continue;
            bool found = false;
            for (int i = 0; i < w->corner_count; i++) {
                vec3 x = vec3_make(w->corners[i].x[0], w->corners[i].x[1], w->corners[i].x[2]);
                found = found || vec3_distance(q, pose_point(move, vec3_scale(x, unit / 2))) < 4 * epsilon;
            }
            if (!found) return false;
        }
    }
    return true;
}

static bool fits(const abut_touch *t, const abut_touch_region *r, const wanted *w, pose move, bool swap) {
    return !w->found && place_number(swap ? r->b : r->a) == w->a &&
           place_number(swap ? r->a : r->b) == w->b && r->dimension == w->dimension &&
           r->needed == w->needed && fabs(r->area - w->squares * unit * unit) < 16 * epsilon &&
           same_corners(t, r, w, move);
}

/* The hull of a region holds its corners: each is a mean of contact points, so none is farther along any way.
 */
static void check_contacts(const abut_touch *t, const abut_touch_region *r, uint64_t *seed) {
    vec3 way = support_direction(seed);
    double far = -INFINITY, hull = -INFINITY;
    for (int32_t c = t->loop_start[r->first_loop]; c < t->loop_start[r->first_loop + r->loops]; c++)
        far = fmax(far, vec3_dot(way, t->points[c]));
    for (int32_t c = 0; c < r->contacts; c++)
        hull = fmax(hull, vec3_dot(way, t->contacts[r->first_contact + c]));
    assert_true(fabs(far - hull) < 2 * epsilon);
    assert_true(r->contacts >= r->dimension + 1);
}

static void check(oracle *o, const shape *a, const shape *b, const int offset[3], pose move, bool swap,
                  uint64_t *seed) {
    pose pb = pose_mul(move, (pose){{unit * offset[0], unit * offset[1], unit * offset[2]}, {1, 0, 0, 0}});
    abut_touch_options options = {.epsilon = epsilon, .all = true};
    abut_touch *t = NULL;
    abut_error error = {0};
    abut_status status = swap ? abut_touch_find(NULL, b->ready, pb, a->ready, move, &options, &t, &error)
                              : abut_touch_find(NULL, a->ready, move, b->ready, pb, &options, &t, &error);
    if (status != ABUT_OK) fail_msg("%s", error.message);
    abut_touch_status expected = o->overlap ? ABUT_PENETRATING : o->count ? ABUT_TOUCHING : ABUT_APART;
    assert_int_equal(t->status, expected);
    assert_int_equal(t->region_count, o->count);
    for (int i = 0; i < o->count; i++) o->wanted[i].found = false;
    for (int64_t i = 0; i < t->region_count; i++) {
        int k = 0;
        while (k < o->count && !fits(t, &t->regions[i], &o->wanted[k], move, swap)) k++;
        assert_true(k < o->count);
        o->wanted[k].found = true;
        check_contacts(t, &t->regions[i], seed);
    }
    abut_touch_free(NULL, t);
}

typedef struct tally {
    long touching, penetrating, apart, regions[3], needed[3], kinds[3][3];
} tally;

static void count(tally *n, const oracle *o) {
    n->penetrating += o->overlap, n->touching += o->count > 0, n->apart += !o->overlap && o->count == 0;
    for (int i = 0; i < o->count; i++)
        n->regions[o->wanted[i].dimension]++, n->needed[o->wanted[i].dimension] += o->wanted[i].needed,
            n->kinds[o->wanted[i].a % 4][o->wanted[i].b % 4]++;
}

/* As they stand, exchanged, and after a random rigid motion of both. */
static void every_region_is_exact(void **state) {
    (void)state;
    shape *shapes = test_calloc(SHAPES, sizeof *shapes);
    oracle *o = test_calloc(1, sizeof *o);
    int many = make_shapes(shapes);
    tally n = {0};
    uint64_t seed = 2;
    while (n.touching < 21000) {
        const shape *a = &shapes[support_int(&seed, 0, many - 1)],
                    *b = &shapes[support_int(&seed, 0, many - 1)];
        int offset[3];
        for (int k = 0; k < 3; k++) offset[k] = support_int(&seed, -UNITS, UNITS);
        ask_oracle(o, a, b, offset);
        if (o->count == 0 &&
            (n.penetrating + n.apart) % 4) { /* a few of those that do not touch are enough */
            n.penetrating += o->overlap, n.apart += !o->overlap;
            continue;
        }
        count(&n, o);
        check(o, a, b, offset, pose_identity(), false, &seed);
        if (n.touching % 2) check(o, a, b, offset, pose_identity(), true, &seed);
        check(o, a, b, offset, support_pose(&seed, 3), n.touching % 4 == 0, &seed);
    }
    print_message("%ld configurations touch, %ld overlap, %ld are apart; %ld points, %ld lines, %ld areas\n",
                  n.touching, n.penetrating, n.apart, n.regions[0], n.regions[1], n.regions[2]);
    print_message("needed: %ld points, %ld lines, %ld areas\n", n.needed[0], n.needed[1], n.needed[2]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) assert_true(n.kinds[i][k] > 100);
    for (int k = 0; k < 3; k++) assert_true(n.needed[k] > 100 && (k == 2 || n.needed[k] < n.regions[k]));
    for (int i = 0; i < many; i++)
        abut_touch_solid_free(NULL, shapes[i].ready), abut_solid_free(NULL, shapes[i].solid);
    test_free(o), test_free(shapes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_region_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
