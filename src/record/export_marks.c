/* Contacts as marks that an animation can move.
 *
 * A region changes its shape from frame to frame, but animations only place, turn and stretch (shear is
 * beyond them).  So an area is cut into right triangles, each of which is the unit right triangle, placed,
 * turned and stretched:
 *
 *          R                 the foot F of the apex R on the longest side PQ lies between P and Q:
 *         /|\                (F; P, R) and (F; Q, R) are right at F
 *        / | \
 *       P--F--Q
 *
 * Marks live in slots, the n-th of a kind between two bodies.  A slot has a key at each frame where it shows
 * something else than at the frame before, and a hidden mark has the scale zero. */
#include "contact/flat.h"
#include "record/export_scene.h"

#include <stdio.h>

enum { NUMBERS_MOST = 1 << 14 };

const char *mark_name(mark_kind kind) {
    static const char *const words[] = {
#define MARK_WORD(name, word, r, g, b) word,
        MARK_LIST(MARK_WORD)
#undef MARK_WORD
    };
    return words[kind];
}

vec3 mark_color(mark_kind kind) {
    static const vec3 colors[] = {
#define MARK_COLOR(name, word, r, g, b) {r, g, b},
        MARK_LIST(MARK_COLOR)
#undef MARK_COLOR
    };
    return colors[kind];
}

/* ---- unit meshes */

/* A solid of revolution about z of straight pieces, each with its own normals. */
static bool add_turned(const abut_context *context, tessellation *t, const double (*profile)[2], int count) {
    enum { SIDES = 12 };
    if (!tessellation_reserve(context, t, 2 * (SIDES + 1) * (count - 1), 2 * SIDES * (count - 1)))
        return false;
    for (int k = 0; k + 1 < count; k++) {
        double r0 = profile[k][0], z0 = profile[k][1], r1 = profile[k + 1][0], z1 = profile[k + 1][1];
        double length = sqrt((r1 - r0) * (r1 - r0) + (z1 - z0) * (z1 - z0));
        double out = (z1 - z0) / length, up = (r0 - r1) / length;
        int64_t first = t->points.count;
        for (int i = 0; i <= SIDES; i++) {
            quat half =
                abut_quat_from_axis_angle(vec3_make(0, 0, 1), 6.283185307179586 * (i % SIDES) / SIDES);
            vec3 n = quat_rotate(half, vec3_make(out, 0, up));
            if (!tessellation_point(context, t, quat_rotate(half, vec3_make(r0, 0, z0)), n) ||
                !tessellation_point(context, t, quat_rotate(half, vec3_make(r1, 0, z1)), n))
                return false;
        }
        for (int i = 0; i < SIDES; i++) {
            int64_t a = first + 2 * i, b = a + 2;
            if ((r0 > 0 && !tessellation_triangle(context, t, a, b, b + 1)) ||
                (r1 > 0 && !tessellation_triangle(context, t, a, b + 1, a + 1)))
                return false;
        }
    }
    return true;
}

static bool add_unit_triangle(const abut_context *context, tessellation *t) {
    vec3 up = vec3_make(0, 0, 1);
    return tessellation_point(context, t, vec3_zero(), up) &&
           tessellation_point(context, t, vec3_make(1, 0, 0), up) &&
           tessellation_point(context, t, vec3_make(0, 1, 0), up) &&
           tessellation_triangle(context, t, 0, 1, 2);
}

abut_status mark_mesh(const abut_context *context, mark_kind kind, tessellation *t, abut_error *error) {
    static const double bar[][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    static const double arrow[][2] = {{0, 0}, {0.4, 0}, {0.4, 0.75}, {1, 0.75}, {0, 1}};
    abut_shape ball = abut_shape_sphere(1);
    bool fine = true;
    switch (kind) {
    case MARK_AREA: fine = add_unit_triangle(context, t); break;
    case MARK_LINE: fine = add_turned(context, t, bar, COUNT_OF(bar)); break;
    case MARK_FORCE: fine = add_turned(context, t, arrow, COUNT_OF(arrow)); break;
    case MARK_POINT:
    case MARK_KINDS: return tessellate_analytic(context, &ball, vec3_zero(), 1, t, error);
    }
    return fine ? ABUT_OK : fail_memory(error);
}

/* ---- a contact as marks */

/* From `a` to `b`, with the given width. */
static export_mark stretched(vec3 a, vec3 b, double width) {
    vec3 d = vec3_sub(b, a), z = vec3_unit(d), x = vec3_orthogonal(z);
    mat3 m = {x, vec3_cross(z, x), z};
    return (export_mark){{a, quat_from_matrix(m)}, {width, width, vec3_length(d)}};
}

/* The triangle right at f, with the legs to p and r; nothing where a leg is shorter than a hair. */
static bool put_right(vec3 f, vec3 p, vec3 r, double hair, mark_visitor *put, void *user) {
    vec3 x = vec3_sub(p, f), y = vec3_sub(r, f);
    double a = vec3_length(x), b = vec3_length(y);
    if (!(a > hair) || !(b > hair)) return true;
    x = vec3_scale(x, 1 / a);
    y = vec3_unit(vec3_axpy(y, -vec3_dot(x, y), x));
    mat3 m = {x, y, vec3_cross(x, y)};
    return put(user, MARK_AREA, (export_mark){{f, quat_from_matrix(m)}, {a, b, 1}});
}

static bool put_triangle(const vec3 corner[3], double hair, mark_visitor *put, void *user) {
    int longest = 0;
    double length = -1;
    for (int i = 0; i < 3; i++) {
        double l = vec3_distance(corner[i], corner[(i + 1) % 3]);
        if (l > length) length = l, longest = i;
    }
    if (!(length > hair)) return true;
    vec3 p = corner[longest], q = corner[(longest + 1) % 3], r = corner[(longest + 2) % 3];
    vec3 d = vec3_sub(q, p);
    vec3 f = vec3_axpy(p, vec3_dot(vec3_sub(r, p), d) / vec3_dot(d, d), d);
    return put_right(f, p, r, hair, put, user) && put_right(f, q, r, hair, put, user);
}

/* The outline as thin bars. */
static bool put_outline(const export_scene *s, const vec3 *corners, const int *order, int count,
                        mark_visitor *put, void *user) {
    for (int i = 0; i < count && count > 1; i++) {
        int k = (i + 1) % count;
        vec3 a = corners[order ? order[i] : i], b = corners[order ? order[k] : k];
        if (vec3_distance(a, b) > 1e-6 * s->size && !put(user, MARK_LINE, stretched(a, b, 0.01 * s->size)))
            return false;
    }
    return true;
}

/* An area that is the hull of its points: a fan of triangles, and its outline. */
static bool put_hull(const export_scene *s, const abut_contact *c, mark_visitor *put, void *user) {
    int n = c->point_count;
    int *order = mem_alloc(s->context, 3 * (size_t)n + 2, sizeof *order);
    if (!order) return false;
    int corners = flat_hull(s->context, vec3_unit(c->normals[0]), c->points, n, 0, order, order + n);
    bool fine = corners >= 0;
    for (int i = 2; i < corners && fine; i++) {
        vec3 t[3] = {c->points[order[0]], c->points[order[i - 1]], c->points[order[i]]};
        fine = put_triangle(t, 1e-6 * s->size, put, user);
    }
    fine = fine && put_outline(s, c->points, order, corners, put, user);
    mem_free(s->context, order, 3 * (size_t)n + 2, sizeof *order);
    return fine;
}

/* ---- an area by its border: slabs between the heights of its corners, in which sides do not cross */

typedef struct slab_side {
    double low, high; /* x at both ends of the slab */
} slab_side;

typedef struct border_plane {
    vec3 o, s, t; /* of the plane */
    double *heights;
    slab_side *sides;
    int corners;
} border_plane;

static vec3 lift(const border_plane *p, double x, double y) {
    return vec3_axpy(vec3_axpy(p->o, x, p->s), y, p->t);
}

static int by_height(const void *user, const void *a, const void *b) {
    (void)user;
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The sides that go through the slab, from left to right. */
static int sides_in_slab(const border_plane *p, const abut_contact *c, double y0, double y1) {
    int count = 0;
    for (int l = 0; l < c->loop_count; l++)
        for (int32_t first = c->loop_start[l], n = c->loop_start[l + 1] - first, i = 0; i < n; i++) {
            vec3 a = vec3_sub(c->corners[first + i], p->o),
                 b = vec3_sub(c->corners[first + (i + 1) % n], p->o);
            double ax = vec3_dot(p->s, a), ay = vec3_dot(p->t, a), bx = vec3_dot(p->s, b),
                   by = vec3_dot(p->t, b), middle = 0.5 * (y0 + y1);
            if ((ay > middle) == (by > middle)) continue;
            slab_side s = {ax + (y0 - ay) / (by - ay) * (bx - ax), ax + (y1 - ay) / (by - ay) * (bx - ax)};
            int k = count++;
            for (; k > 0 && p->sides[k - 1].low + p->sides[k - 1].high > s.low + s.high; k--)
                p->sides[k] = p->sides[k - 1];
            p->sides[k] = s;
        }
    return count;
}

static bool put_slabs(const export_scene *s, const abut_contact *c, const border_plane *p, mark_visitor *put,
                      void *user) {
    double hair = 1e-6 * s->size;
    for (int k = 0; k + 1 < p->corners; k++) {
        double y0 = p->heights[k], y1 = p->heights[k + 1];
        int count = y1 - y0 > hair ? sides_in_slab(p, c, y0, y1) : 0;
        for (int i = 0; i + 1 < count; i += 2) {
            slab_side a = p->sides[i], b = p->sides[i + 1];
            vec3 q[4] = {lift(p, a.low, y0), lift(p, b.low, y0), lift(p, b.high, y1), lift(p, a.high, y1)};
            vec3 lower[3] = {q[0], q[1], q[2]}, upper[3] = {q[0], q[2], q[3]};
            if (!put_triangle(lower, hair, put, user) || !put_triangle(upper, hair, put, user)) return false;
        }
    }
    return true;
}

static bool put_border(const export_scene *s, const abut_contact *c, mark_visitor *put, void *user) {
    int n = c->loop_start[c->loop_count];
    vec3 normal = vec3_unit(c->normals[0]);
    border_plane p = {.o = c->corners[0], .s = vec3_orthogonal(normal), .corners = n};
    p.t = vec3_cross(normal, p.s);
    p.heights = mem_alloc(s->context, (size_t)n, sizeof *p.heights);
    p.sides = mem_alloc(s->context, (size_t)n, sizeof *p.sides);
    bool fine = p.heights && p.sides;
    for (int i = 0; fine && i < n; i++) p.heights[i] = vec3_dot(p.t, vec3_sub(c->corners[i], p.o));
    fine = fine && sort_stable(s->context, p.heights, (size_t)n, sizeof *p.heights, by_height, NULL) &&
           put_slabs(s, c, &p, put, user);
    for (int l = 0; l < c->loop_count && fine; l++)
        fine = put_outline(s, c->corners + c->loop_start[l], NULL, c->loop_start[l + 1] - c->loop_start[l],
                           put, user);
    mem_free(s->context, p.heights, (size_t)n, sizeof *p.heights);
    mem_free(s->context, p.sides, (size_t)n, sizeof *p.sides);
    return fine;
}

/* The two points that are furthest apart. */
static bool put_line(const export_scene *s, const abut_contact *c, mark_visitor *put, void *user) {
    int a = 0, b = 0;
    for (int k = 0; k < 2; k++) {
        int from = k ? b : 0, *far = k ? &a : &b;
        for (int i = 0; i < c->point_count; i++)
            if (vec3_distance(c->points[i], c->points[from]) >
                vec3_distance(c->points[*far], c->points[from]))
                *far = i;
    }
    if (a == b) return true;
    return put(user, MARK_LINE, stretched(c->points[a], c->points[b], 0.02 * s->size));
}

bool mark_contact(const export_scene *s, const abut_contact *c, mark_visitor *put, void *user) {
    for (int i = 0; i < c->point_count; i++) /* of a damaged recording: not drawn */
        if (!(vec3_length(c->points[i]) < 1e18) || !(vec3_length(c->normals[i]) < 2) ||
            !(vec3_length(c->forces[i]) <= s->largest_force))
            return true;
    for (int i = 0; c->loop_count && i < c->loop_start[c->loop_count]; i++)
        if (!(vec3_length(c->corners[i]) < 1e18)) return true;
    bool fine = true;
    if (c->dimension == 2 && c->loop_count > 0)
        fine = put_border(s, c, put, user);
    else if (c->dimension == 2 && c->point_count > 2)
        fine = put_hull(s, c, put, user);
    if (c->dimension == 1 && c->point_count > 1) fine = put_line(s, c, put, user);
    double r = 0.04 * s->size;
    if ((c->dimension == 0 || c->point_count == 1) && c->point_count > 0)
        fine = put(user, MARK_POINT, (export_mark){{c->points[0], quat_identity()}, {r, r, r}});
    /* forces on the first body, or on the second where the first is fixed */
    bool other = s->bodies[c->body[0]].fixed && !s->bodies[c->body[1]].fixed;
    for (int i = 0; i < c->point_count && fine; i++) {
        vec3 f = vec3_scale(c->forces[i], other ? -s->metres_per_newton : s->metres_per_newton);
        vec3 p = c->points[i];
        if (vec3_length(f) > 1e-3 * s->size)
            fine = put(user, MARK_FORCE, stretched(p, vec3_add(p, f), 0.04 * s->size));
    }
    return fine;
}

/* ---- slots */

typedef struct walk {
    export_scene *scene;
    slot_visitor *changed;
    void *user;
    int64_t frame;
    const abut_contact *contact;
} walk;

/* The next free slot of that kind between the two bodies at this frame; -1: none is left; -2: memory is out.
 */
static int take_slot(walk *w, mark_kind kind) {
    export_scene *s = w->scene;
    uint64_t a = (uint64_t)w->contact->body[0], b = (uint64_t)w->contact->body[1];
    int32_t *group = map64_put(s->context, &s->group_of, a << 33 | b << 2 | (uint64_t)kind, -1);
    if (!group) return -2;
    if (*group < 0) {
        if (!array_push(s->context, &s->groups, ((export_group){.frame = -1}))) return -2;
        *group = (int32_t)s->groups.count - 1;
    }
    export_group *g = &s->groups.data[*group];
    if (g->frame != w->frame) g->frame = w->frame, g->used = 0;
    if (g->used >= NUMBERS_MOST) return -1;
    int number = g->used++;
    int32_t *slot =
        map64_put(s->context, &s->slot_of, (uint64_t)*group * NUMBERS_MOST + (uint64_t)number, -1);
    if (!slot) return -2;
    if (*slot < 0) {
        export_slot fresh = {.body = {(int)a, (int)b}, .kind = kind, .number = number, .seen = -1};
        fresh.shown.at = pose_identity();
        if (!array_push(s->context, &s->slots, fresh)) return -2;
        *slot = (int32_t)s->slots.count - 1;
    }
    return *slot;
}

static bool is_hidden(const export_mark *m) { return m->scale.x == 0 && m->scale.y == 0 && m->scale.z == 0; }

static bool show(void *user, mark_kind kind, export_mark mark) {
    walk *w = user;
    export_scene *s = w->scene;
    int number = take_slot(w, kind);
    if (number == -1) s->left_out++;
    if (number < 0) return number == -1;
    export_slot *slot = &s->slots.data[number];
    bool first = slot->seen < 0, fine = true;
    if (is_hidden(&slot->shown)) fine = array_push(s->context, &s->visible, (int32_t)number);
    if (first && w->frame > 0 && fine) fine = w->changed(w->user, number, 0, slot->shown);
    if (fine && (first || memcmp(&slot->shown, &mark, sizeof mark) != 0))
        fine = w->changed(w->user, number, w->frame, mark);
    slot->shown = mark, slot->seen = w->frame;
    return fine;
}

static bool hide_unseen(walk *w) {
    export_scene *s = w->scene;
    int64_t kept = 0;
    bool fine = true;
    for (int64_t i = 0; i < s->visible.count && fine; i++) {
        int32_t number = s->visible.data[i];
        export_slot *slot = &s->slots.data[number];
        if (slot->seen == w->frame) {
            s->visible.data[kept++] = number;
        } else {
            slot->shown.scale = vec3_zero();
            fine = w->changed(w->user, number, w->frame, slot->shown);
        }
    }
    s->visible.count = kept;
    return fine;
}

abut_status export_walk_slots(export_scene *s, slot_visitor *changed, void *user, abut_error *error) {
    walk w = {.scene = s, .changed = changed, .user = user};
    s->visible.count = 0, s->left_out = 0;
    for (int64_t i = 0; i < s->groups.count; i++) s->groups.data[i].frame = -1;
    for (int64_t i = 0; i < s->slots.count; i++) {
        s->slots.data[i].seen = -1;
        s->slots.data[i].shown = (export_mark){.at = pose_identity()};
    }
    bool fine = true;
    for (w.frame = 0; w.frame < s->frame_count && fine; w.frame++) {
        const abut_contact *contacts;
        int count = abut_recording_contacts(s->recording, s->frames[w.frame], &contacts, error);
        if (count < 0) return error->status;
        for (int i = 0; i < count && fine; i++) {
            w.contact = &contacts[i];
            fine = mark_contact(s, w.contact, show, &w);
        }
        fine = fine && hide_unseen(&w);
    }
    return fine ? ABUT_OK : fail_memory(error);
}
