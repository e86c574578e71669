/* abut_recording_export: opens what all formats share, and hands it to one of them. */
#include "record/export_scene.h"

const char *abut_export_name(abut_export_format format) {
    static const char *const words[] = {
#define EXPORT_WORD(name, word) word,
        ABUT_EXPORT_LIST(EXPORT_WORD)
#undef EXPORT_WORD
    };
    return format < ABUT_EXPORT_FORMATS ? words[format] : "";
}

abut_export_options abut_default_export(void) {
    return (abut_export_options){.begin = -INFINITY, .end = INFINITY, .every = 1};
}

static abut_status write_format(export_scene *scene, const char *path, const abut_export_options *o,
                                abut_export_report *report, abut_error *error) {
    switch (o->format) {
    case ABUT_EXPORT_GLB: return export_glb(scene, path, report, error);
    case ABUT_EXPORT_RIB: return export_rib(scene, path, report, error);
    case ABUT_EXPORT_USDA: return export_usda(scene, path, report, error);
    case ABUT_EXPORT_CSV: return export_csv(scene, path, report, error);
    case ABUT_EXPORT_FORMATS: break;
    }
    return fail(error, ABUT_UNSUPPORTED, "there is no such format; take glb, rib, usda or csv");
}

abut_status abut_recording_export(const abut_context *context, abut_recording *recording, const char *path,
                                  const abut_export_options *options, abut_export_report *report,
                                  abut_error *error) {
    abut_export_options o = options ? *options : abut_default_export();
    abut_export_report unused;
    abut_error local = {0};
    if (!report) report = &unused;
    if (!error) error = &local;
    *error = (abut_error){0};
    *report = (abut_export_report){0};
    export_scene scene;
    abut_status status = export_scene_open(context, recording, &o, &scene, error);
    report->bodies = scene.body_count, report->frames = scene.frame_count;
    report->left_out = scene.left_out;
    if (status == ABUT_OK) status = write_format(&scene, path, &o, report, error);
    export_scene_close(&scene);
    return status;
}
