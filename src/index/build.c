/* Building the index: tasks and assembly.
 *
 *   top ── regular cuts until a region is small ──> task 0, task 1, ...   phase 1, the tasks in parallel
 *   all 3D nodes in one array; labels of empty boxes
 *   sections of top and of every task ──> 2D and 1D nodes                 phases 2 and 3, in parallel
 *   one block: 3D nodes in depth-first order, the bigger child first; behind them the others
 *
 * How the work is divided depends on the solid alone, so the bits are the same for any number of threads.
 */
#include "index/build.h"

const char *abut_index_method_name(abut_index_method method) {
    return method == ABUT_INDEX_AUTOPARTITION ? "autopartition"
           : method == ABUT_INDEX_FIRST       ? "first"
                                              : "hybrid";
}

abut_index_options abut_default_index_options(void) {
    return (abut_index_options){.method = ABUT_INDEX_HYBRID, .crowd = 20, .node_budget = 0};
}

/* ---- tasks */
typedef struct assembly {
    build_input in;
    builder top;
    ARRAY(builder) tasks;
    ARRAY(build_region) roots; /* of the tasks: where they hang in `top` */
    index_node *space;         /* all 3D nodes */
    int32_t *on;               /* their 2D trees: numbers in the builder that made them */
    int32_t *first;            /* of each builder (tasks, then top): the number of its first 3D node */
    int64_t space_count;
    int64_t piece_count, corner_count; /* of the whole faces, before any cut */
} assembly;

static void builder_free(builder *b) {
    const abut_context *context = b->in->context;
    array_free(context, &b->points), array_free(context, &b->pieces), array_free(context, &b->corners);
    array_free(context, &b->edges), array_free(context, &b->lists), array_free(context, &b->pending);
    array_free(context, &b->nodes), array_free(context, &b->sections), array_free(context, &b->segments);
    array_free(context, &b->section_points), array_free(context, &b->holes), array_free(context, &b->extras);
    array_free(context, &b->signs), array_free(context, &b->flats), array_free(context, &b->numbers);
    for (int k = 0; k < 3; k++) array_free(context, &b->above[k]), array_free(context, &b->below[k]);
    mem_free(context, b->crossings, (size_t)b->crossing_capacity, sizeof *b->crossings);
}

static void assembly_free(assembly *a) {
    const abut_context *context = a->in.context;
    size_t builders = (size_t)a->tasks.count + 1;
    for (int64_t i = 0; i < a->tasks.count; i++) builder_free(&a->tasks.data[i]);
    builder_free(&a->top);
    mem_free(context, a->space, (size_t)a->space_count, sizeof *a->space);
    mem_free(context, a->on, (size_t)a->space_count, sizeof *a->on);
    mem_free(context, a->first, builders, sizeof *a->first);
    array_free(context, &a->tasks);
    array_free(context, &a->roots);
}

/* A region as a task of its own: copies its pieces and edges; points keep their numbers. */
static bool take_region(void *user, builder *top, const build_region *region) {
    assembly *a = user;
    const abut_context *context = a->in.context;
    builder fresh = {.in = top->in, .budget = top->budget};
    if (!array_push(context, &a->tasks, fresh) || !array_push(context, &a->roots, *region))
        return out_of_memory(top);
    builder *b = &a->tasks.data[a->tasks.count - 1];
    build_region root = *region;
    root.first = 0, root.parent = -1;
    int64_t total = region->pieces + region->edges + region->vertices;
    if (!array_reserve(context, &b->lists, total)) return out_of_memory(top);
    for (int64_t k = 0; k < total; k++) {
        int32_t number = top->lists.data[region->first + k];
        if (k < region->pieces) {
            build_piece piece = top->pieces.data[number];
            build_piece copy = {piece.face, (int32_t)b->corners.count, piece.count};
            for (int i = 0; i < piece.count; i++)
                if (!array_push(context, &b->corners, top->corners.data[piece.first + i]))
                    return out_of_memory(top);
            if (!array_push(context, &b->pieces, copy)) return out_of_memory(top);
            number = (int32_t)b->pieces.count - 1;
        } else if (k < region->pieces + region->edges) {
            if (!array_push(context, &b->edges, top->edges.data[number])) return out_of_memory(top);
            number = (int32_t)b->edges.count - 1;
        }
        b->lists.data[b->lists.count++] = number;
    }
    return array_push(context, &b->pending, root) || out_of_memory(top);
}

static void run_space_task(void *argument, int i) {
    assembly *a = argument;
    build_space(&a->tasks.data[i], 0, NULL, NULL);
}

static void run_plane_task(void *argument, int i) {
    assembly *a = argument;
    builder *b = i < a->tasks.count ? &a->tasks.data[i] : &a->top;
    b->nodes.count = 0;
    build_planes(b, a->space, a->first[i], a->on);
}

static abut_status first_failure(const assembly *a) {
    for (int64_t i = 0; i < a->tasks.count; i++)
        if (a->tasks.data[i].status != ABUT_OK) return a->tasks.data[i].status;
    return a->top.status;
}

/* ---- phase 1 */

/* Planes of the faces around each vertex, as a table of lists. */
static abut_status list_vertex_planes(build_input *in, int32_t **start_out, int32_t **planes_out) {
    const abut_solid *solid = in->solid;
    size_t n = (size_t)solid->vertex_count + 1, m = (size_t)solid->coedge_count;
    int32_t *start = mem_calloc(in->context, n + 1, sizeof *start),
            *planes = mem_alloc(in->context, m, sizeof *planes);
    *start_out = start, *planes_out = planes;
    if (!start || !planes) return ABUT_NO_MEMORY;
    const solid_coedge *coedges = solid_coedges(solid);
    for (int64_t c = 0; c < solid->coedge_count; c++) start[coedges[c].vertex + 2]++;
    for (size_t v = 2; v <= n; v++) start[v] += start[v - 1];
    for (int64_t c = 0; c < solid->coedge_count; c++)
        planes[start[coedges[c].vertex + 1]++] = solid_faces(solid)[coedges[c].face].plane_id;
    in->vertex_plane_start = start, in->vertex_planes = planes;
    return ABUT_OK;
}

static box solid_box(const abut_solid *solid) {
    box r = box_empty();
    for (int32_t v = 0; v < solid->vertex_count; v++) r = box_add_point(r, solid_position(solid, v));
    return r;
}

static bool push_root(builder *b, box bounds) {
    const abut_solid *solid = b->in->solid;
    build_region r = {.parent = -1,
                      .pieces = b->pieces.count,
                      .edges = b->edges.count,
                      .vertices = solid->vertex_count,
                      .bounds = bounds};
    if (!array_reserve(b->in->context, &b->lists, r.pieces + r.edges + r.vertices)) return out_of_memory(b);
    for (int32_t i = 0; i < r.pieces; i++) b->lists.data[b->lists.count++] = i;
    for (int32_t i = 0; i < r.edges; i++) b->lists.data[b->lists.count++] = i;
    for (int32_t i = 0; i < r.vertices; i++) b->lists.data[b->lists.count++] = i;
    return array_push(b->in->context, &b->pending, r) || out_of_memory(b);
}

/* Solid angle of triangle a, b, c seen from the origin: tan(w / 2) = a.(b x c) / (|a||b||c| + ...). */
static double triangle_angle(vec3 a, vec3 b, vec3 c) {
    double la = vec3_length(a), lb = vec3_length(b), lc = vec3_length(c);
    double below = la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb;
    return 2 * atan2(vec3_triple(a, b, c), below);
}

/* The winding number of the boundary about x, with fans from one point for every loop, compared with one
 * half. */
int32_t solid_angle_side(const abut_solid *solid, vec3 x) {
    const solid_coedge *coedges = solid_coedges(solid);
    double sum = 0;
    for (int64_t l = 0; l < solid->loop_count; l++) {
        const solid_loop *loop = &solid_loops(solid)[l];
        const solid_face *face = &solid_faces(solid)[loop->face];
        int32_t apex = coedges[solid_loops(solid)[face->first_loop].coedge].vertex, c = loop->coedge;
        vec3 o = vec3_sub(solid_position(solid, apex), x);
        for (int32_t i = 0; i < loop->count; i++, c = coedges[c].next)
            sum += triangle_angle(o, vec3_sub(solid_position(solid, coedges[c].vertex), x),
                                  vec3_sub(solid_position(solid, coedges[coedges[c].next].vertex), x));
    }
    return sum > 2 * 3.14159265358979323846 ? INDEX_IN : INDEX_OUT;
}

/* All 3D nodes in one array: those of the tasks behind those of the top. */
static bool gather_space(assembly *a) {
    const abut_context *context = a->in.context;
    int64_t count = a->top.nodes.count;
    for (int64_t i = 0; i < a->tasks.count; i++) count += a->tasks.data[i].nodes.count;
    a->space = mem_alloc(context, (size_t)count, sizeof *a->space);
    a->space_count = count;
    a->on = mem_alloc(context, (size_t)count, sizeof *a->on);
    a->first = mem_alloc(context, (size_t)a->tasks.count + 1, sizeof *a->first);
    if (!a->space || !a->on || !a->first) return false;
    int32_t at = 0;
    for (int64_t i = -1; i < a->tasks.count; i++) {
        builder *b = i < 0 ? &a->top : &a->tasks.data[i];
        a->first[i < 0 ? a->tasks.count : i] = at;
        for (int64_t k = 0; k < b->nodes.count; k++) {
            index_node n = b->nodes.data[k];
            for (int slot = 0; slot < 3; slot += 2)
                if (n.child[slot] >= 0) n.child[slot] += at;
            a->space[at + k] = n;
        }
        for (int64_t k = 0; k < b->holes.count; k++) {
            build_hole h = b->holes.data[k];
            a->space[at + h.node].child[h.slot] = solid_angle_side(a->in.solid, h.witness);
        }
        if (i >= 0 && a->roots.data[i].parent >= 0)
            a->space[a->roots.data[i].parent].child[a->roots.data[i].slot] = at;
        at += (int32_t)b->nodes.count;
    }
    return true;
}

static abut_status grow(assembly *a, box bounds) {
    builder *top = &a->top;
    *top = (builder){.in = &a->in, .budget = a->in.node_budget};
    if (!build_pieces(top) || !push_root(top, bounds)) return top->status;
    a->piece_count = top->pieces.count, a->corner_count = top->corners.count;
    bool divided = a->in.method == ABUT_INDEX_HYBRID;
    int64_t task_size = top->pieces.count / 24 > 400 ? top->pieces.count / 24 : 400;
    if (!build_space(top, task_size, divided ? take_region : NULL, a)) return top->status;
    for (int64_t i = 0; i < a->tasks.count; i++) {
        builder *b = &a->tasks.data[i];
        b->in = &a->in, b->base = top->points.data, b->base_count = (int32_t)top->points.count;
    }
    parallel_for(a->in.context, (int)a->tasks.count, run_space_task, a);
    abut_status status = first_failure(a);
    if (status != ABUT_OK) return status;
    if (!gather_space(a)) return ABUT_NO_MEMORY;
    if (a->space_count > a->in.node_budget) return ABUT_BUDGET;
    return ABUT_OK;
}

static int compare_extras(const void *user, const void *x, const void *y) {
    (void)user;
    const build_extra *a = x, *b = y;
    return a->owner < b->owner ? -1 : a->owner > b->owner;
}

static abut_status grow_planes(assembly *a) {
    builder *top = &a->top;
    if (!sort_stable(a->in.context, top->extras.data, (size_t)top->extras.count, sizeof(build_extra),
                     compare_extras, NULL))
        return ABUT_NO_MEMORY;
    parallel_for(a->in.context, (int)a->tasks.count + 1, run_plane_task, a);
    return first_failure(a);
}

/* ---- the block */
typedef struct layout {
    const assembly *a;
    index_node *nodes;
    int32_t *stack; /* pairs: what to copy next, and where its number goes */
    int64_t count;
} layout;

/* The bigger 3D subtree comes right behind its parent. */
static bool order_space(layout *l, int32_t *number) {
    const assembly *a = l->a;
    const abut_context *context = a->in.context;
    int64_t n = a->space_count, top = 0;
    int32_t *size = mem_calloc(context, (size_t)n, sizeof *size),
            *stack = mem_alloc(context, (size_t)n + 1, sizeof *stack);
    bool good = size && stack;
    for (int64_t i = n - 1; good && i >= 0; i--) { /* children stand behind their parents */
        size[i]++;
        for (int slot = 0; slot < 3; slot += 2)
            if (a->space[i].child[slot] >= 0) size[i] += size[a->space[i].child[slot]];
    }
    if (good) stack[top++] = 0;
    while (top) {
        int32_t i = stack[--top];
        number[i] = (int32_t)l->count++;
        int32_t above = a->space[i].child[INDEX_ABOVE], below = a->space[i].child[INDEX_BELOW];
        bool above_first = above >= 0 && (below < 0 || size[above] >= size[below]);
        int32_t later = above_first ? below : above, first = above_first ? above : below;
        if (later >= 0) stack[top++] = later;
        if (first >= 0) stack[top++] = first;
    }
    mem_free(context, size, (size_t)n, sizeof *size);
    mem_free(context, stack, (size_t)n + 1, sizeof *stack);
    return good;
}

/* Copies the tree with root `code` of builder b behind the nodes so far; returns its new root. */
static int32_t copy_tree(layout *l, const builder *b, int32_t code) {
    if (code < 0) return code;
    int64_t top = 0;
    int32_t root = (int32_t)l->count;
    l->stack[top++] = code, l->stack[top++] = -1;
    while (top) {
        int32_t link = l->stack[--top], from = l->stack[--top];
        int32_t at = (int32_t)l->count++;
        l->nodes[at] = b->nodes.data[from];
        if (link >= 0) l->nodes[link / 3].child[link % 3] = at;
        for (int slot = 2; slot >= 0; slot--)
            if (l->nodes[at].child[slot] >= 0)
                l->stack[top++] = l->nodes[at].child[slot], l->stack[top++] = 3 * at + slot;
    }
    return root;
}

/* Nodes by dimension, cells, height and average height.  Children stand behind their parents. */
static bool measure_index(const abut_context *context, abut_index *index) {
    index_node *nodes = (index_node *)(void *)((char *)index + index->nodes);
    int32_t *depth = mem_calloc(context, (size_t)index->node_count, sizeof *depth);
    if (!depth) return false;
    double sum = 0;
    int64_t leaves = 0;
    for (int64_t i = 0; i < index->node_count; i++) {
        const index_node *n = &nodes[i];
        int32_t d = ++depth[i];
        index->space_count += n->dimension == 3, index->plane_count += n->dimension == 2;
        index->line_count += n->dimension == 1;
        if (d > index->height) index->height = d;
        for (int slot = 0; slot < 3; slot++) {
            if (n->child[slot] >= 0)
                depth[n->child[slot]] = d;
            else
                sum += d, leaves++;
            index->cell_count += n->dimension == 3 && slot != INDEX_ON && n->child[slot] == INDEX_IN;
        }
    }
    index->average_height = sum / (double)leaves;
    for (int64_t i = index->node_count - 1; i >= 0; i--) {
        index_node *n = &nodes[i];
        for (int slot = 0; slot < 3; slot++)
            if (slot == INDEX_ON ? n->dimension == 3 : n->dimension == 2)
                n->holds_face |= index_holds_face(index, n->child[slot]);
    }
    mem_free(context, depth, (size_t)index->node_count, sizeof *depth);
    return true;
}

static int64_t plane_nodes_of(const assembly *a) {
    int64_t count = a->top.nodes.count;
    for (int64_t i = 0; i < a->tasks.count; i++) count += a->tasks.data[i].nodes.count;
    return count;
}

static bool fill_nodes(layout *l, int32_t *number) {
    const assembly *a = l->a;
    if (!order_space(l, number)) return false;
    int64_t place = 0;
    for (int64_t i = 0; i < a->space_count; i++) {
        index_node n = a->space[i];
        for (int slot = 0; slot < 3; slot += 2)
            if (n.child[slot] >= 0) n.child[slot] = number[n.child[slot]];
        l->nodes[number[i]] = n;
    }
    for (int64_t i = 0; i <= a->tasks.count; i++, place++) {
        const builder *b = i < a->tasks.count ? &a->tasks.data[i] : &a->top;
        for (int64_t k = 0; k < b->sections.count; k++) {
            int32_t node = a->first[i] + b->sections.data[k].node;
            l->nodes[number[node]].child[INDEX_ON] = copy_tree(l, b, a->on[node]);
        }
    }
    return true;
}

/* The convex pieces of the faces, which stand in the order of the faces. */
static void fill_pieces(const assembly *a, abut_index *index) {
    int32_t *first = (int32_t *)(void *)((char *)index + index->face_pieces);
    int32_t *start = (int32_t *)(void *)((char *)index + index->piece_corners);
    int32_t *corners = (int32_t *)(void *)((char *)index + index->corners);
    for (int64_t p = 0; p < a->piece_count; p++) {
        first[a->top.pieces.data[p].face + 1] = (int32_t)p + 1;
        start[p] = a->top.pieces.data[p].first;
    }
    start[a->piece_count] = (int32_t)a->corner_count;
    for (int64_t c = 0; c < a->corner_count; c++) corners[c] = a->top.corners.data[c].point;
}

static void fill_steps(abut_index *index, const int32_t *number) {
    index_step *steps = (index_step *)(void *)((char *)index + index->steps);
    index_links *links = (index_links *)(void *)((char *)index + index->links);
    const index_node *nodes = index_nodes(index);
    for (int64_t i = 0; i < index->space_count; i++)
        if (number[i] >= 0)
            steps[number[i]] = index_step_of(nodes, i, number),
            links[number[i]] = index_links_at(nodes, (int32_t)i);
}

static uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

static abut_status make_block(const assembly *a, box bounds, abut_index **out) {
    const abut_context *context = a->in.context;
    const abut_solid *solid = a->in.solid;
    int64_t most = a->space_count + plane_nodes_of(a);
    size_t stack_size = 6 * (size_t)most + 8;
    layout l = {.a = a};
    int32_t *number = mem_alloc(context, (size_t)a->space_count, sizeof *number);
    l.nodes = mem_alloc(context, (size_t)most, sizeof *l.nodes);
    l.stack = mem_alloc(context, stack_size, sizeof *l.stack);
    bool good = number && l.nodes && l.stack && fill_nodes(&l, number);
    abut_index *index = NULL;
    abut_index head = {.magic = INDEX_MAGIC, .version = INDEX_VERSION, .node_count = l.count};
    head.piece_count = a->piece_count, head.corner_count = a->corner_count;
    head.nodes = aligned(sizeof head);
    /* a large block of the usual allocators begins 16 bytes behind a page: then a step is a cache line */
    head.steps = aligned(head.nodes + (uint64_t)l.count * sizeof(index_node)) + 48;
    if (good) head.step_count = index_number_steps(context, l.nodes, a->space_count, number);
    if (head.step_count < 0) good = false;
    head.links = aligned(head.steps + (uint64_t)head.step_count * sizeof(index_step));
    head.face_pieces = aligned(head.links + (uint64_t)head.step_count * sizeof(index_links));
    head.piece_corners = aligned(head.face_pieces + ((uint64_t)solid->face_count + 1) * sizeof(int32_t));
    head.corners = aligned(head.piece_corners + ((uint64_t)a->piece_count + 1) * sizeof(int32_t));
    head.bytes = aligned(head.corners + (uint64_t)a->corner_count * sizeof(int32_t));
    size_t bytes = head.bytes;
    if (good) index = mem_calloc(context, bytes, 1);
    if (index) {
        *index = head;
        memcpy((char *)index + head.nodes, l.nodes, (size_t)l.count * sizeof(index_node));
        fill_pieces(a, index);
        index->solid_hash = solid->hash;
        index->vertex_count = solid->vertex_count, index->edge_count = solid->edge_count;
        index->face_count = solid->face_count;
        index->bounds = bounds, index->slack = a->in.band;
        index->root = 0, index->method = a->in.method;
        index->extent = vec3_length(vec3_max(vec3_abs(bounds.lower), vec3_abs(bounds.upper)));
        good = measure_index(context, index);
        fill_steps(index, number);
        size_t from = offsetof(abut_index, solid_hash);
        index->hash = hash64((const char *)index + from, bytes - from, INDEX_VERSION);
        if (!good) mem_free(context, index, bytes, 1), index = NULL;
    }
    mem_free(context, number, (size_t)a->space_count, sizeof *number);
    mem_free(context, l.nodes, (size_t)most, sizeof *l.nodes);
    mem_free(context, l.stack, stack_size, sizeof *l.stack);
    *out = index;
    return index ? ABUT_OK : ABUT_NO_MEMORY;
}

static abut_status attempt(const build_input *in, abut_index **index) {
    assembly a = {.in = *in};
    box bounds = solid_box(in->solid);
    abut_status status = grow(&a, bounds);
    if (status == ABUT_OK) status = grow_planes(&a);
    if (status == ABUT_OK && a.space_count + plane_nodes_of(&a) > in->node_budget) status = ABUT_BUDGET;
    if (status == ABUT_OK) status = make_block(&a, bounds, index);
    assembly_free(&a);
    return status;
}

static int log2_of(int64_t n) {
    int bits = 0;
    while (n > 1) n /= 2, bits++;
    return bits;
}

abut_status abut_index_build(const abut_context *context, const abut_solid *solid,
                             const abut_index_options *options, abut_index **index, abut_error *error) {
    *index = NULL;
    abut_index_options o = options ? *options : abut_default_index_options();
    if (o.crowd < 1)
        return fail(error, ABUT_INVALID, "crowd is %d; a region needs at least 1 face, take 20", o.crowd);
    int64_t entities = solid->vertex_count + solid->edge_count + solid->face_count;
    build_input in = {.context = context, .solid = solid, .method = o.method, .crowd = o.crowd};
    in.regular_cap = 2 * log2_of(solid->face_count) + 6;
    in.node_budget = o.node_budget > 0 ? o.node_budget : 64 * entities + 4096;
    in.weld = solid->weld, in.band = fmax(4 * solid->weld, 1e-11 * solid->diagonal);
    int32_t *start = NULL, *planes = NULL;
    abut_status status = list_vertex_planes(&in, &start, &planes);
    if (status == ABUT_OK) status = attempt(&in, index);
    if (status == ABUT_BUDGET && o.method == ABUT_INDEX_HYBRID) { /* once more, with fewer regular cuts */
        log_write(context, ABUT_LOG_WARNING, "index: more than %lld nodes with %d faces a region; trying %d",
                  (long long)in.node_budget, in.crowd, 4 * in.crowd);
        in.crowd *= 4;
        status = attempt(&in, index);
    }
    mem_free(context, start, (size_t)solid->vertex_count + 2, sizeof *start);
    mem_free(context, planes, (size_t)solid->coedge_count, sizeof *planes);
    if (status == ABUT_NO_MEMORY) return fail_memory(error);
    if (status == ABUT_BUDGET)
        return fail(
            error, status,
            "the index of %lld faces needs more than %lld nodes with method %s; raise node_budget, or take "
            "method hybrid and a larger crowd",
            (long long)solid->face_count, (long long)in.node_budget, abut_index_method_name(o.method));
    if (status != ABUT_OK)
        return fail(error, status,
                    "a face with holes could not be divided into convex pieces; check the mesh for "
                    "faces that touch themselves");
#if defined(ABUT_VALIDATE)
    status = index_validate(*index, error);
    if (status != ABUT_OK) abut_index_free(context, *index), *index = NULL;
#endif
    return status;
}
