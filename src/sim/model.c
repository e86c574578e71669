/* Compiling definitions to a model: every number is checked here, so that the clocks can trust it. */
#include "sim/model.h"

#include "contact/smooth.h"

#include "solid/solid.h"

#include <stdio.h>

/* ---- checks */

static bool all_finite(const double *x, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static abut_status check_shape(const abut_body_def *def, const char *name, abut_error *error) {
    const abut_shape *s = &def->shape;
    bool moves = !def->fixed && !def->kinematic, fine = true;
    switch (s->kind) {
    case ABUT_SHAPE_SOLID: fine = s->solid != NULL; break;
    case ABUT_SHAPE_SPHERE:
    case ABUT_SHAPE_CAVITY: fine = s->radius > 0 && isfinite(s->radius); break;
    case ABUT_SHAPE_ELLIPSOID:
        fine = s->axes.x > 0 && s->axes.y > 0 && s->axes.z > 0 && vec3_is_finite(s->axes);
        break;
    case ABUT_SHAPE_CAPSULE:
        fine = s->radius > 0 && s->length >= 0 && isfinite(s->radius) && isfinite(s->length);
        break;
    case ABUT_SHAPE_CYLINDER:
        fine = s->radius > 0 && s->length > 0 && isfinite(s->radius) && isfinite(s->length);
        break;
    case ABUT_SHAPE_HALFSPACE:
        fine = vec3_is_finite(s->normal) && vec3_length(s->normal) > 0 && isfinite(s->offset);
        break;
    default: break;
    }
    if (!fine)
        return fail(error, ABUT_INVALID,
                    "body `%s`: the %s has a size that is not positive and finite; correct it", name,
                    abut_shape_name(s->kind));
    abut_error why = {0};
    if (s->kind == ABUT_SHAPE_SURFACE && abut_surface_check(s->surface, &why) != ABUT_OK)
        return fail(error, ABUT_UNSUPPORTED, "body `%s`: %s", name, why.message);
    if (moves && (s->kind == ABUT_SHAPE_CAVITY || s->kind == ABUT_SHAPE_HALFSPACE))
        return fail(error, ABUT_INVALID,
                    "body `%s`: a %s has no finite mass; make the body fixed or kinematic", name,
                    abut_shape_name(s->kind));
    return ABUT_OK;
}

/* Faster than anything that is one piece; beyond it a second has more turns than steps can follow. */
#define FASTEST      1e8
#define FASTEST_SPIN 1e7

static abut_status check_body(const abut_body_def *def, const char *name, int material_count,
                              abut_error *error) {
    if (def->cookie != ABUT_DEF_COOKIE)
        return fail(error, ABUT_INVALID, "body `%s` was not made by abut_default_body(); start from it",
                    name);
    quat q = def->rotation;
    double norm2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    double numbers[] = {def->density, def->mass, def->drag_linear, def->drag_angular};
    if (!vec3_is_finite(def->position) || !vec3_is_finite(def->velocity) || !vec3_is_finite(def->spin) ||
        !all_finite(numbers, 4) || !isfinite(norm2))
        return fail(error, ABUT_INVALID, "body `%s` has a number that is not finite; correct it", name);
    if (vec3_length(def->velocity) > FASTEST || vec3_length(def->spin) > FASTEST_SPIN)
        return fail(
            error, ABUT_INVALID,
            "body `%s` moves at %.3g m/s and spins at %.3g rad/s; no more than %.0e m/s and %.0e rad/s can "
            "be followed: check its units",
            name, vec3_length(def->velocity), vec3_length(def->spin), FASTEST, FASTEST_SPIN);
    if (norm2 < 1e-12)
        return fail(error, ABUT_INVALID, "body `%s` has a zero quaternion; give {1, 0, 0, 0} for no rotation",
                    name);
    if (def->mass < 0 || def->density < 0 || def->drag_linear < 0 || def->drag_angular < 0)
        return fail(error, ABUT_INVALID, "body `%s`: mass, density and drag cannot be negative", name);
    if (def->material < -1 || def->material >= material_count)
        return fail(error, ABUT_INVALID, "body `%s`: there is no material number %d", name, def->material);
    return check_shape(def, name, error);
}

static abut_status check_world(const abut_world_def *w, abut_error *error) {
    if (w->cookie != ABUT_DEF_COOKIE)
        return fail(error, ABUT_INVALID, "the world was not made by abut_default_world(); start from it");
    if (!vec3_is_finite(w->gravity)) return fail(error, ABUT_INVALID, "world: gravity is not finite");
    if (!(w->duration >= 0) || !isfinite(w->duration))
        return fail(error, ABUT_INVALID,
                    "world: duration is %g; it must be a finite number of seconds, at least 0", w->duration);
    if (!(w->frame > 0) || !isfinite(w->frame))
        return fail(error, ABUT_INVALID, "world: frame is %g; it must be a positive number of seconds",
                    w->frame);
    const abut_tolerances *t = &w->tolerance;
    double numbers[] = {t->integration, t->touching, t->event, t->rest_speed};
    for (int i = 0; i < 4; i++)
        if (!(numbers[i] >= 0) || !isfinite(numbers[i]))
            return fail(error, ABUT_INVALID, "world: a tolerance is %g; tolerances are positive numbers",
                        numbers[i]);
    return ABUT_OK;
}

/* ---- bodies */

const char *model_copy_name(abut_model *m, const char *name, const char *word, int number) {
    char generated[32];
    if (!name) {
        snprintf(generated, sizeof generated, "%s%d", word, number + 1);
        name = generated;
    }
    char *copy = arena_alloc(&m->memory, strlen(name) + 1, 1);
    return copy ? strcpy(copy, name) : NULL;
}

/* Mass, centre and tensor about the centre for the density, in shape axes. */
static abut_status shape_mass(const abut_body_def *def, const char *name, body_mass *out, abut_error *error) {
    if (def->shape.kind == ABUT_SHAPE_SOLID) {
        abut_mass mass = abut_solid_mass(def->shape.solid, def->density);
        *out = (body_mass){mass.mass, mass.center, body_tensor(mass.inertia)};
        return ABUT_OK;
    }
    if (def->shape.kind == ABUT_SHAPE_NONE || def->shape.kind == ABUT_SHAPE_SURFACE) {
        if (def->mass > 0 && def->has_inertia && (def->has_center || def->shape.kind == ABUT_SHAPE_NONE))
            return ABUT_OK;
        if (def->shape.kind == ABUT_SHAPE_SURFACE && abut_surface_is_closed(def->shape.surface)) {
            abut_surface_measures m;
            abut_status status = abut_surface_measure(def->shape.surface, 1e-9, &m, error);
            if (status != ABUT_OK) return status;
            double inertia[6];
            for (int i = 0; i < 6; i++) inertia[i] = def->density * m.inertia[i];
            *out = (body_mass){def->density * m.volume, m.center, body_tensor(inertia)};
            return ABUT_OK;
        }
        if (def->mass > 0 && def->has_inertia) return ABUT_OK;
        return fail(error, ABUT_INVALID, "body `%s`: a %s has no volume; give `mass` and `inertia`", name,
                    def->shape.kind == ABUT_SHAPE_NONE ? "body without shape" : "surface");
    }
    return body_mass_of_shape(&def->shape, def->density, out, error);
}

static abut_status make_inertia(const abut_body_def *def, model_body *body, abut_error *error) {
    body->center = def->has_center ? def->center : vec3_zero();
    body->inertia = body_immovable();
    bool is_solid = def->shape.kind == ABUT_SHAPE_SOLID;
    if (!body->movable) {
        if (is_solid && !def->has_center) body->center = abut_solid_facts_of(def->shape.solid).center;
        return ABUT_OK;
    }
    body_mass found = {0};
    abut_status status = shape_mass(def, body->name, &found, error);
    if (status != ABUT_OK) return status;
    if (!def->has_center) body->center = found.center;
    double mass = def->mass > 0 ? def->mass : found.mass;
    mat3 tensor = found.inertia;
    if (def->has_inertia) {
        tensor = body_tensor(def->inertia);
    } else {
        if (found.mass > 0) tensor = mat3_scale(tensor, mass / found.mass);
        /* a centre that was given moves the tensor there (parallel axes), the mass staying where the shape is
         */
        if (def->has_center) tensor = body_tensor_shift(tensor, mass, vec3_sub(found.center, def->center));
    }
    abut_error inner = {0};
    status = body_inertia_make(mass, tensor, &body->inertia, &inner);
    return status == ABUT_OK ? status : fail(error, status, "body `%s`: %s", body->name, inner.message);
}

static abut_status make_body(abut_model *m, const abut_body_def *def, int number, abut_error *error) {
    model_body *body = &m->bodies[number];
    body->name = model_copy_name(m, def->name, "body", number);
    if (!body->name) return fail_memory(error);
    abut_status status = check_body(def, body->name, m->material_count, error);
    if (status != ABUT_OK) return status;
    body->movable = !def->fixed && !def->kinematic;
    body->kinematic = def->kinematic && !def->fixed;
    body->function = body->kinematic ? def->motion : NULL, body->user = def->motion_user;
    body->drag_linear = def->drag_linear, body->drag_angular = def->drag_angular;
    body->group = def->group, body->material = def->material + 1;
    memcpy(body->color, def->color, sizeof body->color);
    status = make_inertia(def, body, error);
    if (status != ABUT_OK) return status;
    quat q = quat_unit(def->rotation);
    body->start.rotation = q;
    body->start.center = vec3_add(def->position, quat_rotate(q, body->center));
    if (!def->fixed) body->start.velocity = (twist){def->velocity, def->spin};
    abut_error inner = {0};
    status = contact_shape_create(&m->context, &def->shape, body->center, &body->shape, &inner);
    if (status != ABUT_OK) return fail(error, status, "body `%s`: %s", body->name, inner.message);
    if (body->function) return model_kinematic_motion(m, number, 0, &body->start, NULL, error);
    return ABUT_OK;
}

/* What is heavier than numbers hold has no motion. */
static abut_status check_weight(const abut_model *m, const model_body *b, abut_error *error) {
    double mass = b->inertia.mass, g = vec3_length(m->world.gravity);
    if (!b->movable || isfinite(mass * (1 + g))) return ABUT_OK;
    return fail(error, ABUT_INVALID,
                "body `%s`: a mass of %.3g kg has a weight beyond what numbers hold; use a smaller "
                "mass",
                b->name, mass);
}

static abut_status check_names(const abut_model *m, abut_error *error) {
    map64 seen = {0};
    for (int i = 0; i < m->body_count; i++) {
        const char *name = m->bodies[i].name;
        int32_t *slot = map64_put(&m->context, &seen, hash64(name, strlen(name), 1), i);
        bool twice = slot && *slot != i && strcmp(m->bodies[*slot].name, name) == 0;
        if (!slot || twice) {
            map64_free(&m->context, &seen);
            if (!slot) return fail_memory(error);
            return fail(error, ABUT_INVALID, "two bodies have the name `%s`; names must differ", name);
        }
    }
    map64_free(&m->context, &seen);
    return ABUT_OK;
}

static abut_status make_bodies(abut_model *m, const abut_world_def *w, abut_error *error) {
    m->bodies = arena_alloc(&m->memory, (size_t)w->body_count, sizeof *m->bodies);
    if (!m->bodies) return fail_memory(error);
    m->material_count = w->material_count;
    for (int i = 0; i < w->body_count; i++) {
        m->body_count = i + 1;
        abut_status status = make_body(m, &w->bodies[i], i, error);
        if (status == ABUT_OK) status = check_weight(m, &m->bodies[i], error);
        if (status != ABUT_OK && error && !error->line) error->line = w->bodies[i].line;
        if (status != ABUT_OK) return status;
    }
    return check_names(m, error);
}

/* Where there are smooth surfaces, ellipsoids are surfaces too; two of them can meet. */
static abut_status make_atlases(abut_model *m, abut_error *error) {
    int surfaces = 0, ellipsoids = 0;
    for (int i = 0; i < m->body_count; i++) {
        surfaces += m->bodies[i].shape.shape.kind == ABUT_SHAPE_SURFACE;
        ellipsoids += m->bodies[i].shape.shape.kind == ABUT_SHAPE_ELLIPSOID;
    }
    bool meet = surfaces > 0 && surfaces + ellipsoids > 1;
    abut_status status = ABUT_OK;
    for (int i = 0; i < m->body_count && meet && status == ABUT_OK; i++)
        status = smooth_shape_add(&m->context, &m->bodies[i].shape, error);
    return status;
}

/* ---- hinges and forces */

static abut_status check_reference(const abut_model *m, const char *what, int a, int b, abut_error *error) {
    if (a < 0 || a >= m->body_count || b < -1 || b >= m->body_count)
        return fail(error, ABUT_INVALID, "a %s names a body that does not exist; use numbers from 0 to %d",
                    what, m->body_count - 1);
    if (a == b)
        return fail(error, ABUT_INVALID, "a %s connects body `%s` with itself; name two bodies", what,
                    m->bodies[a].name);
    return ABUT_OK;
}

static abut_status make_hinges(abut_model *m, const abut_world_def *w, abut_error *error) {
    m->hinges = arena_alloc(&m->memory, (size_t)w->hinge_count, sizeof *m->hinges);
    if (!m->hinges) return fail_memory(error);
    for (int i = 0; i < w->hinge_count; i++) {
        const abut_hinge_def *def = &w->hinges[i];
        if (def->cookie != ABUT_DEF_COOKIE)
            return fail(error, ABUT_INVALID, "hinge %d was not made by abut_default_hinge(); start from it",
                        i);
        abut_status status = check_reference(m, "hinge", def->a, def->b, error);
        if (status != ABUT_OK) return status;
        const motion *b = def->b >= 0 ? &m->bodies[def->b].start : NULL;
        status = hinge_compile(def, &m->bodies[def->a].start, b, &m->hinges[i].h, error);
        if (status != ABUT_OK && error && !error->line) error->line = def->line;
        if (status != ABUT_OK) return status;
        m->hinges[i].name =
            def->name ? model_copy_name(m, def->name, "hinge", i) : abut_hinge_name(def->kind);
        if (!m->hinges[i].name) return fail_memory(error);
        m->hinges[i].collide = def->collide;
        m->hinge_count = i + 1;
    }
    return ABUT_OK;
}

/* A point of the world at the start, in the body's axes from its centre of mass; the ground keeps world
 * coordinates. */
static vec3 attach(const abut_model *m, int body, bool given, vec3 at) {
    if (body < 0) return at;
    const motion *s = &m->bodies[body].start;
    return given ? quat_unrotate(s->rotation, vec3_sub(at, s->center)) : vec3_zero();
}

static vec3 attached(const abut_model *m, int body, vec3 at) {
    if (body < 0) return at;
    const motion *s = &m->bodies[body].start;
    return vec3_add(s->center, quat_rotate(s->rotation, at));
}

static abut_status make_springs(abut_model *m, const abut_world_def *w, abut_error *error) {
    m->springs = arena_alloc(&m->memory, (size_t)w->spring_count, sizeof *m->springs);
    if (!m->springs) return fail_memory(error);
    for (int i = 0; i < w->spring_count; i++) {
        const abut_spring_def *def = &w->springs[i];
        abut_status status = check_reference(m, "spring", def->a, def->b, error);
        if (status != ABUT_OK) return status;
        if (!isfinite(def->stiffness) || !isfinite(def->damping) || def->stiffness < 0 || def->damping < 0)
            return fail(error, ABUT_INVALID,
                        "spring %d: stiffness and damping must be finite and not negative", i);
        model_spring *s = &m->springs[i];
        *s = (model_spring){.a = def->a, .b = def->b, .stiffness = def->stiffness, .damping = def->damping};
        s->at_a = attach(m, def->a, def->has_at_a, def->at_a);
        s->at_b = attach(m, def->b, def->has_at_b, def->at_b);
        s->length = isnan(def->length) ? vec3_distance(attached(m, s->a, s->at_a), attached(m, s->b, s->at_b))
                                       : def->length;
        m->spring_count = i + 1;
    }
    return ABUT_OK;
}

static abut_status make_forces(abut_model *m, const abut_world_def *w, abut_error *error) {
    m->forces = arena_alloc(&m->memory, (size_t)w->force_count, sizeof *m->forces);
    if (!m->forces) return fail_memory(error);
    for (int i = 0; i < w->force_count; i++) {
        const abut_force_def *def = &w->forces[i];
        abut_status status = check_reference(m, "force", def->body, -1, error);
        if (status != ABUT_OK) return status;
        if (!def->function && !vec3_is_finite(def->value))
            return fail(error, ABUT_INVALID, "force %d is not finite", i);
        m->forces[i] = (model_force){.body = def->body,
                                     .is_torque = def->is_torque,
                                     .at = attach(m, def->body, def->has_at, def->at),
                                     .value = def->value,
                                     .function = def->function,
                                     .user = def->user};
        m->force_count = i + 1;
    }
    return ABUT_OK;
}

/* ---- materials and tolerances */

/* Restitution is the larger, friction the geometric mean, unless a pair was set. */
static model_material combine(const abut_material_def *a, const abut_material_def *b) {
    const abut_friction *f = &a->friction, *g = &b->friction;
    return (model_material){fmax(a->restitution, b->restitution),
                            {sqrt(f->stick * g->stick), sqrt(f->slide * g->slide),
                             sqrt(f->rolling * g->rolling), sqrt(f->spinning * g->spinning)},
                            a->uniform_pressure || b->uniform_pressure};
}

static bool material_is_sane(double restitution, const abut_friction *f) {
    return restitution >= 0 && restitution <= 1 && f->stick >= 0 && f->slide >= 0 && f->rolling >= 0 &&
           f->spinning >= 0 && isfinite(f->stick) && isfinite(f->slide) && isfinite(f->rolling) &&
           isfinite(f->spinning);
}

static abut_status make_materials(abut_model *m, const abut_world_def *w, abut_error *error) {
    int n = w->material_count + 1;
    m->pairs = arena_alloc(&m->memory, (size_t)n * (size_t)n, sizeof *m->pairs);
    if (!m->pairs) return fail_memory(error);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const abut_material_def *a = i ? &w->materials[i - 1] : &w->material,
                                    *b = j ? &w->materials[j - 1] : &w->material;
            if (!material_is_sane(a->restitution, &a->friction))
                return fail(error, ABUT_INVALID,
                            "material `%s`: restitution lies between 0 and 1, friction is not negative",
                            a->name ? a->name : "default");
            m->pairs[i * n + j] = combine(a, b);
            m->uniform_pressure |= m->pairs[i * n + j].uniform_pressure;
        }
    for (int k = 0; k < w->pair_count; k++) {
        const abut_pair_def *p = &w->pairs[k];
        int i = p->material[0] + 1, j = p->material[1] + 1;
        if (i < 0 || j < 0 || i >= n || j >= n || !material_is_sane(p->restitution, &p->friction))
            return fail(error, ABUT_INVALID,
                        "material pair %d: the materials must exist, restitution lie between 0 and 1", k);
        bool uniform = m->pairs[i * n + j].uniform_pressure;
        m->pairs[i * n + j] = m->pairs[j * n + i] = (model_material){p->restitution, p->friction, uniform};
    }
    return ABUT_OK;
}

const model_material *model_pair(const abut_model *model, int a, int b) {
    return &model->pairs[model->bodies[a].material * (model->material_count + 1) + model->bodies[b].material];
}

/* Scales of the scene: the smallest and largest bounded shape. */
static void resolve_tolerances(abut_model *m) {
    double smallest = INFINITY, largest = 0;
    for (int i = 0; i < m->body_count; i++) {
        double d = box_diagonal(m->bodies[i].shape.bounds);
        if (!isfinite(d) || !(d > 0)) continue;
        largest = fmax(largest, d);
        if (m->bodies[i].movable) smallest = fmin(smallest, d);
    }
    if (!isfinite(smallest)) smallest = largest > 0 ? largest : 1;
    m->size = largest > 0 ? largest : 1, m->smallest = smallest;
    m->tolerance = m->world.tolerance;
    abut_tolerances *t = &m->tolerance;
    double g = vec3_length(m->world.gravity);
    if (t->integration == 0) t->integration = 1e-9;
    if (t->event == 0) t->event = 1e-9;
    if (t->touching == 0) t->touching = 5e-7 * smallest;
    if (t->rest_speed == 0) t->rest_speed = 1e-3 * sqrt((g > 0 ? g : 1) * smallest);
}

/* ---- who touches whom */

bool model_may_touch(const abut_model *model, int a, int b) {
    const model_body *x = &model->bodies[a], *y = &model->bodies[b];
    if (a == b || (!x->movable && !y->movable)) return false;
    if (x->shape.shape.kind == ABUT_SHAPE_NONE || y->shape.shape.kind == ABUT_SHAPE_NONE) return false;
    if (x->group != 0 && x->group == y->group) return false;
    for (int i = 0; i < model->hinge_count; i++) {
        const model_hinge *h = &model->hinges[i];
        bool joins = (h->h.a == a && h->h.b == b) || (h->h.a == b && h->h.b == a);
        if (joins && !h->collide) return false;
    }
    return true;
}

abut_status model_check_pairs(const abut_model *m, abut_error *error) {
    bool seen[16][16] = {{false}};
    for (int i = 0; i < m->body_count; i++)
        for (int j = 0; j < i; j++) {
            abut_shape_kind a = m->bodies[i].shape.shape.kind, b = m->bodies[j].shape.shape.kind;
            if (seen[a][b] || near_shapes_known(a, b) || !model_may_touch(m, i, j)) continue;
            seen[a][b] = seen[b][a] = true;
            return fail(error, ABUT_UNSUPPORTED,
                        "bodies `%s` and `%s`: contact between a %s and a %s is not supported; use a faceted "
                        "solid (solid.*) for one "
                        "of them, or one group for both",
                        m->bodies[i].name, m->bodies[j].name, abut_shape_name(a), abut_shape_name(b));
        }
    return ABUT_OK;
}

/* ---- creation */

abut_status abut_model_create(const abut_context *context, const abut_world_def *world, abut_model **model,
                              abut_error *error) {
    *model = NULL;
    abut_status status = check_world(world, error);
    if (status != ABUT_OK) return status;
    abut_model *m = mem_calloc(context, 1, sizeof *m);
    if (!m) return fail_memory(error);
    if (context) m->context = *context;
    arena_init(&m->memory, &m->context);
    m->world = *world;
    status = make_bodies(m, world, error);
    if (status == ABUT_OK) status = make_atlases(m, error);
    for (int i = 0; i < world->rolling_count && status == ABUT_OK; i++)
        status = model_place_rolling(m, &world->rollings[i], error);
    if (status == ABUT_OK) status = make_materials(m, world, error);
    if (status == ABUT_OK) status = make_hinges(m, world, error);
    if (status == ABUT_OK) status = make_springs(m, world, error);
    if (status == ABUT_OK) status = make_forces(m, world, error);
    if (status == ABUT_OK) status = model_make_watches(m, world, error);
    if (status == ABUT_OK && world->mode == ABUT_EXACT) status = model_check_pairs(m, error);
    if (status != ABUT_OK) {
        abut_model_free(m);
        return status;
    }
    resolve_tolerances(m);
    model_tell_idle(m, world);
    *model = m;
    return ABUT_OK;
}

void abut_model_free(abut_model *model) {
    if (!model) return;
    for (int i = 0; i < model->body_count; i++) contact_shape_free(&model->context, &model->bodies[i].shape);
    abut_context context = model->context;
    arena_free(&model->memory);
    mem_free(&context, model, 1, sizeof *model);
}

int abut_model_bodies(const abut_model *model) { return model->body_count; }

const char *abut_model_body_name(const abut_model *model, int body) { return model->bodies[body].name; }

int abut_model_find_body(const abut_model *model, const char *name) {
    for (int i = 0; i < model->body_count; i++)
        if (strcmp(model->bodies[i].name, name) == 0) return i;
    return -1;
}

abut_mass abut_model_body_mass(const abut_model *model, int body) {
    const model_body *b = &model->bodies[body];
    mat3 i = b->inertia.inertia;
    return (abut_mass){
        b->movable ? b->inertia.mass : INFINITY, b->center, {i.cx.x, i.cy.y, i.cz.z, i.cy.x, i.cz.x, i.cz.y}};
}

bool abut_model_may_touch(const abut_model *model, int a, int b) { return model_may_touch(model, a, b); }

abut_tolerances abut_model_tolerances(const abut_model *model) { return model->tolerance; }
