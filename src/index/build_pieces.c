/* The faces as convex pieces (Vanecek 1990, section 2.1: "partition all concave faces into convex regions").
 *
 * A convex face is one piece.  Another is opened to one polygon by bridges from its holes, cut into
 * triangles, and the triangles are joined again across diagonals as long as the union is convex (Hertel and
 * Mehlhorn 1983: at most four times as many pieces as needed).  Sides between pieces of one face are seams,
 * not edges.
 */
#include "index/build.h"
#include "solid/polygon.h"

/* One face opened to a polygon: vertex and side (edge or SIDE_SEAM) of each corner, and the two coordinates
 * in which it runs counter-clockwise. */
typedef struct outline {
    const abut_solid *solid;
    int axis[2];
    int_array vertices, sides;
} outline;

static double flat_x(const outline *o, int32_t v) { return vec3_at(solid_position(o->solid, v), o->axis[0]); }
static double flat_y(const outline *o, int32_t v) { return vec3_at(solid_position(o->solid, v), o->axis[1]); }
static int turn(const outline *o, int32_t a, int32_t b, int32_t c) {
    return orient2d(flat_x(o, a), flat_y(o, a), flat_x(o, b), flat_y(o, b), flat_x(o, c), flat_y(o, c));
}

/* Drops the axis along which the normal is longest, keeping the direction. */
static void flatten(outline *o, vec3 n) {
    vec3 a = vec3_abs(n);
    int drop = a.x >= a.y && a.x >= a.z ? 0 : a.y >= a.z ? 1 : 2;
    o->axis[0] = (drop + 1) % 3, o->axis[1] = (drop + 2) % 3;
    if (vec3_at(n, drop) < 0) {
        int swap = o->axis[0];
        o->axis[0] = o->axis[1], o->axis[1] = swap;
    }
}

/* Whether the corner at b does not turn right by more than the weld distance. */
static bool is_convex_corner(const outline *o, double weld, int32_t a, int32_t b, int32_t c) {
    if (turn(o, a, b, c) >= 0) return true;
    vec3 pa = solid_position(o->solid, a), pb = solid_position(o->solid, b), pc = solid_position(o->solid, c);
    vec3 chord = vec3_sub(pc, pa), leg = vec3_sub(pb, pa);
    double t = vec3_dot(leg, chord);
    return t > 0 && t < vec3_length2(chord) &&
           vec3_length(vec3_cross(leg, chord)) <= weld * vec3_length(chord);
}

/* ---- bridges to holes */

/* Whether the open segments a-b and c-d cross; common end points do not count. */
static bool cross(const outline *o, int32_t a, int32_t b, int32_t c, int32_t d) {
    if (a == c || a == d || b == c || b == d) return false;
    return turn(o, a, b, c) * turn(o, a, b, d) <= 0 && turn(o, c, d, a) * turn(o, c, d, b) <= 0;
}

static bool is_visible(const outline *o, const solid_face *face, int place, int32_t from) {
    int n = (int)o->vertices.count;
    const int *v = o->vertices.data;
    int32_t at = v[place], before = v[(place + n - 1) % n], after = v[(place + 1) % n];
    /* the bridge must start into the polygon between its two sides */
    bool reflex = turn(o, before, at, after) < 0;
    bool left = turn(o, before, at, from) > 0, right = turn(o, at, after, from) > 0;
    if (reflex ? !(left || right) : !(left && right)) return false;
    for (int i = 0; i < n; i++)
        if (cross(o, at, from, v[i], v[i + 1 < n ? i + 1 : 0])) return false;
    const solid_coedge *coedges = solid_coedges(o->solid);
    for (int32_t k = 1; k < face->loops; k++) {
        const solid_loop *loop = &solid_loops(o->solid)[face->first_loop + k];
        int32_t c = loop->coedge;
        for (int32_t i = 0; i < loop->count; i++, c = coedges[c].next)
            if (cross(o, at, from, coedges[c].vertex, coedges[coedges[c].next].vertex)) return false;
    }
    return true;
}

/* Puts the loop that starts at `coedge` into the outline behind corner `place`, with a bridge there and back.
 */
static bool insert_loop(const abut_context *context, outline *o, int place, int32_t coedge, int32_t count) {
    const solid_coedge *coedges = solid_coedges(o->solid);
    int64_t n = o->vertices.count, grown = n + count + 2;
    if (!array_reserve(context, &o->vertices, grown) || !array_reserve(context, &o->sides, grown))
        return false;
    int32_t vertex = o->vertices.data[place], side = o->sides.data[place];
    for (int64_t i = n - 1; i > place; i--) {
        o->vertices.data[i + count + 2] = o->vertices.data[i];
        o->sides.data[i + count + 2] = o->sides.data[i];
    }
    o->sides.data[place] = SIDE_SEAM;
    int32_t c = coedge;
    for (int32_t i = 0; i < count; i++, c = coedges[c].next)
        o->vertices.data[place + 1 + i] = coedges[c].vertex, o->sides.data[place + 1 + i] = coedges[c].edge;
    o->vertices.data[place + 1 + count] = coedges[coedge].vertex,
                                 o->sides.data[place + 1 + count] = SIDE_SEAM;
    o->vertices.data[place + 2 + count] = vertex, o->sides.data[place + 2 + count] = side;
    o->vertices.count = o->sides.count = grown;
    return true;
}

/* The corner of the outline nearest to the hole's vertex that sees it; -1 when none does. */
static int nearest_visible(const outline *o, const solid_face *face, int32_t from) {
    int found = -1;
    double nearest = INFINITY;
    vec3 x = solid_position(o->solid, from);
    for (int i = 0; i < o->vertices.count; i++) {
        double d = vec3_length2(vec3_sub(solid_position(o->solid, o->vertices.data[i]), x));
        if (d < nearest && is_visible(o, face, i, from)) nearest = d, found = i;
    }
    return found;
}

/* Connects the holes one after the other, that with the highest first coordinate first. */
static abut_status bridge_holes(const abut_context *context, outline *o, const solid_face *face) {
    const solid_coedge *coedges = solid_coedges(o->solid);
    const solid_loop *loops = &solid_loops(o->solid)[face->first_loop];
    for (int32_t done = 1; done < face->loops; done++) {
        int32_t best = -1, place = -1;
        double highest = -INFINITY;
        for (int32_t k = 1; k < face->loops; k++) {
            bool joined = false;
            for (int64_t i = 0; i < o->sides.count && !joined; i++)
                joined = o->sides.data[i] == coedges[loops[k].coedge].edge;
            int32_t c = loops[k].coedge;
            for (int32_t i = 0; i < loops[k].count && !joined; i++, c = coedges[c].next)
                if (flat_x(o, coedges[c].vertex) > highest) highest = flat_x(o, coedges[c].vertex), best = c;
        }
        if (best < 0) return ABUT_FAILED;
        int32_t count = loops[coedges[best].loop - face->first_loop].count;
        for (int32_t i = 0; i < count && place < 0; i++, best = place < 0 ? coedges[best].next : best)
            place = nearest_visible(o, face, coedges[best].vertex);
        if (place < 0) return ABUT_FAILED;
        if (!insert_loop(context, o, place, best, count)) return ABUT_NO_MEMORY;
    }
    return ABUT_OK;
}

/* ---- triangles joined to convex pieces.  Half-edge h = 3 t + k runs from corner k of triangle t to the
 * next. */
typedef struct joiner {
    int (*triangles)[3];
    int *next, *prev, *twin;
    char *dead;
    int count;
} joiner;

static int32_t start_of(const joiner *j, const outline *o, int h) {
    return o->vertices.data[j->triangles[h / 3][h % 3]];
}

static void join(const joiner *j, const outline *o, double weld) {
    for (int h = 0; h < 3 * j->count; h++) {
        int g = j->twin[h];
        if (g < h || j->dead[h]) continue;
        int hp = j->prev[h], hn = j->next[h], gp = j->prev[g], gn = j->next[g];
        if (!is_convex_corner(o, weld, start_of(j, o, hp), start_of(j, o, h), start_of(j, o, j->next[gn])) ||
            !is_convex_corner(o, weld, start_of(j, o, gp), start_of(j, o, g), start_of(j, o, j->next[hn])))
            continue;
        j->next[hp] = gn, j->prev[gn] = hp, j->next[gp] = hn, j->prev[hn] = gp;
        j->dead[h] = j->dead[g] = 1;
    }
}

static bool find_twins(const abut_context *context, joiner *j) {
    map64 map = {0};
    if (!map64_reserve(context, &map, 3 * (int64_t)j->count)) return false;
    for (int h = 0; h < 3 * j->count; h++) {
        const int *t = j->triangles[h / 3];
        int a = t[h % 3], c = t[(h + 1) % 3];
        if (h % 3 == 2) c = t[0];
        j->next[h] = h % 3 == 2 ? h - 2 : h + 1, j->prev[h] = h % 3 == 0 ? h + 2 : h - 1, j->twin[h] = -1;
        int32_t *other = map64_get(&map, (uint64_t)(uint32_t)c << 32 | (uint32_t)a);
        if (other) j->twin[h] = *other, j->twin[*other] = h;
        if (!map64_put(context, &map, (uint64_t)(uint32_t)a << 32 | (uint32_t)c, h))
            return map64_free(context, &map), false;
    }
    map64_free(context, &map);
    return true;
}

static bool add_piece(builder *b, int32_t face, const outline *o, const joiner *j, int h) {
    build_piece piece = {face, (int32_t)b->corners.count, 0};
    int n = (int)o->vertices.count, e = h;
    do {
        int place = j->triangles[e / 3][e % 3], after = j->triangles[e / 3][(e % 3 + 1) % 3];
        build_corner c = {o->vertices.data[place],
                          after == (place + 1) % n ? o->sides.data[place] : SIDE_SEAM};
        if (!array_push(b->in->context, &b->corners, c)) return out_of_memory(b);
        piece.count++;
        j->dead[e] = 1;
        e = j->next[e];
    } while (e != h);
    return array_push(b->in->context, &b->pieces, piece) || out_of_memory(b);
}

static bool cut_outline(builder *b, int32_t face, const outline *o, const vec3 *positions) {
    const abut_context *context = b->in->context;
    int n = (int)o->vertices.count, count = n - 2;
    size_t halves = 3 * (size_t)count, total = 3 * halves + 2 * (size_t)n + halves;
    int *block = mem_alloc(context, total, sizeof *block);
    if (!block) return out_of_memory(b);
    joiner j = {.triangles = (int(*)[3])(void *)block,
                .next = block + halves,
                .prev = block + 2 * halves,
                .count = count};
    j.twin = block + 3 * halves;
    int *scratch = block + 4 * halves;
    j.dead = mem_calloc(context, halves, 1);
    bool good = j.dead != NULL;
    if (good) {
        polygon_triangulate(positions, o->vertices.data, n, scratch, scratch + n, j.triangles);
        good = find_twins(context, &j);
    }
    if (good) join(&j, o, b->in->weld);
    for (int h = 0; good && h < 3 * count; h++)
        if (!j.dead[h]) good = add_piece(b, face, o, &j, h);
    if (!good) out_of_memory(b);
    mem_free(context, j.dead, halves, 1);
    mem_free(context, block, total, sizeof *block);
    return good;
}

/* ---- all faces */
static bool add_face(builder *b, int32_t number, outline *o, const vec3 *positions) {
    const abut_solid *solid = b->in->solid;
    const solid_face *face = &solid_faces(solid)[number];
    const solid_coedge *coedges = solid_coedges(solid);
    const solid_loop *outer = &solid_loops(solid)[face->first_loop];
    o->vertices.count = o->sides.count = 0;
    int32_t c = outer->coedge;
    for (int32_t i = 0; i < outer->count; i++, c = coedges[c].next)
        if (!array_push(b->in->context, &o->vertices, coedges[c].vertex) ||
            !array_push(b->in->context, &o->sides, coedges[c].edge))
            return out_of_memory(b);
    flatten(o, face->plane.n);
    int n = (int)o->vertices.count;
    const int *v = o->vertices.data;
    bool convex = face->loops == 1;
    for (int i = 0; i < n && convex && n > 3; i++)
        convex = is_convex_corner(o, b->in->weld, v[i], v[(i + 1) % n], v[(i + 2) % n]);
    if (!convex) {
        abut_status status = bridge_holes(b->in->context, o, face);
        if (status != ABUT_OK) return b->status = status, false;
        return cut_outline(b, number, o, positions);
    }
    build_piece piece = {number, (int32_t)b->corners.count, n};
    for (int i = 0; i < n; i++) {
        build_corner corner = {v[i], o->sides.data[i]};
        if (!array_push(b->in->context, &b->corners, corner)) return out_of_memory(b);
    }
    return array_push(b->in->context, &b->pieces, piece) || out_of_memory(b);
}

bool build_pieces(builder *b) {
    const abut_solid *solid = b->in->solid;
    const abut_context *context = b->in->context;
    size_t n = (size_t)solid->vertex_count;
    vec3 *positions = mem_alloc(context, n, sizeof *positions);
    if (!positions || !array_reserve(context, &b->points, solid->vertex_count) ||
        !array_reserve(context, &b->pieces, solid->face_count) ||
        !array_reserve(context, &b->edges, solid->edge_count))
        return mem_free(context, positions, n, sizeof *positions), out_of_memory(b);
    for (int32_t v = 0; v < solid->vertex_count; v++) {
        positions[v] = solid_position(solid, v);
        b->points.data[v] = (build_point){positions[v], {-1, -1, -1}, index_leaf(INDEX_VERTEX, v), 0};
    }
    b->points.count = solid->vertex_count;
    for (int32_t e = 0; e < solid->edge_count; e++)
        b->edges.data[e] = (build_edge){solid_edges(solid)[e].vertex[0], solid_edges(solid)[e].vertex[1], e};
    b->edges.count = solid->edge_count;
    outline o = {.solid = solid};
    bool good = true;
    for (int32_t f = 0; f < solid->face_count && good; f++) good = add_face(b, f, &o, positions);
    array_free(context, &o.vertices);
    array_free(context, &o.sides);
    mem_free(context, positions, n, sizeof *positions);
    return good;
}
