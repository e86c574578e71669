/* Steps of two levels, made from the 3D nodes (index.h). */
#include "index/index.h"

int64_t index_number_steps(const index_node *nodes, int64_t count, int32_t *number) {
    int64_t steps = 0;
    for (int64_t i = 0; i < count; i++) number[i] = -1;
    number[0] = 0;
    for (int64_t i = 0; i < count; i++) { /* children stand behind their parents */
        if (number[i] < 0) continue;
        number[i] = (int32_t)steps++;
        for (int k = 0; k < 4; k++) {
            int32_t child = nodes[i].child[k / 2 ? INDEX_BELOW : INDEX_ABOVE];
            int32_t end = child >= 0 ? nodes[child].child[k % 2 ? INDEX_BELOW : INDEX_ABOVE] : child;
            if (end >= 0) number[end] = 0;
        }
    }
    return steps;
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
