/*
 * Which UCX the component gets when a job runs, which one Open MPI itself
 * brings along, and whether it moves device memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/outside.h"

#define MIXED_DOC "docs/troubleshooting.md#the-component-is-not-there"
#define STAGED_DOC "docs/troubleshooting.md#calls-are-staged"

enum { MAX_PATH_BYTES = 4096 };

/* What the loader would bind libucp.so to for a file, in new memory; NULL: nothing, or no file. */
static char *find_ucp(const vp_doctor_t *doctor, const char *file, bool *is_missing_p)
{
    char *text = NULL;
    char *found;

    *is_missing_p = false;
    (void)vp_outside_run((char *[]){(char *)"ldd", (char *)file, NULL}, doctor->timeout_ms, &text);
    found = text == NULL ? NULL : strstr(text, "libucp.so");
    if (found != NULL) {
        found = strstr(found, " => ");
    }
    if (found != NULL) {
        found += 4;
        found[strcspn(found, " \n")] = '\0';
        *is_missing_p = strcmp(found, "not") == 0;
        found = *is_missing_p ? NULL : vp_string_copy(found);
    }
    free(text);
    return found;
}

static void tell_version(FILE *stream, const void *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *(*version)(void) = NULL;

    if (library != NULL) {
        *(void **)&version = dlsym(library, "ucp_get_version_string");
    }
    if (version != NULL) {
        (void)fprintf(stream, "%s", version());
    }
}

/* UCX opens its parts when it needs them: they are files in a folder beside the library. */
static bool has_module(const char *ucp, const char *name)
{
    const char *slash = strrchr(ucp, '/');
    char pattern[MAX_PATH_BYTES];
    glob_t found = {0};
    bool is_there;

    (void)snprintf(pattern, sizeof(pattern), "%.*sucx/%s.so*",
                   slash == NULL ? 0 : (int)(slash + 1 - ucp), ucp, name);
    is_there = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
    globfree(&found);
    return is_there;
}

static void look_at_library(vp_doctor_t *doctor, const char *ucp)
{
    char *version = NULL;
    vp_outcome_t outcome = vp_outside_call(tell_version, ucp, doctor->timeout_ms, &version);

    if (outcome != VP_OUTCOME_DONE || version == NULL || version[0] == '\0') {
        vp_doctor_add(doctor, VP_LEVEL_ERROR, "reinstall UCX; run ldd on its library", MIXED_DOC,
                      "UCX, %s, cannot be loaded", ucp);
    } else {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "README.md", "UCX %s, %s", version, ucp);
        vp_doctor_note_version(doctor, "UCX: %s", version);
    }
    free(version);
    doctor->has_ucx_cuda = has_module(ucp, "libuct_cuda");
    if (doctor->has_ucx_cuda) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/device-buffers.md",
                      "this UCX moves CUDA memory");
    } else {
        vp_doctor_add(doctor, VP_LEVEL_NOTE,
                      "for puts from device to device a UCX with CUDA, 1.16 or later, for the "
                      "whole job",
                      STAGED_DOC, "this UCX has no CUDA part: it moves host memory only");
    }
    if (!has_module(ucp, "libuct_ib")) {
        vp_doctor_add(doctor, VP_LEVEL_NOTE, "for RDMA devices a UCX built with rdma-core",
                      "docs/engine.md", "this UCX has no part for RDMA devices");
    } else {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/engine.md", "this UCX uses RDMA devices");
    }
}

/* Built with a newer UCX than the one that runs, it may miss what it counts on. */
static void compare_with_build(vp_doctor_t *doctor)
{
    const char *value = vp_doctor_parameter(doctor, "compiletime_version");
    unsigned built[2] = {0, 0};
    unsigned runs[2] = {0, 0};

    if (value == NULL || sscanf(value, "%u.%u", &built[0], &built[1]) != 2) {
        return;
    }
    value = vp_doctor_parameter(doctor, "runtime_version");
    if (value == NULL || sscanf(value, "%u.%u", &runs[0], &runs[1]) != 2) {
        return;
    }
    if (runs[0] < built[0] || (runs[0] == built[0] && runs[1] < built[1])) {
        vp_doctor_add(doctor, VP_LEVEL_WARNING,
                      "build it with the UCX that runs, or put the newer one first in "
                      "LD_LIBRARY_PATH",
                      MIXED_DOC, "the component was built with UCX %u.%u and runs with %u.%u",
                      built[0], built[1], runs[0], runs[1]);
    } else {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "README.md",
                      "the component was built with UCX %u.%u and runs with %u.%u", built[0],
                      built[1], runs[0], runs[1]);
    }
}

/* Two UCX libraries in one process do not work: which others would there be? */
static void compare_with_ompi(vp_doctor_t *doctor, const char *ucp)
{
    char *folder = NULL;
    char *end;
    char pattern[MAX_PATH_BYTES];
    bool is_missing;
    char *other;

    (void)vp_doctor_ask_ompi(
        doctor, (char *[]){(char *)"--path", (char *)"pkglibdir", (char *)"--parsable", NULL},
        &folder);
    end = folder == NULL ? NULL : strstr(folder, "pkglibdir:");
    if (end == NULL) {
        free(folder);
        return;
    }
    end += strlen("pkglibdir:");
    end[strcspn(end, "\n")] = '\0';
    (void)snprintf(pattern, sizeof(pattern), "%.4000s/mca_pml_ucx.so", end);
    other = find_ucp(doctor, pattern, &is_missing);
    if (other == NULL) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/troubleshooting.md",
                      "Open MPI's own parts use no UCX that could be another one");
    } else if (strcmp(other, ucp) == 0) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/troubleshooting.md",
                      "Open MPI's pml ucx uses the same UCX");
    } else {
        vp_doctor_add(doctor, VP_LEVEL_WARNING,
                      "one UCX for the whole job: put its lib folder first in LD_LIBRARY_PATH on "
                      "all nodes, or use --mca pml ^ucx",
                      MIXED_DOC, "Open MPI's pml ucx would use another UCX, %s", other);
    }
    free(other);
    free(folder);
}

void vp_doctor_look_at_ucx(vp_doctor_t *doctor)
{
    bool is_missing = false;
    char *ucp = NULL;

    doctor->section = "UCX";
    if (doctor->component == NULL) {
        vp_doctor_add(doctor, VP_LEVEL_NOTE, "", "docs/troubleshooting.md",
                      "not looked at: without a component there is none that it would use");
        return;
    }
    ucp = find_ucp(doctor, doctor->component, &is_missing);
    if (ucp == NULL) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR,
                      "put the lib folder of UCX into LD_LIBRARY_PATH on all nodes", MIXED_DOC,
                      "the loader finds no libucp.so for the component");
        return;
    }
    look_at_library(doctor, ucp);
    compare_with_build(doctor);
    compare_with_ompi(doctor, ucp);
    free(ucp);
}
