/* Steps of two levels, made from the 3D nodes (index.h). */
#include "index/index.h"

/* The steps lie in clusters of four levels, at most 85 of them on one or two pages of memory, since a walk
 * from the top waits for every page as it does for every line:
 *
 *     [root, its 4 ends, their 16, their 64] [the cluster of the first end below] ...
 */
enum { LEVELS = 4, CLUSTER = 85 };

/* The nodes that begin the steps behind that of a node. */
static int ends_of(const index_node *nodes, int32_t node, int32_t ends[4]) {
    int count = 0;
    for (int k = 0; k < 4; k++) {
        int32_t child = nodes[node].child[k / 2 ? INDEX_BELOW : INDEX_ABOVE];
        int32_t end = child >= 0 ? nodes[child].child[k % 2 ? INDEX_BELOW : INDEX_ABOVE] : child;
        if (end < 0 || (count && ends[count - 1] == end)) continue; /* both ways through a leaf */
        ends[count++] = end;
    }
    return count;
}

int64_t index_number_steps(const abut_context *context, const index_node *nodes, int64_t count,
                           int32_t *number) {
    ARRAY(int32_t) roots = {0};
    int64_t steps = 0;
    for (int64_t i = 0; i < count; i++) number[i] = -1;
    bool good = array_push(context, &roots, 0);
    while (good && roots.count) {
        int32_t queue[CLUSTER] = {roots.data[--roots.count]}, ends[4];
        int first = 0, last = 1;
        for (int level = 0; level < LEVELS && good; level++)
            for (int end = last; first < end && good; first++) {
                number[queue[first]] = (int32_t)steps++;
                int many = ends_of(nodes, queue[first], ends);
                for (int k = 0; k < many && level + 1 < LEVELS; k++) queue[last++] = ends[k];
                for (int k = many - 1; k >= 0 && level + 1 == LEVELS && good; k--)
                    good = array_push(context, &roots, ends[k]);
            }
    }
    array_free(context, &roots);
    return good ? steps : -1;
}

void index_put_plane(index_step *s, int lane, plane p, bool holds_face) {
    s->plane[0][lane] = (float)p.n.x, s->plane[1][lane] = (float)p.n.y;
    s->plane[2][lane] = (float)p.n.z, s->plane[3][lane] = (float)p.d;
    s->end[3][lane] = (s->end[3][lane] & ~1) | holds_face;
}

void index_put_child(index_step *s, int lane, const index_node *nodes, int32_t child) {
    if (child >= 0)
        index_put_plane(s, lane, nodes[child].cut, nodes[child].holds_face);
    else
        index_put_plane(s, lane, (plane){{0, 0, 0}, -1e30}, false);
}

index_step index_step_of(const index_node *nodes, int64_t node, const int32_t *number) {
    index_step s;
    const index_node *n = &nodes[node];
    index_put_plane(&s, 0, n->cut, n->holds_face);
    for (int side = 0; side < 2; side++) {
        int32_t child = n->child[side ? INDEX_BELOW : INDEX_ABOVE];
        index_put_child(&s, 1 + side, nodes, child);
        for (int k = 0; k < 2; k++) {
            int32_t end = child >= 0 ? nodes[child].child[k ? INDEX_BELOW : INDEX_ABOVE] : child;
            s.end[2 * side + k][3] = (end >= 0 ? number[end] : end) + INDEX_BIAS;
        }
    }
    return s;
}

static int32_t on_of(const index_node *nodes, int32_t node) {
    return node >= 0 && nodes[node].holds_face ? nodes[node].child[INDEX_ON] : INDEX_OUT;
}

index_links index_links_at(const index_node *nodes, int32_t node) {
    const int32_t *child = nodes[node].child;
    return (index_links){
        node, {on_of(nodes, node), on_of(nodes, child[INDEX_ABOVE]), on_of(nodes, child[INDEX_BELOW])}};
}
