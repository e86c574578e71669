/* A fill-reducing order for the matrix of contacts, from its pattern alone.
 *
 * Contacts of one pair of bodies have rows with the same pattern; they are joined to one node first.  The
 * nodes are then eliminated by minimum degree on a quotient graph (Amestoy, Davis and Duff 1996, "An
 * approximate minimum degree ordering algorithm"): an eliminated node becomes an element, the list of the
 * nodes it connects.
 *
 *     node i:    adjacency[first[i] ..]: elements (elements[i] of them), then nodes (length[i] in all)
 *     element p: members[element_first[p] .. element_end[p]-1]
 *
 * A list never outgrows its place: a node loses the pivot or an absorbed element for each element it gains.
 */
#include "numerics/lcp.h"

typedef struct graph {
    int nodes;
    int *weight;                    /* rows of the node */
    int *first, *length, *elements; /* of the nodes */
    int *adjacency;
    int *element_first, *element_end;
    int_array *members; /* kept by the order for the next pattern */
    int *degree;
    int *mark, *outside; /* stamp of the current pivot; |Le \ Lp| of an element */
    uint8_t *alive;      /* of nodes; an element is alive until absorbed */
    uint8_t *element_alive;
} graph;

/* Groups rows of equal pattern: group[i] is the node, counted in order of first appearance. Equal patterns
 * are found by hash and then compared; `mate` chains rows of one hash slot. */
static int group_rows(arena *scratch, const lcp_rows *rows, int *group) {
    int n = rows->size, nodes = 0, slots = 1;
    while (slots < 2 * n) slots *= 2;
    int *table = arena_alloc(scratch, (size_t)slots, sizeof *table);
    int *flag = arena_alloc(scratch, (size_t)n, sizeof *flag);
    uint64_t *hash = arena_alloc(scratch, (size_t)n, sizeof *hash);
    if (!table || !flag || !hash) return -1;
    for (int i = 0; i < n; i++)
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++)
            hash[i] +=
                hash64_mix((uint64_t)rows->column[k] + 1); /* does not depend on the order of the columns */
    for (int i = 0; i < n; i++) {
        int slot = (int)(hash64_mix(hash[i]) & (uint64_t)(slots - 1));
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) flag[rows->column[k]] = i + 1;
        int found = -1, length = rows->start[i + 1] - rows->start[i];
        for (; table[slot] && found < 0; slot = (slot + 1) & (slots - 1)) {
            int other = table[slot] - 1, k = rows->start[other];
            if (hash[other] != hash[i] || rows->start[other + 1] - k != length) continue;
            while (k < rows->start[other + 1] && flag[rows->column[k]] == i + 1) k++;
            if (k == rows->start[other + 1]) found = group[other];
        }
        if (found < 0) table[slot] = i + 1;
        group[i] = found < 0 ? nodes++ : found;
    }
    return nodes;
}

/* The graph of the nodes. */
static bool build(arena *scratch, const lcp_rows *rows, const int *group, int nodes, graph *g) {
    int n = rows->size;
    size_t m = (size_t)nodes;
    g->nodes = nodes;
    int **lists[] = {&g->weight,      &g->first,  &g->length, &g->elements, &g->element_first,
                     &g->element_end, &g->degree, &g->mark,   &g->outside};
    for (int i = 0; i < COUNT_OF(lists); i++)
        if (!(*lists[i] = arena_alloc(scratch, m + 1, sizeof(int)))) return false;
    g->adjacency = arena_alloc(scratch, n ? (size_t)rows->start[n] + m : 0, sizeof(int));
    g->alive = arena_alloc(scratch, m, 1), g->element_alive = arena_alloc(scratch, m, 1);
    int *leader = arena_alloc(scratch, m, sizeof *leader);
    if (!g->adjacency || !g->alive || !g->element_alive || !leader) return false;
    for (int i = n - 1; i >= 0; i--) leader[group[i]] = i, g->weight[group[i]]++;
    int end = 0;
    for (int a = 0; a < nodes; a++) {
        g->first[a] = end++; /* room for one element more than the nodes need */
        int i = leader[a];
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            int c = group[rows->column[k]];
            if (c == a || g->mark[c] == a + 1) continue;
            g->mark[c] = a + 1;
            g->adjacency[g->first[a] + g->length[a]++] = c, end++;
            g->degree[a] += g->weight[c];
        }
        g->alive[a] = 1;
    }
    memset(g->mark, 0, m * sizeof *g->mark);
    return true;
}

/* Lp: all nodes that the pivot reaches, over its nodes and its elements; these are absorbed. */
static bool make_element(const abut_context *context, graph *g, int p, int stamp) {
    g->element_first[p] = (int)g->members->count;
    g->mark[p] = stamp;
    for (int t = 0; t < g->length[p]; t++) {
        int x = g->adjacency[g->first[p] + t];
        bool is_element = t < g->elements[p];
        int from = is_element ? g->element_first[x] : 0, to = is_element ? g->element_end[x] : 1;
        for (int k = from; k < to; k++) {
            int node = is_element ? g->members->data[k] : x;
            if (!g->alive[node] || g->mark[node] == stamp) continue;
            g->mark[node] = stamp;
            if (!array_push(context, g->members, node)) return false;
        }
        if (is_element) g->element_alive[x] = 0;
    }
    g->element_end[p] = (int)g->members->count;
    g->alive[p] = 0, g->element_alive[p] = 1;
    return true;
}

/* outside[e] = |Le \ Lp| for every element beside the new one. */
static void count_outside(graph *g, int p, int *seen, int stamp) {
    for (int k = g->element_first[p]; k < g->element_end[p]; k++) {
        int i = g->members->data[k];
        for (int t = 0; t < g->elements[i]; t++) {
            int e = g->adjacency[g->first[i] + t];
            if (!g->element_alive[e]) continue;
            if (seen[e] != stamp) {
                seen[e] = stamp, g->outside[e] = 0;
                for (int m = g->element_first[e]; m < g->element_end[e]; m++)
                    if (g->alive[g->members->data[m]]) g->outside[e] += g->weight[g->members->data[m]];
            }
            g->outside[e] -= g->weight[i];
        }
    }
}

/* The lists and degrees of the members of the new element. */
static void update_members(graph *g, int p, int stamp) {
    int size = 0;
    for (int k = g->element_first[p]; k < g->element_end[p]; k++) size += g->weight[g->members->data[k]];
    for (int k = g->element_first[p]; k < g->element_end[p]; k++) {
        int i = g->members->data[k], kept = 0, degree = size - g->weight[i];
        int *list = g->adjacency + g->first[i];
        for (int t = 0; t < g->elements[i]; t++)
            if (g->element_alive[list[t]] && g->outside[list[t]] > 0)
                degree += g->outside[list[t]], list[kept++] = list[t];
        int elements = kept, nodes = g->elements[i], length = g->length[i];
        for (int t = nodes; t < length; t++) /* nodes outside Lp stay neighbours */
            if (g->alive[list[t]] && g->mark[list[t]] != stamp)
                degree += g->weight[list[t]], list[kept++] = list[t];
        for (int t = kept; t > elements; t--) list[t] = list[t - 1];
        list[elements] = p;
        g->elements[i] = elements + 1, g->length[i] = kept + 1, g->degree[i] = degree;
    }
}

/* Eliminates all nodes, smallest degree first, ties by number; sequence[t] is the t-th node. */
static bool eliminate(const abut_context *context, arena *scratch, graph *g, int *sequence) {
    int *seen = arena_alloc(scratch, (size_t)g->nodes, sizeof *seen);
    if (!seen) return false;
    for (int t = 0; t < g->nodes; t++) {
        int p = -1;
        for (int i = 0; i < g->nodes; i++)
            if (g->alive[i] && (p < 0 || g->degree[i] < g->degree[p])) p = i;
        if (!make_element(context, g, p, t + 1)) return false;
        count_outside(g, p, seen, t + 1);
        update_members(g, p, t + 1);
        sequence[t] = p;
    }
    return true;
}

/* The elimination tree and the column counts of L with every row free: a walk up the tree for each entry
 * (Liu). */
static bool count_columns(arena *scratch, lcp_order *o, const lcp_rows *rows) {
    int n = rows->size;
    int *parent = o->tree, *flag = arena_alloc(scratch, (size_t)n, sizeof *flag);
    if (!flag) return false;
    memset(o->factor_start, 0, ((size_t)n + 1) * sizeof *o->factor_start);
    for (int k = 0; k < n; k++) {
        parent[k] = -1, flag[k] = k;
        for (int t = rows->start[o->order[k]]; t < rows->start[o->order[k] + 1]; t++)
            for (int i = o->place[rows->column[t]]; i < k && flag[i] != k; i = parent[i]) {
                if (parent[i] < 0) parent[i] = k;
                o->factor_start[i + 1]++, flag[i] = k;
            }
    }
    for (int k = 0; k < n; k++) o->factor_start[k + 1] += o->factor_start[k];
    return true;
}

static bool same_pattern(const lcp_order *o, const lcp_rows *rows) {
    size_t n = (size_t)rows->size;
    return o->start && o->size == rows->size && memcmp(o->start, rows->start, (n + 1) * sizeof(int)) == 0 &&
           memcmp(o->column, rows->column, (size_t)rows->start[n] * sizeof(int)) == 0;
}

void lcp_order_free(const abut_context *context, lcp_order *o) {
    mem_free(context, o->start, (size_t)o->capacity_rows, sizeof(int));
    mem_free(context, o->column, (size_t)o->capacity_entries, sizeof(int));
    mem_free(context, o->order, (size_t)o->capacity_rows, sizeof(int));
    mem_free(context, o->place, (size_t)o->capacity_rows, sizeof(int));
    mem_free(context, o->factor_start, (size_t)o->capacity_rows, sizeof(int));
    mem_free(context, o->tree, (size_t)o->capacity_rows, sizeof(int));
    array_free(context, &o->members);
    *o = (lcp_order){0};
}

/* What is outgrown becomes larger by half or more, so that patterns that come and go soon find their room. */
static int grown(int capacity, int need) {
    if (need <= capacity) return capacity;
    return need > capacity + capacity / 2 ? need : capacity + capacity / 2;
}

static bool reserve(const abut_context *context, lcp_order *o, int rows, int entries) {
    if (o->capacity_rows >= rows + 1 && o->capacity_entries >= entries && o->start) return true;
    int most_rows = grown(o->capacity_rows, rows + 1), most_entries = grown(o->capacity_entries, entries);
    int_array members = o->members; /* stays */
    o->members = (int_array){0};
    lcp_order_free(context, o);
    o->members = members;
    o->capacity_rows = most_rows, o->capacity_entries = most_entries;
    o->start = mem_alloc(context, (size_t)most_rows, sizeof(int));
    o->column = mem_alloc(context, (size_t)most_entries, sizeof(int));
    o->order = mem_alloc(context, (size_t)most_rows, sizeof(int));
    o->place = mem_alloc(context, (size_t)most_rows, sizeof(int));
    o->factor_start = mem_alloc(context, (size_t)most_rows, sizeof(int));
    o->tree = mem_alloc(context, (size_t)most_rows, sizeof(int));
    if (o->start && o->column && o->order && o->place && o->factor_start && o->tree) return true;
    lcp_order_free(context, o);
    return false;
}

bool lcp_order_update(const abut_context *context, arena *scratch, lcp_order *o, const lcp_rows *rows) {
    if (same_pattern(o, rows)) return true;
    uint64_t version = o->version + 1;
    int n = rows->size, entries = n ? rows->start[n] : 0;
    arena_mark mark = arena_save(scratch);
    int *group = arena_alloc(scratch, (size_t)n, sizeof *group);
    int nodes = group ? group_rows(scratch, rows, group) : -1;
    int *sequence = nodes < 0 ? NULL : arena_alloc(scratch, (size_t)nodes, sizeof *sequence);
    graph g = {.members = &o->members};
    bool fine = sequence && reserve(context, o, n, entries) && build(scratch, rows, group, nodes, &g) &&
                eliminate(context, scratch, &g, sequence);
    if (fine) {
        /* rows of a node stand together, in their own order: a counting sort by the node's turn */
        int *turn = g.mark, *next = g.first;
        for (int t = 0, end = 0; t < nodes; t++)
            turn[sequence[t]] = t, next[sequence[t]] = end, end += g.weight[sequence[t]];
        for (int i = 0; i < n; i++) o->place[i] = next[group[i]]++, o->order[o->place[i]] = i;
        o->size = n;
        memcpy(o->start, rows->start, ((size_t)n + 1) * sizeof(int));
        memcpy(o->column, rows->column, (size_t)entries * sizeof(int));
        fine = count_columns(scratch, o, rows);
    }
    o->members.count = 0;
    if (!fine) lcp_order_free(context, o);
    o->version = version; /* also when it was freed on the way */
    arena_restore(scratch, mark);
    return fine;
}
