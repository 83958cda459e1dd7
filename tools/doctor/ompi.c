/*
 * Is there an Open MPI, and does it load the component?
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/outside.h"

#define ABSENT_DOC "docs/troubleshooting.md#the-component-is-not-there"

enum { MAX_PATH_BYTES = 4096 };

/* ompi_info beside the mpirun, "ompi_info" if that was named without a folder. */
static void find_ompi_info(const char *mpirun, char *path)
{
    const char *slash = strrchr(mpirun, '/');

    (void)snprintf(path, MAX_PATH_BYTES, "%.*sompi_info",
                   slash == NULL ? 0 : (int)(slash + 1 - mpirun), mpirun);
}

vp_outcome_t vp_doctor_ask_ompi(const vp_doctor_t *doctor, char *const *arguments, char **text_p)
{
    char path[MAX_PATH_BYTES];
    char *argv[10] = {path};
    size_t i;

    for (i = 0; arguments[i] != NULL && i < 8; i++) {
        argv[i + 1] = arguments[i];
    }
    find_ompi_info(doctor->mpirun, path);
    return vp_outside_run(argv, doctor->timeout_ms, text_p);
}

static bool look_at_release(vp_doctor_t *doctor)
{
    char *text = NULL;
    vp_outcome_t outcome = vp_doctor_ask_ompi(doctor, (char *[]){(char *)"--version", NULL}, &text);

    if (outcome != VP_OUTCOME_DONE) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR,
                      "install Open MPI, put its bin folder into PATH, or give --mpirun",
                      ABSENT_DOC, "ompi_info beside %s %s", doctor->mpirun,
                      vp_outcome_text(outcome));
        free(text);
        return false;
    }
    text[strcspn(text, "\n")] = '\0';
    vp_doctor_add(doctor, VP_LEVEL_OK, "", "README.md", "%s", text);
    vp_doctor_note_version(doctor, "MPI: %s", text);
    free(text);
    return true;
}

/* A line of the text that holds the words, cut at its end in place; NULL: none does. */
static char *find_line(char *text, const char *words)
{
    char *found = text == NULL ? NULL : strstr(text, words);

    if (found == NULL) {
        return NULL;
    }
    while (found > text && found[-1] != '\n') {
        found--;
    }
    found[strcspn(found, "\n")] = '\0';
    return found;
}

/* The folders in which Open MPI looks, from its own answer. */
static bool find_component(vp_doctor_t *doctor, char *folders)
{
    char *rest = NULL;
    char *folder;

    for (folder = strtok_r(folders, ":\"\n", &rest); folder != NULL;
         folder = strtok_r(NULL, ":\"\n", &rest)) {
        char path[MAX_PATH_BYTES];

        (void)snprintf(path, sizeof(path), "%.4000s/mca_coll_variopath.so", folder);
        if (access(path, R_OK) == 0) {
            doctor->component = vp_string_copy(path);
            return doctor->component != NULL;
        }
    }
    return false;
}

static void look_for_file(vp_doctor_t *doctor)
{
    static const char key[] = "mca_base_component_path:value:";
    char *text = NULL;
    char *folders;

    (void)vp_doctor_ask_ompi(doctor,
                             (char *[]){(char *)"--param", (char *)"mca", (char *)"base",
                                        (char *)"--level", (char *)"9", (char *)"--parsable", NULL},
                             &text);
    folders = find_line(text, key);
    if (folders == NULL || !find_component(doctor, strstr(folders, key) + sizeof(key) - 1)) {
        vp_doctor_add(doctor, doctor->is_listed ? VP_LEVEL_NOTE : VP_LEVEL_ERROR,
                      "eval \"$(variopath-env)\", or put the component's folder first in "
                      "OMPI_MCA_mca_base_component_path",
                      ABSENT_DOC, "no folder in which Open MPI looks holds mca_coll_variopath.so");
    } else {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "README.md", "the component is %s",
                      doctor->component);
    }
    free(text);
}

static void tell_why_not(vp_doctor_t *doctor)
{
    char *text = NULL;
    char *line;

    (void)setenv("OMPI_MCA_mca_base_component_show_load_errors", "all", 1);
    (void)vp_doctor_ask_ompi(
        doctor, (char *[]){(char *)"--param", (char *)"coll", (char *)"variopath", NULL}, &text);
    (void)unsetenv("OMPI_MCA_mca_base_component_show_load_errors");
    line = find_line(text, "mca_coll_variopath");
    vp_doctor_add(doctor, VP_LEVEL_ERROR,
                  "run ldd on the component: every library, libucp.so first, must be found, and be "
                  "the one that it was built with",
                  ABSENT_DOC, "Open MPI does not load the component: %s",
                  line == NULL ? "it gives no reason" : line);
    free(text);
}

static void look_at_component(vp_doctor_t *doctor)
{
    static const char key[] = "mca:coll:variopath:version:\"component:";
    char *text = NULL;
    char *found;
    vp_outcome_t outcome =
        vp_doctor_ask_ompi(doctor,
                           (char *[]){(char *)"--param", (char *)"coll", (char *)"variopath",
                                      (char *)"--level", (char *)"9", (char *)"--parsable", NULL},
                           &text);

    if (outcome == VP_OUTCOME_TIMED_OUT) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR,
                      "a component hangs while it is opened: try ompi_info by hand, and without "
                      "this component",
                      ABSENT_DOC, "ompi_info did not end in time");
        free(text);
        return;
    }
    found = text == NULL ? NULL : strstr(text, key);
    doctor->is_listed = found != NULL;
    if (found != NULL) {
        found += sizeof(key) - 1;
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "README.md", "Open MPI loads the component, %.*s",
                      (int)strcspn(found, "\"\n"), found);
        vp_doctor_note_version(doctor, "component: %.*s", (int)strcspn(found, "\"\n"), found);
    }
    doctor->parameters = text;
}

/* The component itself says where it was built for another release. */
static void look_at_match(vp_doctor_t *doctor)
{
    char *copy = vp_string_copy(doctor->parameters == NULL ? "" : doctor->parameters);
    char *line = find_line(copy, "coll:variopath: built for");

    if (line != NULL) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR, "build the component for the Open MPI that runs",
                      ABSENT_DOC, "%s", line);
    }
    free(copy);
}

void vp_doctor_look_at_ompi(vp_doctor_t *doctor)
{
    const char *enable;

    doctor->section = "Open MPI";
    vp_doctor_note_version(doctor, "variopath: %s", VP_VERSION);
    if (!look_at_release(doctor)) {
        return;
    }
    look_at_component(doctor);
    look_for_file(doctor);
    if (!doctor->is_listed && doctor->component != NULL) {
        tell_why_not(doctor);
    }
    look_at_match(doctor);
    enable = vp_doctor_parameter(doctor, "enable");
    if (enable != NULL && strcmp(enable, "false") == 0) {
        vp_doctor_add(doctor, VP_LEVEL_WARNING, "coll_variopath_enable 1", "docs/parameters.md",
                      "the component is switched off by coll_variopath_enable");
    }
}
