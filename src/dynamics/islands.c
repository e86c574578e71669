/* The islands of a group (see islands.h). */
#include "dynamics/islands.h"

static bool moves(const group *g, int body) { return body >= 0 && g->inertias[body].inverse_mass > 0; }

/* ---- finding them */

static int find_root(int *root, int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

/* Joins two bodies, the smaller number on top; false where neither moves. */
static bool join(const group *g, int *root, bool *held, int a, int b) {
    bool both = moves(g, a) && moves(g, b);
    if (moves(g, a)) held[a] = true;
    if (moves(g, b)) held[b] = true;
    if (both) {
        a = find_root(root, a), b = find_root(root, b);
        root[a > b ? a : b] = a > b ? b : a;
    }
    return both || moves(g, a) || moves(g, b);
}

bool islands_make(const group *g, arena *scratch, islands *out) {
    size_t n = (size_t)g->body_count + 1;
    int *root = arena_alloc(scratch, n, sizeof *root);
    bool *held = arena_alloc(scratch, n, sizeof *held), splits = g->face_count == 0;
    *out = (islands){1, arena_alloc(scratch, n, sizeof(int)), arena_alloc(scratch, n, sizeof(int))};
    if (!root || !held || !out->of || !out->number) return false;
    for (int i = 0; i < g->body_count; i++) root[i] = i;
    for (int i = 0; i < g->contact_count && splits; i++)
        splits = join(g, root, held, g->contacts[i].a, g->contacts[i].b);
    for (int i = 0; i < g->row_count && splits; i++) splits = join(g, root, held, g->rows[i].a, g->rows[i].b);
    if (!splits) return true;
    out->count = 0;
    for (int i = 0; i < g->body_count; i++) {
        out->of[i] = out->number[i] = -1;
        if (!held[i]) continue;
        int top = find_root(root, i);
        out->of[i] = top < i ? out->of[top] : out->count++;
    }
    if (out->count == 0) out->count = 1;
    return true;
}

/* ---- one of them */

static int island_of(const islands *all, int a, int b) {
    int which = a >= 0 ? all->of[a] : -1;
    return which < 0 && b >= 0 ? all->of[b] : which;
}

/* The body's number in the island, which it joins (immovable ones do as they are met). */
static int number_of(islands *all, island *to, int body) {
    if (body < 0) return -1;
    if (all->number[body] < 0) {
        all->number[body] = to->g.body_count;
        to->bodies[to->g.body_count++] = body;
    }
    return all->number[body];
}

static bool copy_bodies(const group *g, arena *scratch, island *to) {
    size_t n = (size_t)to->g.body_count + 1;
    motion *motions = arena_alloc(scratch, n, sizeof *motions);
    body_inertia *inertias = arena_alloc(scratch, n, sizeof *inertias);
    spatial *wrenches = arena_alloc(scratch, n, sizeof *wrenches);
    spatial *prescribed = arena_alloc(scratch, n, sizeof *prescribed);
    if (!motions || !inertias || !wrenches || !prescribed) return false;
    for (int i = 0; i < to->g.body_count; i++) {
        int body = to->bodies[i];
        motions[i] = g->motions[body], inertias[i] = g->inertias[body];
        if (g->wrenches) wrenches[i] = g->wrenches[body];
        if (g->prescribed) prescribed[i] = g->prescribed[body];
    }
    to->g.motions = motions, to->g.inertias = inertias;
    to->g.wrenches = g->wrenches ? wrenches : NULL, to->g.prescribed = g->prescribed ? prescribed : NULL;
    return true;
}

bool islands_take(islands *all, const group *g, int which, arena *scratch, island *out) {
    int contacts = 0, rows = 0, k = 0;
    for (int i = 0; i < g->contact_count; i++)
        contacts += island_of(all, g->contacts[i].a, g->contacts[i].b) == which;
    for (int i = 0; i < g->row_count; i++) rows += island_of(all, g->rows[i].a, g->rows[i].b) == which;
    *out = (island){.g = {.contact_count = contacts, .row_count = rows, .method = g->method}};
    row *copies = arena_alloc(scratch, (size_t)rows + 1, sizeof *copies);
    out->g.rows = copies;
    out->g.row_states = g->row_states ? arena_alloc(scratch, (size_t)rows + 1, 1) : NULL;
    out->g.contacts = arena_alloc(scratch, (size_t)contacts + 1, sizeof *out->g.contacts);
    out->bodies = arena_alloc(scratch, (size_t)g->body_count + 1, sizeof *out->bodies);
    out->contacts = arena_alloc(scratch, (size_t)contacts + 1, sizeof *out->contacts);
    out->rows = arena_alloc(scratch, (size_t)rows + 1, sizeof *out->rows);
    if (!copies || (g->row_states && !out->g.row_states) || !out->g.contacts || !out->bodies ||
        !out->contacts || !out->rows)
        return false;
    for (int i = 0; i < g->body_count; i++)
        if (all->of[i] == which) number_of(all, out, i);
    for (int i = 0; i < g->contact_count; i++) {
        const group_contact *c = &g->contacts[i];
        if (island_of(all, c->a, c->b) != which) continue;
        out->contacts[k] = i, out->g.contacts[k] = *c;
        out->g.contacts[k].a = number_of(all, out, c->a), out->g.contacts[k].b = number_of(all, out, c->b);
        k++;
    }
    k = 0;
    for (int i = 0; i < g->row_count; i++) {
        const row *r = &g->rows[i];
        if (island_of(all, r->a, r->b) != which) continue;
        out->rows[k] = i, copies[k] = *r;
        copies[k].a = number_of(all, out, r->a), copies[k].b = number_of(all, out, r->b);
        if (g->row_states) out->g.row_states[k] = g->row_states[i];
        k++;
    }
    for (int i = 0; i < out->g.body_count; i++) all->number[out->bodies[i]] = -1;
    return copy_bodies(g, scratch, out);
}

void islands_return(const island *from, group *g) {
    for (int i = 0; i < from->g.contact_count; i++) {
        group_contact *to = &g->contacts[from->contacts[i]];
        int a = to->a, b = to->b;
        *to = from->g.contacts[i];
        to->a = a, to->b = b;
    }
    for (int i = 0; i < from->g.row_count && g->row_states; i++)
        g->row_states[from->rows[i]] = from->g.row_states[i];
}
