/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tools/doctor/doctor.h"

enum { MAX_LINE = 1024 };

const char *vp_level_text(vp_level_t level)
{
    static const char *const texts[] = {"ok", "note", "warning", "error"};

    return texts[level];
}

void vp_doctor_add(vp_doctor_t *doctor, vp_level_t level, const char *remedy, const char *document,
                   const char *format, ...)
{
    char what[MAX_LINE];
    vp_finding_t *finding;
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    if (!vp_array_reserve(&doctor->findings, &doctor->capacity, doctor->n_findings + 1,
                          sizeof(*doctor->findings))) {
        doctor->is_incomplete = true;
        return;
    }
    finding = &doctor->findings[doctor->n_findings];
    *finding = (vp_finding_t){level, doctor->section, vp_string_copy(what), remedy, document};
    if (finding->what == NULL) {
        doctor->is_incomplete = true;
        return;
    }
    doctor->n_findings++;
}

void vp_doctor_note_version(vp_doctor_t *doctor, const char *format, ...)
{
    const char *before = doctor->versions == NULL ? "" : doctor->versions;
    char line[MAX_LINE];
    char *text;
    va_list arguments;
    size_t n_bytes;

    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    n_bytes = strlen(before) + strlen(line) + 2;
    text = malloc(n_bytes);
    if (text == NULL) {
        doctor->is_incomplete = true;
        return;
    }
    (void)snprintf(text, n_bytes, "%s%s\n", before, line);
    free(doctor->versions);
    doctor->versions = text;
}

const char *vp_doctor_line(const vp_doctor_t *doctor, const char *format, ...)
{
    static char line[MAX_LINE];
    char name[MAX_LINE];
    char path[2 * MAX_LINE];
    va_list arguments;
    FILE *file;
    bool is_read;

    va_start(arguments, format);
    (void)vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    (void)snprintf(path, sizeof(path), "%s%s", doctor->root, name);
    file = fopen(path, "r");
    if (file == NULL) {
        return NULL;
    }
    is_read = fgets(line, sizeof(line), file) != NULL;
    (void)fclose(file);
    line[is_read ? strcspn(line, "\n") : 0] = '\0';
    return line;
}

const char *vp_doctor_parameter(const vp_doctor_t *doctor, const char *name)
{
    static char value[MAX_LINE];
    char key[128];
    const char *found;
    size_t n;

    (void)snprintf(key, sizeof(key), ":coll_variopath_%s:value:", name);
    found = doctor->parameters == NULL ? NULL : strstr(doctor->parameters, key);
    if (found == NULL) {
        return NULL;
    }
    found += strlen(key);
    found += *found == '"'; /* of values with a colon */
    n = strcspn(found, "\"\n");
    (void)snprintf(value, sizeof(value), "%.*s", n < MAX_LINE ? (int)n : MAX_LINE - 1, found);
    return value;
}

size_t vp_doctor_count(const vp_doctor_t *doctor, vp_level_t level)
{
    size_t n = 0;
    size_t i;

    for (i = 0; i < doctor->n_findings; i++) {
        n += doctor->findings[i].level == level;
    }
    return n;
}

json_t *vp_doctor_pack(const vp_doctor_t *doctor)
{
    json_t *findings = json_array();
    size_t i;

    for (i = 0; i < doctor->n_findings; i++) {
        const vp_finding_t *it = &doctor->findings[i];

        /* "s" wants UTF-8, which names out of files need not be. */
        json_t *what = json_string(it->what);

        (void)json_array_append_new(
            findings, json_pack("{s:s, s:s, s:o, s:s, s:s}", "level", vp_level_text(it->level),
                                "section", it->section, "what",
                                what != NULL ? what : json_string("a name that is no UTF-8"),
                                "remedy", it->remedy, "document", it->document));
    }
    return json_pack("{s:o, s:I, s:I}", "findings", findings, "errors",
                     (json_int_t)vp_doctor_count(doctor, VP_LEVEL_ERROR), "warnings",
                     (json_int_t)vp_doctor_count(doctor, VP_LEVEL_WARNING));
}

void vp_doctor_release(vp_doctor_t *doctor)
{
    size_t i;

    for (i = 0; i < doctor->n_findings; i++) {
        free(doctor->findings[i].what);
    }
    free(doctor->findings);
    free(doctor->versions);
    free(doctor->parameters);
    free(doctor->component);
    free(doctor->topology);
    vp_model_destroy(doctor->model);
}
