/* Triangles of faces with any number of holes: bridges to the holes, then ears.
 *
 *   ring   a cyclic list of nodes; a hole is joined to it by a bridge from its rightmost corner to the
 * nearest corner that it sees, so that bridge ends are in the list twice ear    a corner b that turns left,
 * such that no other corner lies in the closed triangle a b c (corners at the same place as a, b or c do not
 * count).  Only corners that do not turn left can lie there first
 *
 * Corners that do not turn left stand in a grid, so an ear looks only at those near it; where its box covers
 * more cells than there are such corners it looks at all of them.  All signs are exact.
 */
#include "solid/triangulate.h"

typedef struct node {
    double x, y;
    int32_t vertex, next, prev;
    int32_t cell_next, cell_prev; /* the blocking corners of one cell */
    bool blocking;                /* does not turn left */
} node;

typedef struct ring {
    node *nodes;
    int32_t count, left; /* nodes made; nodes still in the list */
    int32_t *cells;      /* first blocking node of a cell, or -1 */
    int columns, rows;
    double x0, y0, per_x, per_y; /* cells per length */
    int32_t blocking;            /* how many */
} ring;

static int turn(const ring *r, int32_t a, int32_t b, int32_t c) {
    const node *n = r->nodes;
    return orient2d(n[a].x, n[a].y, n[b].x, n[b].y, n[c].x, n[c].y);
}
static bool same_place(const ring *r, int32_t a, int32_t b) {
    return r->nodes[a].x == r->nodes[b].x && r->nodes[a].y == r->nodes[b].y;
}

/* ---- nodes */

/* The two coordinates that stay when the axis is dropped on which the normal leans most, in the order that
 * keeps counter-clockwise. */
static void project(vec3 n, vec3 p, double *x, double *y) {
    vec3 lean = vec3_abs(n);
    int drop = lean.x >= lean.y && lean.x >= lean.z ? 0 : lean.y >= lean.z ? 1 : 2;
    double u = vec3_at(p, (drop + 1) % 3), v = vec3_at(p, (drop + 2) % 3);
    bool up = vec3_at(n, drop) > 0;
    *x = up ? u : v, *y = up ? v : u;
}

/* A cyclic list of the corners of a loop; returns its first node. */
static int32_t add_loop(ring *r, const abut_solid *s, int32_t loop) {
    const solid_loop *l = &solid_loops(s)[loop];
    vec3 n = solid_faces(s)[l->face].plane.n;
    int32_t first = r->count;
    for (int32_t i = 0; i < l->count; i++) {
        node *here = &r->nodes[r->count];
        *here = (node){.vertex = solid_coedges(s)[l->coedge + i].vertex,
                       .next = first + (i + 1) % l->count,
                       .prev = first + (i + l->count - 1) % l->count};
        project(n, solid_position(s, here->vertex), &here->x, &here->y);
        r->count++;
    }
    return first;
}

/* ---- bridges */

/* The direction from node a towards p lies strictly inside the corner at a. */
static bool in_corner(const ring *r, int32_t a, int32_t p) {
    int32_t before = r->nodes[a].prev, after = r->nodes[a].next;
    if (turn(r, before, a, after) > 0) return turn(r, a, after, p) > 0 && turn(r, p, before, a) > 0;
    return !(turn(r, a, p, after) >= 0 && turn(r, a, before, p) >= 0);
}

static bool between(const ring *r, int32_t a, int32_t b, int32_t p) { /* collinear p within the box of a b */
    const node *n = r->nodes;
    return fmin(n[a].x, n[b].x) <= n[p].x && n[p].x <= fmax(n[a].x, n[b].x) &&
           fmin(n[a].y, n[b].y) <= n[p].y && n[p].y <= fmax(n[a].y, n[b].y);
}

/* The open segment a b meets the edge c d (other than in a common end). */
static bool blocked_by(const ring *r, int32_t a, int32_t b, int32_t c, int32_t d) {
    int sc = turn(r, a, b, c), sd = turn(r, a, b, d);
    if (sc * sd > 0) return false;
    bool c_is_end = same_place(r, c, a) || same_place(r, c, b);
    bool d_is_end = same_place(r, d, a) || same_place(r, d, b);
    if (sc == 0 && !c_is_end && between(r, a, b, c)) return true;
    if (sd == 0 && !d_is_end && between(r, a, b, d)) return true;
    if (sc == 0 || sd == 0) return false;
    return turn(r, c, d, a) * turn(r, c, d, b) < 0;
}

/* Nodes 0 .. count-1 are all loops, joined or not. */
static bool sees(const ring *r, int32_t a, int32_t b) {
    if (same_place(r, a, b) || !in_corner(r, a, b) || !in_corner(r, b, a)) return false;
    for (int32_t i = 0; i < r->count; i++)
        if (blocked_by(r, a, b, i, r->nodes[i].next)) return false;
    return true;
}

/* Doubles a and b, so that the list runs ... a b' ... hole ... b a' ...: from a through the hole back to a.
 */
static void join(ring *r, int32_t a, int32_t b) {
    node *n = r->nodes;
    int32_t a2 = r->count++, b2 = r->count++;
    n[a2] = n[a], n[b2] = n[b];
    n[a2].prev = b2, n[a2].next = n[a].next, n[n[a].next].prev = a2;
    n[b2].next = a2, n[b2].prev = n[b].prev, n[n[b].prev].next = b2;
    n[a].next = b, n[b].prev = a;
}

/* Joins the hole that begins at node `hole` to the ring that contains `outer`: from its rightmost corner to
 * the nearest corner to the right that it sees (one exists: all unjoined holes end farther left). */
static void join_hole(ring *r, int32_t outer, int32_t hole) {
    const node *n = r->nodes;
    double limit = -1;
    int32_t nearest = -1, fallback = -1;
    for (int32_t tries = 0; tries <= r->count; tries++) {
        /* the nearest beyond the last one tried */
        double best = INFINITY;
        int32_t i = outer, found = -1;
        do {
            double dx = n[i].x - n[hole].x, dy = n[i].y - n[hole].y, d2 = dx * dx + dy * dy;
            bool beyond = d2 > limit || (d2 == limit && i > nearest);
            if ((n[i].x > n[hole].x || (n[i].x == n[hole].x && n[i].y > n[hole].y)) && beyond && d2 < best)
                best = d2, found = i;
            i = n[i].next;
        } while (i != outer);
        if (found < 0) break;
        if (fallback < 0) fallback = found;
        limit = best, nearest = found;
        if (sees(r, found, hole)) {
            join(r, found, hole);
            return;
        }
    }
    join(r, fallback >= 0 ? fallback : outer, hole);
}

typedef struct hole {
    double x, y;
    int32_t node;
} hole;
static int rightmost_first(const void *user, const void *a, const void *b) {
    const hole *p = a, *q = b;
    (void)user;
    return p->x != q->x ? (p->x > q->x ? -1 : 1) : p->y != q->y ? (p->y > q->y ? -1 : 1) : 0;
}

static bool join_holes(const abut_context *context, ring *r, const abut_solid *s, const solid_face *f) {
    int32_t outer = add_loop(r, s, f->first_loop), holes = f->loops - 1;
    if (holes == 0) return true;
    hole *list = mem_alloc(context, (size_t)holes, sizeof *list);
    if (!list) return false;
    for (int32_t i = 0; i < holes; i++) {
        int32_t first = add_loop(r, s, f->first_loop + 1 + i), best = first;
        for (int32_t j = first; j < r->count; j++)
            if (r->nodes[j].x > r->nodes[best].x ||
                (r->nodes[j].x == r->nodes[best].x && r->nodes[j].y > r->nodes[best].y))
                best = j;
        list[i] = (hole){r->nodes[best].x, r->nodes[best].y, best};
    }
    bool fine = sort_stable(context, list, (size_t)holes, sizeof *list, rightmost_first, NULL);
    for (int32_t i = 0; fine && i < holes; i++) join_hole(r, outer, list[i].node);
    mem_free(context, list, (size_t)holes, sizeof *list);
    return fine;
}

/* ---- ears */

static int clamp_cell(double x, int count) { return x < 0 ? 0 : x >= count ? count - 1 : (int)x; }
static int column_of(const ring *r, double x) { return clamp_cell((x - r->x0) * r->per_x, r->columns); }
static int row_of(const ring *r, double y) { return clamp_cell((y - r->y0) * r->per_y, r->rows); }
static int32_t *cell_of(const ring *r, int32_t i) {
    return &r->cells[row_of(r, r->nodes[i].y) * r->columns + column_of(r, r->nodes[i].x)];
}

/* Height over the longest side is less than 1e-9 of that side. */
static bool is_sliver(const ring *r, int32_t i, int32_t j, int32_t k) {
    const node *a = &r->nodes[i], *b = &r->nodes[j], *c = &r->nodes[k];
    double ux = b->x - a->x, uy = b->y - a->y, vx = c->x - b->x, vy = c->y - b->y, wx = a->x - c->x,
           wy = a->y - c->y;
    double longest2 = fmax(fmax(ux * ux + uy * uy, vx * vx + vy * vy), wx * wx + wy * wy);
    return fabs(ux * vy - uy * vx) < 1e-9 * longest2;
}

/* Enters or leaves the grid according to whether node i turns left by more than a sliver. */
static void update_blocking(ring *r, int32_t i, bool in_list) {
    node *n = r->nodes;
    bool blocking =
        in_list && (turn(r, n[i].prev, i, n[i].next) <= 0 || is_sliver(r, n[i].prev, i, n[i].next));
    if (blocking == n[i].blocking) return;
    int32_t *cell = cell_of(r, i);
    n[i].blocking = blocking;
    r->blocking += blocking ? 1 : -1;
    if (blocking) {
        n[i].cell_prev = -1, n[i].cell_next = *cell;
        if (*cell >= 0) n[*cell].cell_prev = i;
        *cell = i;
        return;
    }
    if (n[i].cell_next >= 0) n[n[i].cell_next].cell_prev = n[i].cell_prev;
    if (n[i].cell_prev >= 0)
        n[n[i].cell_prev].cell_next = n[i].cell_next;
    else
        *cell = n[i].cell_next;
}

/* p lies in the closed triangle; to the picky also when it lies on the new side c a but for rounding, because
 * cutting the ear would leave a sliver there. */
static bool lies_in(const ring *r, int32_t a, int32_t b, int32_t c, int32_t p, bool picky) {
    return !same_place(r, p, a) && !same_place(r, p, b) && !same_place(r, p, c) && turn(r, a, b, p) >= 0 &&
           turn(r, b, c, p) >= 0 && (turn(r, c, a, p) >= 0 || (picky && is_sliver(r, c, p, a)));
}

static bool is_ear(const ring *r, int32_t b, bool picky) {
    const node *n = r->nodes;
    int32_t a = n[b].prev, c = n[b].next;
    if (picky ? n[b].blocking : turn(r, a, b, c) <= 0) return false;
    int column0 = column_of(r, fmin(fmin(n[a].x, n[b].x), n[c].x)),
        column1 = column_of(r, fmax(fmax(n[a].x, n[b].x), n[c].x));
    int row0 = row_of(r, fmin(fmin(n[a].y, n[b].y), n[c].y)),
        row1 = row_of(r, fmax(fmax(n[a].y, n[b].y), n[c].y));
    if ((int64_t)(column1 - column0 + 1) * (row1 - row0 + 1) > r->blocking + 16) {
        int32_t seen = 0;
        for (int32_t i = n[c].next; i != a && seen < r->blocking; i = n[i].next) {
            if (!n[i].blocking) continue;
            seen++;
            if (lies_in(r, a, b, c, i, picky)) return false;
        }
        return true;
    }
    for (int row = row0; row <= row1; row++)
        for (int column = column0; column <= column1; column++)
            for (int32_t i = r->cells[row * r->columns + column]; i >= 0; i = n[i].cell_next)
                if (lies_in(r, a, b, c, i, picky)) return false;
    return true;
}

static void cut(ring *r, int32_t b, int32_t *triangle) {
    node *n = r->nodes;
    int32_t a = n[b].prev, c = n[b].next;
    triangle[0] = n[a].vertex, triangle[1] = n[b].vertex, triangle[2] = n[c].vertex;
    update_blocking(r, b, false);
    n[a].next = c, n[c].prev = a;
    r->left--;
    update_blocking(r, a, true);
    update_blocking(r, c, true);
}

static bool make_grid(const abut_context *context, ring *r) {
    double x1 = -INFINITY, y1 = -INFINITY;
    r->x0 = r->y0 = INFINITY;
    for (int32_t i = 0; i < r->count; i++) {
        r->x0 = fmin(r->x0, r->nodes[i].x), x1 = fmax(x1, r->nodes[i].x);
        r->y0 = fmin(r->y0, r->nodes[i].y), y1 = fmax(y1, r->nodes[i].y);
    }
    int side = 1;
    while (side * side < r->count) side++;
    r->columns = r->rows = side;
    r->per_x = x1 > r->x0 ? side / (x1 - r->x0) : 0;
    r->per_y = y1 > r->y0 ? side / (y1 - r->y0) : 0;
    r->cells = mem_alloc(context, (size_t)side * (size_t)side, sizeof *r->cells);
    for (int i = 0; r->cells && i < side * side; i++) r->cells[i] = -1;
    return r->cells != NULL;
}

/* Cuts ears round and round, every second corner at most, so that triangles stay compact; slivers only when a
 * round found nothing better.  Rounds without an ear mean that the border crosses itself within the
 * tolerance: then the next corner that turns left is cut, or any. */
static void cut_ears(ring *r, int32_t start, int32_t *triangles) {
    int32_t here = start, idle = 0;
    for (int32_t i = 0; i < r->count; i++) update_blocking(r, i, true);
    while (r->left > 3) {
        bool picky = idle <= r->left, forced = idle > 2 * r->left, any = idle > 3 * r->left;
        if (any ||
            (forced ? turn(r, r->nodes[here].prev, here, r->nodes[here].next) > 0 : is_ear(r, here, picky))) {
            int32_t next = r->nodes[here].next;
            cut(r, here, triangles);
            triangles += 3, idle = 0;
            here = r->nodes[next].next;
        } else {
            here = r->nodes[here].next;
            idle++;
        }
    }
    cut(r, here, triangles);
}

int64_t triangulate_count(const abut_solid *s, int32_t face) {
    const solid_face *f = &solid_faces(s)[face];
    int64_t corners = 0;
    for (int32_t l = 0; l < f->loops; l++) corners += solid_loops(s)[f->first_loop + l].count;
    return corners + 2 * (int64_t)(f->loops - 1) - 2;
}

static bool finish_ring(const abut_context *context, ring *r, int32_t *triangles) {
    r->left = r->count;
    bool fine = make_grid(context, r);
    if (fine) cut_ears(r, 0, triangles);
    mem_free(context, r->cells, (size_t)r->columns * (size_t)r->rows, sizeof *r->cells);
    return fine;
}

bool triangulate_face(const abut_context *context, const abut_solid *s, int32_t face, int32_t *triangles) {
    const solid_face *f = &solid_faces(s)[face];
    int64_t count = triangulate_count(s, face) + 2;
    if (count == 3) {
        const solid_coedge *c = solid_coedges(s) + solid_loops(s)[f->first_loop].coedge;
        for (int i = 0; i < 3; i++) triangles[i] = c[i].vertex;
        return true;
    }
    ring r = {.nodes = mem_alloc(context, (size_t)count, sizeof *r.nodes)};
    bool fine = r.nodes && join_holes(context, &r, s, f) && finish_ring(context, &r, triangles);
    mem_free(context, r.nodes, (size_t)count, sizeof *r.nodes);
    return fine;
}

/* A quadrilateral has two diagonals: the first that turns left on both sides. */
static bool split_quad(const node *n, int32_t *triangles) {
    for (int i = 0; i < 2; i++) {
        const node *a = &n[i], *b = &n[i + 1], *c = &n[i + 2], *d = &n[(i + 3) % 4];
        if (orient2d(a->x, a->y, b->x, b->y, c->x, c->y) <= 0 ||
            orient2d(a->x, a->y, c->x, c->y, d->x, d->y) <= 0)
            continue;
        int32_t split[6] = {a->vertex, b->vertex, c->vertex, a->vertex, c->vertex, d->vertex};
        memcpy(triangles, split, sizeof split);
        return true;
    }
    return false;
}

bool triangulate_polygon(const abut_context *context, const vec3 *positions, const int32_t *vertices,
                         int32_t count, vec3 n, int32_t *triangles) {
    node quad[4];
    node *nodes = count <= 4 ? quad : mem_alloc(context, (size_t)count, sizeof *nodes);
    if (!nodes) return false;
    for (int32_t i = 0; i < count; i++) {
        nodes[i] = (node){.vertex = vertices[i], .next = (i + 1) % count, .prev = (i + count - 1) % count};
        project(n, positions[vertices[i]], &nodes[i].x, &nodes[i].y);
    }
    bool fine = true;
    if (count == 3) {
        memcpy(triangles, vertices, 3 * sizeof *vertices);
    } else if (count > 4 || !split_quad(nodes, triangles)) {
        ring r = {.nodes = nodes, .count = count};
        fine = finish_ring(context, &r, triangles);
    }
    if (nodes != quad) mem_free(context, nodes, (size_t)count, sizeof *nodes);
    return fine;
}

abut_status abut_solid_triangles(const abut_context *context, const abut_solid *s, int32_t **triangles,
                                 int64_t *count, abut_error *error) {
    int64_t total = 0, done = 0;
    for (int32_t f = 0; f < s->face_count; f++) total += triangulate_count(s, f);
    int32_t *list = mem_alloc(context, (size_t)total * 3, sizeof *list);
    if (!list) return fail_memory(error);
    for (int32_t f = 0; f < s->face_count; f++) {
        if (!triangulate_face(context, s, f, list + 3 * done)) {
            abut_solid_triangles_free(context, list, total);
            return fail_memory(error);
        }
        done += triangulate_count(s, f);
    }
    *triangles = list;
    *count = total;
    return ABUT_OK;
}

void abut_solid_triangles_free(const abut_context *context, int32_t *triangles, int64_t count) {
    mem_free(context, triangles, (size_t)count * 3, sizeof *triangles);
}
