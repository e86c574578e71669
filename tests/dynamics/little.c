#include "little.h"

void little_open(little *w) {
    memset(w, 0, sizeof *w);
    arena_init(&w->memory, NULL);
    w->scratch = (group_scratch){&w->memory, abut_lcp_solver_create(NULL)};
    assert_non_null(w->scratch.lcp);
    w->g = (group){.motions = w->motions,
                   .inertias = w->inertias,
                   .wrenches = w->wrenches,
                   .rows = w->rows,
                   .row_states = w->row_states,
                   .contacts = w->contacts};
}

void little_close(little *w) {
    abut_lcp_solver_destroy(w->scratch.lcp);
    arena_free(&w->memory);
}

int little_body(little *w, double mass, vec3 inertia, vec3 center) {
    int i = w->g.body_count++;
    assert_true(i < LITTLE_BODIES);
    assert_int_equal(
        body_inertia_make(mass, mat3_diagonal(inertia.x, inertia.y, inertia.z), &w->inertias[i], NULL),
        ABUT_OK);
    w->motions[i] = (motion){.center = center, .rotation = {1, 0, 0, 0}};
    return i;
}

int little_fixed(little *w) {
    int i = w->g.body_count++;
    w->inertias[i] = body_immovable();
    w->motions[i] = (motion){.rotation = {1, 0, 0, 0}};
    return i;
}

void little_gravity(little *w, vec3 g) {
    for (int i = 0; i < w->g.body_count; i++)
        if (w->inertias[i].inverse_mass > 0)
            w->wrenches[i] = (spatial){vec3_scale(g, w->inertias[i].mass), {0, 0, 0}};
}

void little_force(little *w, int body, vec3 at, vec3 force) {
    w->wrenches[body] =
        spatial_add(w->wrenches[body], spatial_force_at(force, vec3_sub(at, w->motions[body].center)));
}

int little_contact(little *w, int a, int b, vec3 at, vec3 normal) {
    int i = w->g.contact_count++;
    assert_true(i < LITTLE_CONTACTS);
    vec3 n = vec3_unit(normal);
    w->contacts[i] = (group_contact){.a = a,
                                     .b = b,
                                     .point = {.at = at,
                                               .at_rate = motion_velocity_at(&w->motions[a], at),
                                               .normal = n,
                                               .normal_rate = vec3_cross(w->motions[b].velocity.angular, n)},
                                     .restitution = w->restitution,
                                     .friction = w->friction,
                                     .pressed = true};
    return i;
}

void little_pair(little *w, int a, int b, double x, double y, double depth, vec3 normal) {
    little_contact(w, a, b, vec3_make(x, y, -depth), normal);
    little_contact(w, a, b, vec3_make(x, y, depth), normal);
}

int little_hinge(little *w, const abut_hinge_def *def, hinge *out) {
    const motion *b = def->b >= 0 ? &w->motions[def->b] : NULL;
    assert_int_equal(hinge_compile(def, &w->motions[def->a], b, out, NULL), ABUT_OK);
    int count = hinge_rows(out, &w->motions[def->a], b, 0, w->rows + w->g.row_count);
    w->g.row_count += count;
    assert_true(w->g.row_count <= LITTLE_ROWS);
    return count;
}

void little_solve(little *w) {
    forces_config config = forces_default_config();
    config.distribute = true;
    abut_error error = {0};
    abut_status status =
        forces_solve(&w->g, &config, &w->scratch, w->x, w->loads, w->multipliers, &w->forces, &error);
    if (status != ABUT_OK) fail_msg("forces_solve: %s", error.message);
}

vec3 little_force_between(const little *w, int a, int b) {
    vec3 sum = vec3_zero();
    for (int i = 0; i < w->g.contact_count; i++) {
        const group_contact *c = &w->contacts[i];
        if (c->a != a || c->b != b) continue;
        sum = vec3_add(vec3_axpy(sum, w->loads[i].normal, c->point.normal), w->loads[i].friction);
    }
    return sum;
}

double little_impulse_between(const little *w, int a, int b) {
    double sum = 0;
    for (int i = 0; i < w->g.contact_count; i++)
        if (w->contacts[i].a == a && w->contacts[i].b == b) sum += w->impulses[i].normal;
    return sum;
}

void little_choose(little *w) {
    forces_config config = forces_default_config();
    config.distribute = true;
    abut_error error = {0};
    abut_status status =
        forces_choose(&w->g, &config, &w->scratch, w->x, w->loads, w->multipliers, &w->forces, &error);
    if (status != ABUT_OK) fail_msg("forces_choose: %s", error.message);
}

void little_hit(little *w, abut_impact_model model, abut_restitution_law law, double rest_speed) {
    impact_config config = impact_default_config();
    config.model = model, config.law = law, config.rest_speed = rest_speed;
    abut_error error = {0};
    abut_status status =
        impact_solve(&w->g, &config, &w->scratch, w->x, w->impulses, w->multipliers, &w->impact, &error);
    if (status != ABUT_OK) fail_msg("impact_solve: %s", error.message);
}
