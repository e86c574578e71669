/* How much a structure on springs is overloaded.  Its bodies lie in layers, as many contacts away from what
 * is immovable; a layer leans as a whole.  With the angles u_i of the layers, the stiffness K_i of all
 * contacts between the layers i - 1 and i against turning, the weight w_i of a layer, W_i of all above it,
 * and its height a_i, the potential energy is
 *
 *     1/2 sum K_i (u_i - u_i-1)^2  -  1/2 sum a_i (W_i + w_i / 2) u_i^2,      u_0 = 0
 *
 * and the structure buckles where that is negative for any u: where the largest L is above 1 for which
 *
 *     K u'' = -G u / L,     that is     L u_i = sum over j <= i of 1/K_j sum over k >= j of G_k u_k
 *
 * found by powers of the right-hand side.  For equal layers L = n^3 m g a / 7.84 K (Greenhill 1881).
 *
 * A contact of points p with the effective masses m_p and the arms e_p of their forces (about the middle of
 * the manifold) turns with  sum m_p w^2 e_p e_p^T,  w the frequency of its springs; the axis is the one about
 * which all layers together turn most easily.
 *
 * In a heap bodies hold each other from all sides and no layer leans: where the normals are not alike (1 in a
 * wall, 0.7 in a heap of hulls), the overload is 0. */
#include "sim/live.h"

enum { POWERS = 6 };
#define ALIKE 0.9

typedef struct layer {
    double weight, height, bodies;
    double xx, xy, yy;     /* against turning about horizontal axes */
    double stiff, push, u; /* K, G and u above */
} layer;

static void weigh(const live *w, const live_island *s, vec3 up, double g, layer *layers, int most) {
    for (int i = 0; i < s->body_count; i++) {
        int body = w->island_bodies.data[s->first_body + i];
        if (w->levels[body] > most) continue; /* hangs on nothing that is immovable */
        layer *at = &layers[w->levels[body]];
        at->weight += g * w->body[body].inertia.mass;
        at->height += vec3_dot(up, w->motions[body].center), at->bodies++;
    }
}

/* The contacts between one layer and the next. */
static void stiffen(const live *w, const live_batch *b, int lane, vec3 x, vec3 y, layer *at) {
    for (int i = 0; i < b->points; i++) {
        const live_lane_point *p = &b->point[i];
        double k = w->stiffness * w->unit * p->mass[lane];
        vec3 e = {p->e.x[lane], p->e.y[lane], p->e.z[lane]};
        double u = vec3_dot(e, x), v = vec3_dot(e, y);
        at->xx += k * u * u, at->xy += k * u * v, at->yy += k * v * v;
    }
}

static double load_of(const live_batch *b, int lane) {
    double load = 0;
    for (int i = 0; i < b->points; i++) load += b->point[i].impulse[lane];
    return load;
}

/* Of each contact its lane, counted over all batches. */
static bool find_lanes(live *w) {
    if (w->lane_of.count == w->links.count) return true;
    if (!array_reserve(w->context, &w->lane_of, w->links.count)) return false;
    for (int64_t i = 0; i < w->links.count; i++) w->lane_of.data[i] = -1;
    for (int64_t i = 0; i < w->batch_count; i++)
        for (int k = 0; k < LANES; k++)
            if (w->batches[i].contact[k] >= 0) w->lane_of.data[w->batches[i].contact[k]] = (int)i * LANES + k;
    w->lane_of.count = w->links.count;
    return true;
}

/* All of them; how much their normals are alike, the length of the mean of those upwards, by their loads. */
static double stiffen_all(const live *w, const live_island *s, vec3 x, vec3 y, layer *layers, int most) {
    vec3 up = vec3_cross(x, y), sum = vec3_zero();
    double all = 0;
    for (int i = 0; i < s->contact_count; i++) {
        int contact = w->island_contacts.data[s->first_contact + i], lane = w->lane_of.data[contact];
        const live_link *c = &w->links.data[contact];
        int a = w->levels[c->a], b = w->levels[c->b]; /* 0 of what is immovable */
        int upper = a > b ? a : b, lower = a > b ? b : a, k = lane % LANES;
        if (lane < 0 || upper > most || upper != lower + 1) continue;
        const live_batch *batch = &w->batches[lane / LANES];
        stiffen(w, batch, k, x, y, &layers[upper]);
        vec3 n = {batch->n.x[k], batch->n.y[k], batch->n.z[k]};
        double load = load_of(batch, k);
        sum = vec3_axpy(sum, vec3_dot(n, up) < 0 ? -load : load, n), all += load;
    }
    return all > 0 ? vec3_length(sum) / all : 1;
}

/* K about the weakest axis of all layers together, the eigenvector of the smaller eigenvalue of a symmetric
 * 2 x 2 matrix; and G. */
static void reduce(layer *layers, int most) {
    double xx = 0, xy = 0, yy = 0, above = 0;
    for (int i = 1; i <= most; i++) xx += layers[i].xx, xy += layers[i].xy, yy += layers[i].yy;
    double half = (xx - yy) / 2, root = sqrt(half * half + xy * xy);
    double b = half > 0 ? half + root : xy, a = half > 0 ? -xy : half - root; /* across that of the larger */
    double size = a * a + b * b;
    if (!(size > 0)) a = size = 1, b = 0;
    for (int i = most; i >= 1; i--) {
        layer *at = &layers[i];
        const layer *next = i > 1 ? at - 1 : at + 1;
        double tall = fabs(at->height / at->bodies - next->height / next->bodies);
        at->stiff = (a * a * at->xx + 2 * a * b * at->xy + b * b * at->yy) / size;
        at->push = tall * (above + at->weight / 2);
        above += at->weight, at->u = i;
    }
}

static double largest(layer *layers, int most) {
    double load = 0;
    for (int k = 0; k < POWERS; k++) {
        double moment = 0, u = 0, old = layers[most].u;
        for (int i = most; i >= 1; i--) moment += layers[i].push * layers[i].u;
        for (int i = 1; i <= most; i++) {
            layer *at = &layers[i];
            double own = at->push * at->u;
            if (!(at->stiff > 0)) return INFINITY;
            u += moment / at->stiff, at->u = u;
            moment -= own;
        }
        load = u / old;
        for (int i = 1; i <= most; i++) layers[i].u /= u;
    }
    return load;
}

double live_overload(live *w, int64_t island, int most) {
    vec3 gravity = w->model->world.gravity;
    double g = vec3_length(gravity);
    if (g == 0 || most < 2) return 0;
    vec3 up = vec3_scale(gravity, -1 / g), x = vec3_orthogonal(up), y = vec3_cross(up, x);
    arena_mark mark = arena_save(&w->scratch);
    layer *layers = arena_alloc(&w->scratch, (size_t)most + 1, sizeof *layers);
    if (!layers || !find_lanes(w)) return -1;
    memset(layers, 0, ((size_t)most + 1) * sizeof *layers);
    weigh(w, &w->islands.data[island], up, g, layers, most);
    bool built = stiffen_all(w, &w->islands.data[island], x, y, layers, most) > ALIKE;
    reduce(layers, most);
    double load = built ? largest(layers, most) : 0;
    arena_restore(&w->scratch, mark);
    return load;
}
