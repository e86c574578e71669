/* Reading a recording: events and contacts. */
#include "record/recording.h"

#include "math/vec.h"

/* ---- events */

static int word_number(const unsigned char *word, const char *(*name)(int), int count) {
    for (int i = 0; word && i < count; i++)
        if (strcmp((const char *)word, name(i)) == 0) return i;
    return 0;
}

static const char *event_word(int i) { return abut_event_name((abut_event_kind)i); }
static const char *entity_word(int i) { return abut_entity_name((abut_entity_kind)i); }

static abut_vec3 column_vec3(sqlite3_stmt *s, int column) {
    return (abut_vec3){sqlite3_column_double(s, column), sqlite3_column_double(s, column + 1),
                       sqlite3_column_double(s, column + 2)};
}

static abut_entity column_entity(sqlite3_stmt *s, int column) {
    return (abut_entity){(abut_entity_kind)word_number(sqlite3_column_text(s, column), entity_word, 6),
                         sqlite3_column_int64(s, column + 1)};
}

abut_status abut_recording_events(abut_recording *r, bool (*visit)(void *user, const abut_event *event),
                                  void *user, abut_error *error) {
    return abut_recording_events_from(r, 0, visit, user, error);
}

abut_status abut_recording_events_from(abut_recording *r, int64_t from,
                                       bool (*visit)(void *user, const abut_event *event), void *user,
                                       abut_error *error) {
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT * FROM event WHERE id >= ? ORDER BY id", -1, &s, NULL) != SQLITE_OK)
        return recording_damaged(r, error);
    sqlite3_bind_int64(s, 1, from);
    bool go_on = true;
    while (go_on && sqlite3_step(s) == SQLITE_ROW) {
        abut_event e = {
            .sequence = (uint64_t)sqlite3_column_int64(s, 0),
            .time = sqlite3_column_double(s, 1),
            .kind = (abut_event_kind)word_number(sqlite3_column_text(s, 2), event_word, ABUT_EVENT_KINDS),
            .body = {sqlite3_column_int(s, 3), sqlite3_column_int(s, 4)},
            .entity = {column_entity(s, 5), column_entity(s, 7)},
            .point = column_vec3(s, 9),
            .normal = column_vec3(s, 12),
            .impulse = column_vec3(s, 15),
            .energy_before = sqlite3_column_double(s, 18),
            .energy_after = sqlite3_column_double(s, 19),
            .count = sqlite3_column_int(s, 20),
            /* recordings of earlier versions have no names */
            .name = sqlite3_column_count(s) > 21 ? (const char *)sqlite3_column_text(s, 21) : NULL};
        for (int i = 0; i < 2; i++)
            if (e.body[i] >= r->body_count || e.body[i] < -1) e.body[i] = -1;
        go_on = visit(user, &e);
    }
    sqlite3_finalize(s);
    return ABUT_OK;
}

static abut_mark get_mark(sqlite3_stmt *s) {
    return (abut_mark){
        .time = sqlite3_column_double(s, 0),
        .impulse = vec3_length(column_vec3(s, 2)),
        .kind = (abut_event_kind)word_number(sqlite3_column_text(s, 1), event_word, ABUT_EVENT_KINDS)};
}

int64_t abut_recording_marks(abut_recording *r, int64_t from, int64_t stride, int64_t count, abut_mark *marks,
                             abut_error *error) {
    sqlite3_stmt *s = NULL;
    static const char text[] = "SELECT t, kind, jx, jy, jz FROM event WHERE id >= ? ORDER BY id";
    if (sqlite3_prepare_v2(r->db, text, -1, &s, NULL) != SQLITE_OK) {
        recording_damaged(r, error);
        return -1;
    }
    int64_t n = 0;
    sqlite3_bind_int64(s, 1, from);
    while (n < count && sqlite3_step(s) == SQLITE_ROW) {
        marks[n++] = get_mark(s);
        if (stride == 1) continue;
        sqlite3_reset(s); /* rows in between are not read */
        sqlite3_bind_int64(s, 1, from + n * stride);
    }
    sqlite3_finalize(s);
    return n;
}

/* ---- contacts */

static bool read_vectors(abut_recording *r, sqlite3_stmt *s, int column, int count) {
    if (sqlite3_column_bytes(s, column) != count * (int)sizeof(abut_vec3)) return false;
    if (!array_reserve(&r->context, &r->vectors, r->vectors.count + count)) return false;
    if (count)
        memcpy(r->vectors.data + r->vectors.count, sqlite3_column_blob(s, column),
               (size_t)count * sizeof(abut_vec3));
    r->vectors.count += count;
    return true;
}

/* The border behind the other vectors: for each loop the number of its corners, and the corners.  What is not
 * that is left away. */
static bool read_border(abut_recording *r, sqlite3_stmt *s, int column, int *loop_count) {
    *loop_count = 0;
    if (column >= sqlite3_column_count(s)) return true;
    const char *blob = sqlite3_column_blob(s, column);
    int64_t numbers = sqlite3_column_bytes(s, column) / (int)sizeof(double), at = 0;
    int64_t vectors = r->vectors.count, loops = r->loops.count;
    bool fine = numbers == 0 || array_push(&r->context, &r->loops, 0);
    while (fine && at < numbers) {
        double count;
        memcpy(&count, blob + (size_t)at++ * sizeof count, sizeof count);
        bool sound = count >= 3 && count <= (double)((numbers - at) / 3) && count == floor(count);
        if (!sound) { /* damaged */
            r->vectors.count = vectors, r->loops.count = loops, *loop_count = 0;
            return true;
        }
        int64_t corners = (int64_t)count;
        fine = array_reserve(&r->context, &r->vectors, r->vectors.count + corners);
        if (!fine) break;
        memcpy(r->vectors.data + r->vectors.count, blob + (size_t)at * sizeof(double),
               (size_t)corners * sizeof(abut_vec3));
        r->vectors.count += corners, at += 3 * corners, ++*loop_count;
        fine = array_push(&r->context, &r->loops, (int32_t)(r->vectors.count - vectors));
    }
    return fine;
}

static const char *state_word(int i) {
    static const char *const words[] = {"frictionless", "stick", "slip"};
    return words[i];
}

static const char *representation_word(int i) {
    static const char *const words[] = {"region", "manifold", "rolling"};
    return words[i];
}

static bool read_contact(abut_recording *r, sqlite3_stmt *s) {
    int points = sqlite3_column_bytes(s, 8) / (int)sizeof(abut_vec3);
    abut_contact c = {.body = {sqlite3_column_int(s, 0), sqlite3_column_int(s, 1)},
                      .representation =
                          (abut_representation)word_number(sqlite3_column_text(s, 2), representation_word, 3),
                      .dimension = sqlite3_column_int(s, 3),
                      .entity = {column_entity(s, 4), column_entity(s, 6)},
                      .point_count = points,
                      .state = (abut_friction_state)word_number(sqlite3_column_text(s, 11), state_word, 3),
                      .area = sqlite3_column_double(s, 12),
                      .center_of_pressure = column_vec3(s, 13),
                      .determined = sqlite3_column_int(s, 16) != 0};
    for (int i = 0; i < 2; i++)
        if (c.body[i] < 0 || c.body[i] >= r->body_count) return false;
    return read_vectors(r, s, 8, points) && read_vectors(r, s, 9, points) && read_vectors(r, s, 10, points) &&
           read_border(r, s, 17, &c.loop_count) && array_push(&r->context, &r->contacts, c);
}

int abut_recording_contacts(abut_recording *r, int64_t frame, const abut_contact **contacts,
                            abut_error *error) {
    sqlite3_stmt *s = r->queries[CONTACTS_OF];
    r->contacts.count = r->vectors.count = r->loops.count = 0;
    sqlite3_bind_int64(s, 1, frame);
    bool fine = true;
    while (fine && sqlite3_step(s) == SQLITE_ROW) fine = read_contact(r, s);
    sqlite3_reset(s);
    if (!fine) {
        recording_damaged(r, error);
        return -1;
    }
    const abut_vec3 *v = r->vectors.data;
    const int32_t *loops = r->loops.data;
    for (int64_t i = 0; i < r->contacts.count; i++) {
        abut_contact *c = &r->contacts.data[i];
        c->points = v, c->normals = v + c->point_count, c->forces = v + 2 * c->point_count;
        v += 3 * c->point_count;
        if (c->loop_count == 0) continue;
        c->corners = v, c->loop_start = loops;
        v += loops[c->loop_count], loops += c->loop_count + 1;
    }
    *contacts = r->contacts.data;
    return (int)r->contacts.count;
}
