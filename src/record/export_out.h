/* Where an export goes: a file that takes its name when it is whole, or text in memory.  The first failure is
 * kept; what is put after it is lost, and closing tells. */
#ifndef RECORD_EXPORT_OUT_H
#define RECORD_EXPORT_OUT_H

#include "abut/export.h"
#include "base/base.h"
#include "math/vec.h"

#include <stdio.h>

typedef struct export_out {
    const abut_context *context;
    FILE *stream; /* NULL: to `text` */
    ARRAY(char) text;
    char *path, *beside; /* `beside` is NULL for pipes and devices, which are written in place */
    size_t path_size;
    int64_t bytes;
    int reason; /* errno of the first failure; 0: none */
} export_out;

abut_status out_open(const abut_context *context, const char *path, export_out *out, abut_error *error);
void out_open_memory(const abut_context *context, export_out *out);
/* Gives the file its name, or removes it where something failed. */
abut_status out_close(export_out *out, abut_error *error);
/* Removes the file; or frees the text. */
void out_discard(export_out *out);
/* The failure so far, as an error. */
abut_status out_status(const export_out *out, abut_error *error);

void out_bytes(export_out *out, const void *bytes, size_t size);
void out_text(export_out *out, const char *text);
/* For words and whole numbers; numbers with a point go through out_number, which no locale changes. */
void out_format(export_out *out, const char *format, ...) ABUT_PRINTF(2, 3);
void out_number(export_out *out, double number);
void out_numbers(export_out *out, const double *numbers, int count, const char *between);
void out_vec3(export_out *out, vec3 v, const char *between);
void out_float(export_out *out, double number); /* 4 bytes, little endian */
void out_word(export_out *out, uint32_t word);  /* 4 bytes, little endian */
/* Text between double quotes, escaped as JSON does; bytes that are not UTF-8 become U+FFFD. */
void out_json_string(export_out *out, const char *text);
void out_json_text(export_out *out, const char *text); /* the same without the quotes */

#endif
