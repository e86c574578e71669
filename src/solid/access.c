/* Reading a solid, in shape coordinates. */
#include "solid/solid.h"

abut_solid_facts abut_solid_facts_of(const abut_solid *s) { return s->facts; }

abut_mass abut_solid_mass(const abut_solid *s, double density) {
    abut_mass m = {.mass = density * s->facts.volume, .center = s->facts.center};
    for (int i = 0; i < 6; i++) m.inertia[i] = density * s->unit_inertia[i];
    return m;
}

abut_vec3 abut_solid_vertex(const abut_solid *s, int64_t vertex) {
    return vec3_add(solid_position(s, (int32_t)vertex), s->origin);
}

void abut_solid_edge(const abut_solid *s, int64_t edge, int64_t vertices[2], int64_t faces[2]) {
    const solid_edge *e = &solid_edges(s)[edge];
    for (int i = 0; i < 2; i++) {
        vertices[i] = e->vertex[i];
        faces[i] = solid_coedges(s)[e->coedge[i]].face;
    }
}

int64_t abut_solid_face_loops(const abut_solid *s, int64_t face, abut_vec3 *normal, double *offset) {
    const solid_face *f = &solid_faces(s)[face];
    if (normal) *normal = f->plane.n;
    if (offset) *offset = f->plane.d + vec3_dot(f->plane.n, s->origin);
    return f->loops;
}

int64_t abut_solid_loop(const abut_solid *s, int64_t face, int64_t loop, int64_t *vertices,
                        int64_t capacity) {
    const solid_loop *l = &solid_loops(s)[solid_faces(s)[face].first_loop + loop];
    for (int32_t i = 0; i < l->count && i < capacity; i++)
        vertices[i] = solid_coedges(s)[l->coedge + i].vertex;
    return l->count;
}

int64_t abut_solid_face_of_file(const abut_solid *s, int64_t file_face) {
    return file_face >= 0 && file_face < s->file_face_count ? solid_file_faces(s)[file_face] : -1;
}

int64_t abut_solid_file_faces(const abut_solid *s) { return s->file_face_count; }
