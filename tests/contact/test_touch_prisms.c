/* Contact regions of slanted prisms against exact answers: the sets I and R of convex solids with
 * whole-number coordinates, in all kinds of contact.
 *
 * The oracle is arithmetic of integers.  Entities are open and convex, so x of A and y of B meet in one
 * region at most: where the closed ones meet in the polytope P, the open ones do if for each side of x and of
 * y some corner of P is off it.  The corners of P are vertices of one in the other and crossings of an edge
 * with an edge or a face, as points X / W.  Interiors meet unless one of the axes of separation (normals,
 * products of edges) keeps them apart.
 *
 * R (definition 2): a region r borders r' when its entities border or are those of r'.  Around r a solid is
 * the cone n_k . u < 0 of the faces there; taking H(r') away leaves n . u > 0 for a face, n_1 . u > 0 or n_2
 * . u > 0 for an edge.  That some u fulfils strict inequalities is decided by Gordan's theorem: none does
 * exactly when up to four of the vectors have a positive combination that vanishes. */
#include "abut/touch.h"
#include "support.h"

#include <stdlib.h>

enum { MOST = 16, SHAPES = 256, ENTITIES = 40, REGIONS = 128 };
enum { VERTEX, EDGE, FACE };
static const double unit = 0.0625, epsilon = 1e-6;

typedef int64_t whole;
__extension__ typedef __int128 wide;
typedef struct ivec {
    whole x, y, z;
} ivec;
typedef struct point { /* at / w, w > 0 */
    ivec at;
    whole w;
} point;
typedef struct iplane { /* n . x = d */
    ivec n;
    whole d;
} iplane;

static ivec iadd(ivec a, ivec b) { return (ivec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static ivec isub(ivec a, ivec b) { return (ivec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static ivec ineg(ivec a) { return (ivec){-a.x, -a.y, -a.z}; }
static whole idot(ivec a, ivec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static ivec icross(ivec a, ivec b) {
    return (ivec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static bool is_zero(ivec a) { return a.x == 0 && a.y == 0 && a.z == 0; }
static whole divisor(whole a, whole b) { return b ? divisor(b, a % b) : a < 0 ? -a : a; }
static ivec shortened(ivec a) {
    whole g = divisor(divisor(a.x, a.y), a.z);
    return g ? (ivec){a.x / g, a.y / g, a.z / g} : a;
}
static int sign_of(wide v) { return (v > 0) - (v < 0); }
static int side_of(iplane p, point q) { return sign_of((wide)idot(p.n, q.at) - (wide)p.d * q.w); }
static bool same_point(point p, point q) {
    return (wide)p.at.x * q.w == (wide)q.at.x * p.w && (wide)p.at.y * q.w == (wide)q.at.y * p.w &&
           (wide)p.at.z * q.w == (wide)q.at.z * p.w;
}
static vec3 in_doubles(point p) {
    double s = unit / (double)p.w;
    return (vec3){s * (double)p.at.x, s * (double)p.at.y, s * (double)p.at.z};
}

/* ---- solids */

typedef struct entity {
    int kind, id;
    int corner[MOST], corners; /* vertices, in order */
    int side[MOST], sides;     /* of a face: its edges */
    int face[MOST], faces;     /* that meet there; a face itself */
    ivec lower, upper;
} entity;

typedef struct shape {
    abut_solid *solid;
    abut_touch_solid *ready;
    ivec vertex[2 * MOST];
    iplane plane[MOST];
    entity entity[3 * ENTITIES];
    int first[4]; /* of each kind among the entities */
} shape;

static const entity *entity_of(const shape *s, int kind, int id) { return &s->entity[s->first[kind] + id]; }

/* A prism: the outline in the plane across `axis`, the other end shifted by `lean`; `sign` -1 turns it around
 * its origin. */
static abut_solid *make_prism(const int (*outline)[2], int count, int height, const int lean[2], int axis,
                              int sign) {
    vec3 points[2 * MOST];
    int corners[6 * MOST], used = 0;
    int64_t start[MOST + 3] = {0};
    abut_mesh mesh = {.points = points, .corners = corners, .face_start = start, .point_count = 2 * count};
    for (int i = 0; i < 2 * count; i++) {
        double x[3];
        x[axis] = i < count ? 0 : height;
        for (int k = 0; k < 2; k++) x[(axis + 1 + k) % 3] = outline[i % count][k] + (i < count ? 0 : lean[k]);
        points[i] = (vec3){sign * unit * x[0], sign * unit * x[1], sign * unit * x[2]};
    }
    for (int end = 0; end < 2; end++) {
        for (int i = 0; i < count; i++) corners[used++] = end ? count + i : count - 1 - i;
        start[++mesh.face_count] = used;
    }
    for (int i = 0; i < count; i++) {
        int next = (i + 1) % count;
        const int side[4] = {i, next, count + next, count + i};
        for (int k = 0; k < 4; k++) corners[used++] = side[k];
        start[++mesh.face_count] = used;
    }
    if (sign < 0) /* the reflection turns loops around */
        for (int64_t f = 0; f < mesh.face_count; f++)
            for (int64_t i = start[f], k = start[f + 1] - 1; i < k; i++, k--) {
                int swap = corners[i];
                corners[i] = corners[k], corners[k] = swap;
            }
    mesh.corner_count = used;
    abut_solid *solid = NULL;
    abut_error error = {0};
    if (abut_solid_build(NULL, &mesh, NULL, &solid, &error) != ABUT_OK) fail_msg("%s", error.message);
    return solid;
}

static void put(int *list, int *count, int x) {
    for (int i = 0; i < *count; i++)
        if (list[i] == x) return;
    assert_true(*count < MOST);
    list[(*count)++] = x;
}

static entity *add_entity(shape *s, int kind, int id) {
    entity *e = &s->entity[s->first[3]++];
    *e = (entity){.kind = kind, .id = id};
    return e;
}

static void read_faces(shape *s, int64_t faces) {
    for (int f = 0; f < faces; f++) {
        entity *e = add_entity(s, FACE, f);
        int64_t loop[MOST];
        assert_int_equal(abut_solid_face_loops(s->solid, f, NULL, NULL), 1);
        e->corners = (int)abut_solid_loop(s->solid, f, 0, loop, MOST);
        assert_in_range(e->corners, 3, MOST);
        for (int k = 0; k < e->corners; k++) e->corner[k] = (int)loop[k];
        put(e->face, &e->faces, f);
        ivec a = s->vertex[loop[0]],
             n = shortened(icross(isub(s->vertex[loop[1]], a), isub(s->vertex[loop[2]], a)));
        s->plane[f] = (iplane){n, idot(n, a)};
        for (int k = 0; k < e->corners; k++) {
            assert_true(idot(n, s->vertex[loop[k]]) == s->plane[f].d);
            entity *v = &s->entity[s->first[VERTEX] + e->corner[k]];
            put(v->face, &v->faces, f);
        }
    }
}

/* Entities with their borders, from the B-rep; coordinates are those of the shape, in units. */
static void read_solid(shape *s) {
    abut_solid_facts facts = abut_solid_facts_of(s->solid);
    for (int v = 0; v < facts.maximal_vertices; v++) {
        vec3 x = vec3_scale(abut_solid_vertex(s->solid, v), 1 / unit);
        s->vertex[v] = (ivec){(whole)lround(x.x), (whole)lround(x.y), (whole)lround(x.z)};
        entity *e = add_entity(s, VERTEX, v);
        e->corner[e->corners++] = v;
    }
    s->first[EDGE] = s->first[3];
    for (int i = 0; i < facts.maximal_edges; i++) {
        int64_t v[2], f[2];
        abut_solid_edge(s->solid, i, v, f);
        entity *e = add_entity(s, EDGE, i);
        for (int k = 0; k < 2; k++) e->corner[e->corners++] = (int)v[k], e->face[e->faces++] = (int)f[k];
    }
    s->first[FACE] = s->first[3];
    read_faces(s, facts.maximal_faces);
    for (int i = s->first[EDGE]; i < s->first[FACE]; i++)
        for (int k = 0; k < 2; k++) {
            entity *f = &s->entity[s->first[FACE] + s->entity[i].face[k]];
            put(f->side, &f->sides, s->entity[i].id);
        }
    for (int i = 0; i < s->first[3]; i++) {
        entity *e = &s->entity[i];
        e->lower = e->upper = s->vertex[e->corner[0]];
        for (int k = 1; k < e->corners; k++) {
            ivec x = s->vertex[e->corner[k]];
            e->lower = (ivec){x.x < e->lower.x ? x.x : e->lower.x, x.y < e->lower.y ? x.y : e->lower.y,
                              x.z < e->lower.z ? x.z : e->lower.z};
            e->upper = (ivec){x.x > e->upper.x ? x.x : e->upper.x, x.y > e->upper.y ? x.y : e->upper.y,
                              x.z > e->upper.z ? x.z : e->upper.z};
        }
    }
}

/* All coordinates are even, so that the middles of edges are on the grid. */
static int make_shapes(shape *s) {
    static const int outlines[][6][2] = {
        {{0, 0}, {4, 0}, {4, 4}, {0, 4}}, {{0, 0}, {4, 0}, {0, 4}},
        {{0, 0}, {8, 0}, {0, 4}},         {{0, 0}, {8, 0}, {6, 4}, {2, 4}},
        {{0, 0}, {4, 0}, {8, 4}, {4, 4}}, {{4, 0}, {8, 4}, {4, 8}, {0, 4}},
        {{0, 0}, {4, 0}, {2, 6}},         {{2, 0}, {6, 0}, {8, 4}, {6, 8}, {2, 8}, {0, 4}}};
    static const int corners[] = {4, 3, 3, 4, 4, 4, 3, 6}, leans[3][2] = {{0, 0}, {2, 4}, {-4, 0}};
    int count = 0;
    for (int i = 0; i < COUNT_OF(corners); i++)
        for (int k = 0; k < 18; k++) {
            shape *one = &s[count++];
            one->solid = make_prism(outlines[i], corners[i], 2 + 2 * ((i + k) % 3), leans[k % 3], k / 3 % 3,
                                    k < 9 ? 1 : -1);
            assert_int_equal(abut_touch_solid_create(NULL, one->solid, &one->ready, NULL), ABUT_OK);
            read_solid(one);
        }
    assert_true(count <= SHAPES);
    return count;
}

/* ---- I */

typedef struct wanted {
    const entity *a, *b;
    point corner[2 * MOST];
    int corners, dimension;
    bool needed, found;
} wanted;

typedef struct placed { /* a solid moved by whole numbers */
    const shape *s;
    ivec at;
} placed;

typedef struct oracle {
    placed p[2];
    wanted wanted[REGIONS];
    int count;
    bool overlap;
} oracle;

static ivec corner_at(const placed *p, int vertex) { return iadd(p->s->vertex[vertex], p->at); }
static iplane plane_at(const placed *p, int face) {
    iplane q = p->s->plane[face];
    return (iplane){q.n, q.d + idot(q.n, p->at)};
}

/* The plane through side k of an entity, positive within: of a face across its side, of an edge at its end.
 */
static iplane side_plane(const placed *p, const entity *e, int k) {
    ivec a = corner_at(p, e->corner[k]), b = corner_at(p, e->corner[(k + 1) % e->corners]);
    ivec n = e->kind == FACE ? icross(p->s->plane[e->id].n, isub(b, a)) : isub(b, a);
    return (iplane){n, idot(n, a)};
}

/* Whether the closed entity holds the point. */
static bool holds(const placed *p, const entity *e, point q) {
    if (e->kind == VERTEX) return same_point((point){corner_at(p, e->corner[0]), 1}, q);
    if (e->kind == FACE && side_of(plane_at(p, e->id), q) != 0) return false;
    if (e->kind == EDGE)
        for (int k = 0; k < 2; k++)
            if (side_of(plane_at(p, e->face[k]), q) != 0) return false;
    for (int k = 0; k < e->corners; k++)
        if (side_of(side_plane(p, e, k), q) < 0) return false;
    return true;
}

static void put_corner(wanted *w, point q) {
    for (int i = 0; i < w->corners; i++)
        if (same_point(w->corner[i], q)) return;
    assert_true(w->corners < 2 * MOST);
    w->corner[w->corners++] = q;
}

/* Where the segment a b crosses a plane that holds neither end, or one of them. */
static bool crossing(ivec a, ivec b, iplane p, point *out) {
    whole da = idot(p.n, a) - p.d, db = idot(p.n, b) - p.d;
    if (da == db || sign_of(da) * sign_of(db) > 0) return false;
    whole s = da > db ? 1 : -1; /* (b da - a db) / (da - db) */
    *out = (point){{s * (b.x * da - a.x * db), s * (b.y * da - a.y * db), s * (b.z * da - a.z * db)},
                   s * (da - db)};
    return true;
}

/* The edge across a face, or across an edge: the plane through that one and across both. */
static void cross_edge(wanted *w, const placed *p, const entity *edge, const placed *q, const entity *other) {
    ivec a = corner_at(p, edge->corner[0]), b = corner_at(p, edge->corner[1]);
    iplane cut;
    if (other->kind == FACE) {
        cut = plane_at(q, other->id);
    } else {
        ivec c = corner_at(q, other->corner[0]), v = isub(corner_at(q, other->corner[1]), c);
        cut.n = shortened(icross(v, icross(isub(b, a), v)));
        cut.d = idot(cut.n, c);
        if (is_zero(cut.n)) return; /* parallel: the ends are vertices */
    }
    point x;
    if (crossing(a, b, cut, &x) && holds(q, other, x)) put_corner(w, x);
}

static bool apart_along(ivec lower_a, ivec upper_a, ivec shift_a, ivec lower_b, ivec upper_b, ivec shift_b) {
    ivec la = iadd(lower_a, shift_a), ua = iadd(upper_a, shift_a), lb = iadd(lower_b, shift_b),
         ub = iadd(upper_b, shift_b);
    return la.x > ub.x || lb.x > ua.x || la.y > ub.y || lb.y > ua.y || la.z > ub.z || lb.z > ua.z;
}

static void collect_corners(const oracle *o, wanted *w) {
    const entity *e[2] = {w->a, w->b};
    for (int i = 0; i < 2; i++) {
        const placed *p = &o->p[i], *q = &o->p[!i];
        for (int k = 0; k < e[i]->corners; k++) {
            point v = {corner_at(p, e[i]->corner[k]), 1};
            if (holds(q, e[!i], v)) put_corner(w, v);
        }
        int sides = e[i]->kind == FACE ? e[i]->sides : e[i]->kind == EDGE;
        for (int k = 0; k < sides; k++) {
            const entity *edge = e[i]->kind == FACE ? entity_of(p->s, EDGE, e[i]->side[k]) : e[i];
            if (e[!i]->kind != VERTEX) cross_edge(w, p, edge, q, e[!i]);
            for (int m = 0; e[!i]->kind == FACE && m < e[!i]->sides; m++)
                cross_edge(w, p, edge, q, entity_of(q->s, EDGE, e[!i]->side[m]));
        }
    }
}

/* Some corner of P is off each side of the entity. */
static bool is_open(const placed *p, const entity *e, const wanted *w) {
    for (int k = 0; e->kind != VERTEX && k < e->corners; k++) {
        iplane side = side_plane(p, e, k);
        bool off = false;
        for (int c = 0; c < w->corners; c++) off = off || side_of(side, w->corner[c]) > 0;
        if (!off) return false;
    }
    return true;
}

static void spans(const placed *p, ivec n, whole *low, whole *high) {
    *low = INT64_MAX, *high = INT64_MIN;
    for (int v = 0; v < p->s->first[EDGE]; v++) {
        whole d = idot(n, corner_at(p, v));
        *low = d < *low ? d : *low, *high = d > *high ? d : *high;
    }
}

static bool separates(const oracle *o, ivec n) {
    whole la, ha, lb, hb;
    if (is_zero(n)) return false;
    spans(&o->p[0], n, &la, &ha), spans(&o->p[1], n, &lb, &hb);
    return ha <= lb || hb <= la;
}

static ivec along(const placed *p, const entity *edge) {
    return isub(corner_at(p, edge->corner[1]), corner_at(p, edge->corner[0]));
}

/* Whether the interiors of two convex solids meet. */
static bool interiors_meet(const oracle *o) {
    const shape *a = o->p[0].s, *b = o->p[1].s;
    for (int i = 0; i < 2; i++)
        for (int f = 0; f < o->p[i].s->first[3] - o->p[i].s->first[FACE]; f++)
            if (separates(o, o->p[i].s->plane[f].n)) return false;
    for (int i = a->first[EDGE]; i < a->first[FACE]; i++)
        for (int k = b->first[EDGE]; k < b->first[FACE]; k++)
            if (separates(o, icross(along(&o->p[0], &a->entity[i]), along(&o->p[1], &b->entity[k]))))
                return false;
    return true;
}

/* ---- R */

/* Whether entity e borders or is entity g of the same solid. */
static bool borders(const entity *e, const entity *g) {
    if (e == g) return true;
    if (e->kind >= g->kind) return false;
    for (int i = 0; i < e->corners; i++) {
        bool has = false;
        for (int k = 0; k < g->corners; k++) has = has || g->corner[k] == e->corner[i];
        if (!has) return false;
    }
    return true;
}

static wide triple(ivec a, ivec b, ivec c) {
    ivec n = icross(a, b);
    return (wide)n.x * c.x + (wide)n.y * c.y + (wide)n.z * c.z;
}

/* Whether 0 is a positive combination of two, three or four of the vectors, none of which can be left out. */
static bool vanishes(const ivec *w, int count) {
    if (count == 2) return is_zero(icross(w[0], w[1])) && idot(w[0], w[1]) < 0;
    if (count == 3) {
        ivec n = shortened(icross(w[0], w[1]));
        return !is_zero(n) && triple(w[0], w[1], w[2]) == 0 && idot(icross(w[1], w[2]), n) > 0 &&
               idot(icross(w[2], w[0]), n) > 0;
    }
    int s = sign_of(triple(w[1], w[2], w[3]));
    return s != 0 && sign_of(triple(w[0], w[2], w[3])) == -s && sign_of(triple(w[0], w[1], w[3])) == s &&
           sign_of(triple(w[0], w[1], w[2])) == -s;
}

/* Whether some u has w . u > 0 for all (Gordan 1873). */
static bool has_solution(const ivec *w, int count) {
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            if (vanishes((ivec[]){w[i], w[j]}, 2)) return false;
            for (int k = j + 1; k < count; k++) {
                if (vanishes((ivec[]){w[i], w[j], w[k]}, 3)) return false;
                for (int l = k + 1; l < count; l++)
                    if (vanishes((ivec[]){w[i], w[j], w[k], w[l]}, 4)) return false;
            }
        }
    return true;
}

/* Whether something of solid i is left around r: the cone, and outside each wedge from `next` on; of an
 * edge's two half-spaces it is outside one or the other. */
static bool is_left(const oracle *o, const wanted *r, int i, int next, ivec *w, int count) {
    const shape *s = o->p[i].s;
    for (; next < o->count; next++) {
        const wanted *big = &o->wanted[next];
        if (big->dimension <= r->dimension || !big->needed || !borders(r->a, big->a) ||
            !borders(r->b, big->b))
            continue;
        const entity *e = i ? big->b : big->a;
        for (int k = 0; k < e->faces; k++) {
            assert_true(count < 3 * MOST);
            w[count] = s->plane[e->face[k]].n;
            if (is_left(o, r, i, next + 1, w, count + 1)) return true;
        }
        return false;
    }
    return has_solution(w, count);
}

static void choose(oracle *o) {
    for (int dimension = 2; dimension >= 0; dimension--)
        for (int k = 0; k < o->count; k++) {
            wanted *r = &o->wanted[k];
            if (r->dimension != dimension) continue;
            r->needed = dimension == 2;
            for (int i = 0; i < 2 && !r->needed; i++) {
                const entity *e = i ? r->b : r->a;
                ivec w[3 * MOST];
                for (int f = 0; f < e->faces; f++) w[f] = ineg(o->p[i].s->plane[e->face[f]].n);
                r->needed = is_left(o, r, i, 0, w, e->faces);
            }
        }
}

static void ask_oracle(oracle *o) {
    o->count = 0, o->overlap = interiors_meet(o);
    const shape *a = o->p[0].s, *b = o->p[1].s;
    for (int i = 0; i < a->first[3] && !o->overlap; i++)
        for (int k = 0; k < b->first[3]; k++) {
            const entity *x = &a->entity[i], *y = &b->entity[k];
            if (apart_along(x->lower, x->upper, o->p[0].at, y->lower, y->upper, o->p[1].at)) continue;
            assert_true(o->count < REGIONS);
            wanted *w = &o->wanted[o->count];
            *w = (wanted){.a = x, .b = y};
            collect_corners(o, w);
            if (w->corners == 0 || !is_open(&o->p[0], x, w) || !is_open(&o->p[1], y, w)) continue;
            w->dimension = w->corners < 3 ? w->corners - 1 : 2;
            o->count++;
        }
    choose(o);
}

/* ---- comparison */

/* Twice the area: the corners lie around their mean in the order of their angles, which is found by taking
 * the next one to the left of all others each time. */
static double area_of(const wanted *w) {
    vec3 x[2 * MOST], n = {0, 0, 0}, sum = {0, 0, 0};
    for (int i = 0; i < w->corners; i++) x[i] = in_doubles(w->corner[i]);
    for (int i = 2; i < w->corners && vec3_length(n) == 0; i++)
        n = vec3_cross(vec3_sub(x[1], x[0]), vec3_sub(x[i], x[0]));
    for (int i = 1; i < w->corners; i++)
        for (int k = i; k < w->corners; k++) { /* x[k] next if no other is to the right of the way to it */
            bool next = true;
            for (int m = i; m < w->corners && next; m++)
                next = vec3_dot(n, vec3_cross(vec3_sub(x[k], x[i - 1]), vec3_sub(x[m], x[i - 1]))) >= 0;
            if (!next) continue;
            vec3 swap = x[i];
            x[i] = x[k], x[k] = swap;
            break;
        }
    for (int i = 1; i + 1 < w->corners; i++)
        sum = vec3_add(sum, vec3_cross(vec3_sub(x[i], x[0]), vec3_sub(x[i + 1], x[0])));
    return vec3_length(sum) / 2;
}

static bool has_corner(const abut_touch *t, const abut_touch_region *r, vec3 x) {
    for (int32_t c = t->loop_start[r->first_loop]; c < t->loop_start[r->first_loop + r->loops]; c++)
        if (vec3_distance(t->points[c], x) < 4 * epsilon) return true;
    return false;
}

/* Corners of the region in the middle of a straight side do not count. */
static bool same_corners(const abut_touch *t, const abut_touch_region *r, const wanted *w, pose move) {
    for (int i = 0; i < w->corners; i++)
        if (!has_corner(t, r, pose_point(move, in_doubles(w->corner[i])))) return false;
    int32_t first = t->loop_start[r->first_loop], count = t->loop_start[r->first_loop + 1] - first;
    for (int32_t c = 0; c < count; c++) {
        vec3 p = t->points[first + (c + count - 1) % count], q = t->points[first + c],
             s = t->points[first + (c + 1) % count];
        vec3 turn = vec3_cross(vec3_unit(vec3_sub(q, p)), vec3_unit(vec3_sub(s, q)));
        bool found = r->dimension == 2 && vec3_length(turn) < 0.01;
        for (int i = 0; i < w->corners; i++)
            found = found || vec3_distance(q, pose_point(move, in_doubles(w->corner[i]))) < 4 * epsilon;
        if (!found) return false;
    }
    return r->loops == 1;
}

static bool is_place(abut_place p, const entity *e) {
    return (int)p.kind - ABUT_ON_VERTEX == e->kind && p.id == e->id;
}

static bool fits(const abut_touch *t, const abut_touch_region *r, const wanted *w, pose move, bool swap) {
    return !w->found && is_place(swap ? r->b : r->a, w->a) && is_place(swap ? r->a : r->b, w->b) &&
           r->dimension == w->dimension && r->needed == w->needed && same_corners(t, r, w, move) &&
           (w->dimension < 2 || fabs(r->area - area_of(w)) < 16 * epsilon);
}

static void check(oracle *o, pose move, bool swap) {
    pose to[2];
    for (int i = 0; i < 2; i++) {
        ivec at = o->p[i].at;
        to[i] = pose_mul(move, (pose){in_doubles((point){at, 1}), {1, 0, 0, 0}});
    }
    abut_touch_options options = {.epsilon = epsilon, .all = true};
    abut_touch *t = NULL;
    abut_error error = {0};
    if (abut_touch_find(NULL, o->p[swap].s->ready, to[swap], o->p[!swap].s->ready, to[!swap], &options, &t,
                        &error) != ABUT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(t->status, o->overlap ? ABUT_PENETRATING : o->count ? ABUT_TOUCHING : ABUT_APART);
    assert_int_equal(t->region_count, o->count);
    for (int i = 0; i < o->count; i++) o->wanted[i].found = false;
    for (int64_t i = 0; i < t->region_count; i++) {
        int k = 0;
        while (k < o->count && !fits(t, &t->regions[i], &o->wanted[k], move, swap)) k++;
        assert_true(k < o->count);
        o->wanted[k].found = true;
    }
    abut_touch_free(NULL, t);
}

/* A vertex, the middle of an edge, or of a diagonal between two corners of a face. */
static ivec some_point(const shape *s, uint64_t *seed) {
    const entity *e = &s->entity[support_int(seed, 0, s->first[3] - 1)];
    ivec a = s->vertex[e->corner[support_int(seed, 0, e->corners - 1)]],
         b = s->vertex[e->corner[support_int(seed, 0, e->corners - 1)]], sum = iadd(a, b);
    return (ivec){sum.x / 2, sum.y / 2, sum.z / 2};
}

typedef struct tally {
    long touching, penetrating, regions[3], needed[3], kinds[3][3];
} tally;

static void count(tally *n, const oracle *o) {
    n->touching += o->count > 0, n->penetrating += o->overlap;
    for (int i = 0; i < o->count; i++) {
        const wanted *w = &o->wanted[i];
        n->regions[w->dimension]++, n->needed[w->dimension] += w->needed, n->kinds[w->a->kind][w->b->kind]++;
    }
}

/* As they stand, exchanged, and after a random rigid motion of both. */
static void every_region_of_prisms_is_exact(void **state) {
    (void)state;
    shape *shapes = test_calloc(SHAPES, sizeof *shapes);
    oracle *o = test_calloc(1, sizeof *o);
    int many = make_shapes(shapes);
    tally n = {0};
    uint64_t seed = 5;
    while (n.touching < 12000) {
        o->p[0] = (placed){&shapes[support_int(&seed, 0, many - 1)], {0, 0, 0}};
        o->p[1] = (placed){&shapes[support_int(&seed, 0, many - 1)], {0, 0, 0}};
        o->p[1].at = isub(some_point(o->p[0].s, &seed), some_point(o->p[1].s, &seed));
        ask_oracle(o);
        if (o->overlap && ++n.penetrating % 16) continue; /* a few of those that overlap are enough */
        count(&n, o);
        check(o, pose_identity(), n.touching % 2);
        check(o, support_pose(&seed, 3), n.touching % 4 > 1);
    }
    print_message("%ld configurations touch; points, lines, areas: %ld %ld %ld, needed %ld %ld %ld\n",
                  n.touching, n.regions[0], n.regions[1], n.regions[2], n.needed[0], n.needed[1],
                  n.needed[2]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) assert_true(n.kinds[i][k] > 100);
    for (int k = 0; k < 3; k++) assert_true(n.needed[k] > 100 && (k == 2 || n.needed[k] < n.regions[k]));
    for (int i = 0; i < many; i++)
        abut_touch_solid_free(NULL, shapes[i].ready), abut_solid_free(NULL, shapes[i].solid);
    test_free(o), test_free(shapes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_region_of_prisms_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
