/* Islands: movable bodies that push each other through contacts and hinges.  An island sleeps and wakes as a
 * whole (live_sleep.c), and is solved either by batches or directly. */
#include "sim/live.h"

enum { EASY_ROWS = 30, EASY_BUDGET = 120, LOW = 8 };

static int find(int32_t *parent, int i) {
    while (parent[i] != i) parent[i] = parent[parent[i]], i = parent[i];
    return i;
}

/* The smaller number becomes the root, so that islands come in the order of their first bodies. */
static void join(int32_t *parent, int a, int b) {
    a = find(parent, a), b = find(parent, b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
}

static bool is_movable(const live *w, int body) { return body >= 0 && w->body[body].movable; }

static void connect(live *w) {
    for (int i = 0; i < w->bodies; i++) w->parent[i] = i;
    for (int64_t i = 0; i < w->links.count; i++) {
        const live_link *c = &w->links.data[i];
        if (c->count > 0 && is_movable(w, c->a) && is_movable(w, c->b)) join(w->parent, c->a, c->b);
    }
    for (int i = 0; i < w->model->hinge_count; i++) {
        const hinge *h = &w->model->hinges[i].h;
        if (!run_hinges(w->run->state)[i].broken && is_movable(w, h->a) && is_movable(w, h->b))
            join(w->parent, h->a, h->b);
    }
    for (int i = 0; i < w->model->spring_count; i++) {
        const model_spring *s = &w->model->springs[i];
        if (is_movable(w, s->a) && is_movable(w, s->b)) join(w->parent, s->a, s->b);
    }
}

static int larger(int a, int b) { return a > b ? a : b; }

/* Numbers the islands and counts what belongs to them. */
static bool count_members(live *w) {
    w->islands.count = 0;
    for (int i = 0; i < w->bodies; i++) {
        w->rests[i].island = -1;
        if (!w->body[i].movable) continue;
        int root = find(w->parent, i);
        if (root == i) {
            live_island fresh = {.lightest = INFINITY};
            w->rests[i].island = (int32_t)w->islands.count;
            if (!array_push(w->context, &w->islands, fresh)) return false;
        }
        w->rests[i].island = w->rests[root].island;
        live_island *island = &w->islands.data[w->rests[i].island];
        island->body_count++;
        island->awake |= !w->rests[i].asleep;
        island->at_pace[w->rests[i].pace]++;
        island->at_tall[w->rests[i].tall]++;
        island->hurry = larger(island->hurry, w->rests[i].hurry);
        island->lightest = fmin(island->lightest, w->body[i].inertia.mass);
        island->heaviest = fmax(island->heaviest, w->body[i].inertia.mass);
    }
    return true;
}

/* The largest number that more than half of the bodies have or exceed, by how many have each. */
static int that_of_most(const int32_t count[LIVE_PACES], int bodies) {
    int number = LIVE_PACES, sum = 0;
    while (number > 0 && 2 * sum <= bodies) sum += count[--number];
    return number;
}

/* Most of its bodies decide: a few that come down on a heap do not make all of it hurry. */
static void find_pace(live *w, live_island *s) {
    s->pace = that_of_most(s->at_pace, s->body_count);
    s->tall = that_of_most(s->at_tall, s->body_count);
    for (int k = 0; k < s->body_count && s->pace > 0; k++) {
        const live_rest *r = &w->rests[w->island_bodies.data[s->first_body + k]];
        if (r->pace >= s->pace) s->hold = fmax(s->hold, r->hold);
    }
}

static live_island *island_of(live *w, int a, int b) {
    int body = is_movable(w, a) ? a : b;
    return is_movable(w, body) ? &w->islands.data[w->rests[body].island] : NULL;
}

/* Something that moves by itself keeps awake what it touches. */
static bool moves_by_itself(const live *w, int body) {
    if (body < 0 || !w->body[body].kinematic) return false;
    twist v = w->motions[body].velocity;
    return vec3_length2(v.linear) + vec3_length2(v.angular) > 0 || w->wanders[body] > 0;
}

static void count_contacts(live *w) {
    for (int64_t i = 0; i < w->links.count; i++) {
        const live_link *c = &w->links.data[i];
        if (c->count == 0) continue;
        live_island *island = island_of(w, c->a, c->b);
        if (!island) continue;
        island->contact_count++;
        island->points += c->count;
        island->driven |= moves_by_itself(w, c->a) || moves_by_itself(w, c->b);
    }
    for (int i = 0; i < w->model->hinge_count; i++) {
        const hinge *h = &w->model->hinges[i].h;
        if (run_hinges(w->run->state)[i].broken) continue;
        live_island *island = island_of(w, h->a, h->b);
        if (!island) continue;
        island->hinge_count++;
        island->driven |= h->has_motor || moves_by_itself(w, h->a) || moves_by_itself(w, h->b);
    }
    for (int i = 0; i < w->model->spring_count; i++) {
        const model_spring *s = &w->model->springs[i];
        live_island *island = island_of(w, s->a, s->b);
        if (!island) continue;
        island->spring_count++;
        island->driven |= moves_by_itself(w, s->a) || moves_by_itself(w, s->b);
    }
    for (int64_t i = 0; i < w->islands.count; i++) w->islands.data[i].awake |= w->islands.data[i].driven;
}

/* Lists of members, each island's together, in ascending order. */
static bool list_members(live *w) {
    int bodies = 0, contacts = 0, hinges = 0, springs = 0;
    for (int64_t i = 0; i < w->islands.count; i++) {
        live_island *s = &w->islands.data[i];
        s->first_body = bodies, s->first_contact = contacts, s->first_hinge = hinges,
        s->first_spring = springs;
        bodies += s->body_count, contacts += s->contact_count, hinges += s->hinge_count;
        springs += s->spring_count;
        s->body_count = s->contact_count = s->hinge_count = s->spring_count = 0;
    }
    if (!array_reserve(w->context, &w->island_bodies, bodies + 1) ||
        !array_reserve(w->context, &w->island_contacts, contacts + 1) ||
        !array_reserve(w->context, &w->island_hinges, hinges + 1) ||
        !array_reserve(w->context, &w->island_springs, springs + 1))
        return false;
    for (int i = 0; i < w->bodies; i++) {
        if (!w->body[i].movable) continue;
        live_island *s = &w->islands.data[w->rests[i].island];
        w->island_bodies.data[s->first_body + s->body_count++] = i;
    }
    for (int64_t i = 0; i < w->links.count; i++) {
        const live_link *c = &w->links.data[i];
        live_island *s = c->count > 0 ? island_of(w, c->a, c->b) : NULL;
        if (s) w->island_contacts.data[s->first_contact + s->contact_count++] = (int)i;
    }
    for (int i = 0; i < w->model->hinge_count; i++) {
        const hinge *h = &w->model->hinges[i].h;
        live_island *s = run_hinges(w->run->state)[i].broken ? NULL : island_of(w, h->a, h->b);
        if (s) w->island_hinges.data[s->first_hinge + s->hinge_count++] = i;
    }
    for (int i = 0; i < w->model->spring_count; i++) {
        live_island *s = island_of(w, w->model->springs[i].a, w->model->springs[i].b);
        if (s) w->island_springs.data[s->first_spring + s->spring_count++] = i;
    }
    return true;
}

/* ---- who is solved directly */

/* A column: each contact adds a body.  Solved by batches its contacts are springs, and it buckles under its
 * own weight: boxes of side a and mass m whose contacts turn with the stiffness K stand up to the number n
 * with n^3 = 7.84 K / (m g a) (Greenhill 1881), for cubes of a metre 16, for slender ones fewer. */
static bool is_column(const live_island *s) {
    return s->contact_count > 0 && s->contact_count <= s->body_count && s->body_count > LOW &&
           s->hinge_count == 0;
}

/* The rows of an island: points, at most five of friction for each manifold, eight for each hinge at
 * most, one for each spring.  Hinges, springs, columns and unequal masses are what Gauss-Seidel converges
 * slowly for; a few small islands are solved directly because it costs nothing. */
static void choose_direct(live *w) {
    int easy = 0, columns = 0;
    w->times.islands_awake = w->times.direct_islands = 0;
    for (int64_t i = 0; i < w->islands.count; i++) {
        live_island *s = &w->islands.data[i];
        int rows = s->points + 5 * s->contact_count + 8 * s->hinge_count + s->spring_count;
        int joined = s->hinge_count + s->spring_count;
        /* hinges alone, and columns, make a sparse problem, whose cost grows with its rows */
        int sparse = 10 * w->options.direct_rows, tall = 10 * sparse;
        if (s->awake && is_column(s)) columns += rows;
        bool column = is_column(s) && columns <= tall;
        bool hard = joined > 0 || column || (s->contact_count > 1 && s->heaviest > 3 * s->lightest);
        /* hinges with few contacts: a bridge with a load on it */
        bool chain = joined > 0 && s->contact_count <= s->body_count;
        int most = column ? tall : s->contact_count == 0 ? sparse : w->options.direct_rows * (chain ? 4 : 1);
        s->direct = s->awake && rows > 0 && rows <= most;
        s->swift = s->awake && !hard ? live_swift_pace(w, s) : 0;
        if (s->direct && !hard) {
            easy += rows;
            s->direct =
                rows <= EASY_ROWS && easy <= EASY_BUDGET && w->options.direct_rows > 0 && s->swift == 0;
        }
        w->times.islands_awake += s->awake, w->times.direct_islands += s->direct;
        bool flies = rows == 0 || (s->direct && s->contact_count == 0);
        for (int k = 0; k < s->body_count; k++)
            flies = flies && !w->sprung[w->island_bodies.data[s->first_body + k]];
        for (int k = 0; k < s->body_count; k++) {
            int body = w->island_bodies.data[s->first_body + k];
            w->in_direct[body] = s->direct, w->flies[body + 1] = flies;
            w->hinged[body + 1] = s->direct && joined > 0;
        }
    }
}

/* ---- at which pace each goes, as the last step decided (live_sway.c) */

/* Islands with loose hinges, whose rows are solved in one list, go at one pace; bodies that move by
 * themselves at the largest of all, so that they are where a sub-step of any pace begins and ends. */
static void set_paces(live *w) {
    w->finest = w->hinge_pace = 0;
    for (int64_t i = 0; i < w->islands.count; i++) {
        live_island *s = &w->islands.data[i];
        find_pace(w, s);
        if (s->direct || !s->awake) s->pace = s->tall = 0;
        if (s->hinge_count > 0 && s->awake && !s->direct)
            w->hinge_pace = larger(w->hinge_pace, larger(s->pace, live_loose_pace(w, s)));
        w->finest = larger(w->finest, larger(larger(s->pace, s->swift), w->hinge_pace));
    }
    for (int64_t i = 0; i < w->islands.count; i++) {
        live_island *s = &w->islands.data[i];
        bool loose = s->hinge_count > 0 && s->awake && !s->direct;
        int pace = loose ? w->hinge_pace : larger(s->pace, s->swift);
        for (int k = 0; k < s->body_count; k++) {
            int slot = w->island_bodies.data[s->first_body + k] + 1;
            w->pace[slot] = (uint8_t)pace, w->tall[slot] = (uint8_t)s->tall;
        }
    }
    for (int i = 0; i < w->bodies; i++)
        if (w->body[i].kinematic) w->pace[i + 1] = (uint8_t)w->finest;
}

bool live_islands(live *w) {
    connect(w);
    if (!count_members(w)) return false;
    count_contacts(w);
    if (!list_members(w) || !live_wake(w)) return false;
    choose_direct(w);
    set_paces(w);
    return true;
}
