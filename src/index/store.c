/* The index as a block: freeing, facts, nodes, saving and loading, and its validator. */
#include "index/index.h"

#include <errno.h>
#include <stdio.h>

void abut_index_free(const abut_context *context, abut_index *index) {
    if (index) mem_free(context, index, index->bytes, 1);
}

const char *abut_place_kind_name(abut_place_kind kind) {
    static const char *const names[] = {"outside", "inside", "vertex", "edge", "face"};
    return names[kind];
}

abut_index_facts abut_index_facts_of(const abut_index *index) {
    return (abut_index_facts){.nodes = index->node_count,
                              .space_nodes = index->space_count,
                              .plane_nodes = index->plane_count,
                              .line_nodes = index->line_count,
                              .cells = index->cell_count,
                              .height = index->height,
                              .average_height = index->average_height,
                              .bytes = index->bytes,
                              .hash = index->hash,
                              .solid_hash = index->solid_hash,
                              .method = (abut_index_method)index->method};
}

bool abut_index_fits(const abut_index *index, const abut_solid *solid) {
    return index->solid_hash == solid->hash;
}
int32_t abut_index_root(const abut_index *index) { return index->root; }
abut_place abut_index_leaf(int32_t child) { return index_place(child); }

abut_index_node abut_index_node_of(const abut_index *index, int32_t node) {
    const index_node *n = &index_nodes(index)[node];
    return (abut_index_node){n->cut.n, n->cut.d, n->dimension, n->child[0], n->child[1], n->child[2]};
}

/* ---- files */
abut_status abut_index_save(const abut_context *context, const abut_index *index, const char *path,
                            abut_error *error) {
    (void)context;
    FILE *file = fopen(path, "wb");
    if (!file)
        return fail_at(error, ABUT_IO, path, 0, "cannot be written: %s; check the folder", strerror(errno));
    bool good = fwrite(index, 1, index->bytes, file) == index->bytes;
    good = fclose(file) == 0 && good;
    return good ? ABUT_OK : fail_at(error, ABUT_IO, path, 0, "was not written whole; is the disk full?");
}

abut_status abut_index_load(const abut_context *context, const char *path, abut_index **index,
                            abut_error *error) {
    *index = NULL;
    char *bytes;
    size_t size;
    abut_status status = file_read(context, path, &bytes, &size, error);
    if (status != ABUT_OK) return status;
    abut_index head = {0};
    if (size >= sizeof head) memcpy(&head, bytes, sizeof head);
    if (size < sizeof head || head.magic != INDEX_MAGIC)
        status =
            fail_at(error, ABUT_INVALID, path, 0, "is not an index of abut; write one with abut_index_save");
    else if (head.version != INDEX_VERSION)
        status = fail_at(error, ABUT_INVALID, path, 0, "is an index of version %u, not %d; build it again",
                         head.version, INDEX_VERSION);
    else if (head.bytes != size)
        status =
            fail_at(error, ABUT_INVALID, path, 0, "has %zu bytes, not %llu; it is cut off, build it again",
                    size, (unsigned long long)head.bytes);
    if (status == ABUT_OK) {
        abut_index *block = mem_alloc(context, size, 1);
        if (!block)
            status = fail_memory(error);
        else
            memcpy(block, bytes, size), *index = block, status = index_validate(block, error);
        if (status != ABUT_OK) {
            mem_free(context, block, size, 1), *index = NULL;
            if (error && status == ABUT_FAILED)
                error->status = ABUT_INVALID, snprintf(error->file, sizeof error->file, "%s", path);
            if (status == ABUT_FAILED) status = ABUT_INVALID;
        }
    }
    file_free(context, bytes, size);
    return status;
}

/* ---- the validator */
static bool is_entity_in_range(const abut_index *index, int32_t leaf) {
    int64_t count[3] = {index->vertex_count, index->edge_count, index->face_count};
    return leaf >= INDEX_IN ? true : leaf != INT32_MIN && index_leaf_id(leaf) < count[index_leaf_kind(leaf)];
}

/* What a child of a node of dimension d may be. */
static const char *wrong_child(const abut_index *index, int64_t node, int slot) {
    const index_node *n = &index_nodes(index)[node];
    int32_t c = n->child[slot];
    int dimension = n->dimension - (slot == INDEX_ON);
    if (c >= 0) {
        if (c >= index->node_count || c <= node) return "a child out of order";
        if (dimension == 0 || index_nodes(index)[c].dimension != dimension)
            return "a child of the wrong dimension";
        return NULL;
    }
    if (!is_entity_in_range(index, c)) return "a leaf out of range";
    if (c < INDEX_IN && index_leaf_kind(c) < dimension) return "an entity that is thinner than the region";
    return NULL;
}

static bool holds_face(const abut_index *index, int64_t node) {
    const int32_t *c = index_nodes(index)[node].child;
    switch (index_nodes(index)[node].dimension) {
    case 3: return index_holds_face(index, c[INDEX_ON]);
    case 2: return index_holds_face(index, c[INDEX_ABOVE]) || index_holds_face(index, c[INDEX_BELOW]);
    default: return false;
    }
}

static const char *wrong_plane(const abut_index *index, int64_t node) {
    const index_node *n = &index_nodes(index)[node];
    double length = vec3_length(n->cut.n);
    if (!(fabs(length - 1) < 1e-9) || !isfinite(n->cut.d)) return "a plane without a unit normal";
    int32_t c = n->child[INDEX_ON];
    if (c >= 0 && fabs(vec3_dot(index_nodes(index)[c].cut.n, n->cut.n)) > 1e-9)
        return "a plane that is not perpendicular to the one it hangs from";
    return NULL;
}

/* The arrays lie one behind the other within the block. */
static bool has_sane_layout(const abut_index *index) {
    const uint64_t at[7] = {index->nodes,         index->steps,   index->links, index->face_pieces,
                            index->piece_corners, index->corners, index->bytes};
    const int64_t count[6] = {index->node_count,     index->step_count,      index->step_count,
                              index->face_count + 1, index->piece_count + 1, index->corner_count};
    if (index->node_count < 1 || index->step_count < 1 || index->root != 0 || index->nodes < sizeof *index ||
        index->nodes % 16 != 0)
        return false;
    const uint64_t size[6] = {sizeof(index_node), sizeof(index_step), sizeof(index_links),
                              sizeof(int32_t),    sizeof(int32_t),    sizeof(int32_t)};
    for (int i = 0; i < 6; i++) {
        if (count[i] < 0 || at[i] > at[i + 1] || at[i] % 4 != 0 ||
            (uint64_t)count[i] > (at[i + 1] - at[i]) / size[i])
            return false;
    }
    return true;
}

static bool has_sane_pieces(const abut_index *index) {
    const int32_t *first = index_face_pieces(index), *start = index_piece_corners(index),
                  *corners = index_corners(index);
    if (first[0] != 0 || first[index->face_count] != index->piece_count ||
        start[index->piece_count] != index->corner_count)
        return false;
    for (int64_t f = 0; f < index->face_count; f++)
        if (first[f + 1] <= first[f]) return false;
    for (int64_t p = 0; p < index->piece_count; p++)
        if (start[p] < 0 || start[p + 1] < start[p] + 3) return false;
    for (int64_t c = 0; c < index->corner_count; c++)
        if (corners[c] < 0 || corners[c] >= index->vertex_count) return false;
    return true;
}

/* A step leads where its nodes lead, and has their planes; the first begins with the root.  Ranges are
 * checked before, so every child that is a node is one. */
static bool has_sane_step(const abut_index *index, int64_t step) {
    const index_node *nodes = index_nodes(index);
    const index_step *s = &index_steps(index)[step];
    int32_t node = index_links_of(index)[step].node;
    if (node < 0 || node >= index->space_count || nodes[node].dimension != 3 || (step == 0) != (node == 0))
        return false;
    for (int way = 0; way < 4; way++) {
        int32_t child = nodes[node].child[way / 2 ? INDEX_BELOW : INDEX_ABOVE], end = index_end(s, way);
        int32_t want = child >= 0 ? nodes[child].child[way % 2 ? INDEX_BELOW : INDEX_ABOVE] : child;
        if (end >= 0 ? end <= step || end >= index->step_count || index_links_of(index)[end].node != want
                     : end != want)
            return false;
    }
    index_step same = *s;
    index_put_plane(&same, 0, nodes[node].cut, nodes[node].holds_face);
    index_put_child(&same, 1, nodes, nodes[node].child[INDEX_ABOVE]);
    index_put_child(&same, 2, nodes, nodes[node].child[INDEX_BELOW]);
    index_links links = index_links_at(nodes, node);
    return memcmp(&same, s, sizeof same) == 0 &&
           memcmp(&links, &index_links_of(index)[step], sizeof links) == 0;
}

abut_status index_validate(const abut_index *index, abut_error *error) {
    if (index->magic != INDEX_MAGIC || index->version != INDEX_VERSION)
        return fail(error, ABUT_FAILED, "the index has no valid head; build it again");
    if (!has_sane_layout(index))
        return fail(error, ABUT_FAILED, "the index has impossible counts; build it again");
    size_t from = offsetof(abut_index, solid_hash);
    if (hash64((const char *)index + from, index->bytes - from, INDEX_VERSION) != index->hash)
        return fail(error, ABUT_FAILED, "the index does not match its content hash; build it again");
    if (!has_sane_pieces(index))
        return fail(error, ABUT_FAILED, "the index has impossible pieces; build it again");
    int64_t links = 0, count[4] = {0}, cells = 0;
    for (int64_t i = 0; i < index->node_count; i++) {
        const index_node *n = &index_nodes(index)[i];
        const char *wrong = n->dimension < 1 || n->dimension > 3 ? "a wrong dimension" : NULL;
        for (int slot = 0; slot < 3 && !wrong; slot++) {
            wrong = wrong_child(index, i, slot);
            links += n->child[slot] >= 0;
            cells += n->dimension == 3 && slot != INDEX_ON && n->child[slot] == INDEX_IN;
        }
        if (!wrong) wrong = wrong_plane(index, i);
        if (!wrong && n->holds_face != holds_face(index, i)) wrong = "a wrong note of faces in its plane";
        if (wrong)
            return fail(error, ABUT_FAILED, "node %lld has %s; build the index again", (long long)i, wrong);
        count[n->dimension]++;
    }
    /* children stand behind their parents, so as many links as nodes without the root reach each node once,
     * or some node twice and another never; that is found by adding up the child numbers */
    int64_t sum = 0;
    for (int64_t i = 0; i < index->node_count; i++)
        for (int slot = 0; slot < 3; slot++)
            if (index_nodes(index)[i].child[slot] >= 0) sum += index_nodes(index)[i].child[slot];
    if (links != index->node_count - 1 || sum != index->node_count * (index->node_count - 1) / 2)
        return fail(error, ABUT_FAILED, "the nodes of the index do not form a tree; build it again");
    if (count[3] != index->space_count || count[2] != index->plane_count || count[1] != index->line_count ||
        cells != index->cell_count)
        return fail(error, ABUT_FAILED, "the counts of the index do not match its nodes; build it again");
    for (int64_t i = 0; i < index->step_count; i++)
        if (!has_sane_step(index, i))
            return fail(error, ABUT_FAILED, "step %lld does not match its nodes; build the index again",
                        (long long)i);
    return ABUT_OK;
}
