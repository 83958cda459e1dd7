/*
 * The tree of this node: GPUs, groups, NICs and who is near whom.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/import/import.h"
#include "catalog/import/model_report.h"
#include "catalog/import/native.h"
#include "tools/doctor/doctor.h"

#define DOC "docs/discovery.md"

static void tell_nics(vp_doctor_t *doctor, const json_t *report)
{
    const json_t *gpus = json_object_get(report, "gpus");
    const json_t *nearest = json_object_get(report, "nearest_nics");
    size_t i;

    for (i = 0; i < json_array_size(gpus); i++) {
        const json_t *names = json_array_get(nearest, i);
        char text[256] = "";
        size_t used = 0;
        size_t k;

        for (k = 0; k < json_array_size(names) && used < sizeof(text); k++) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", k == 0 ? "" : ", ",
                                     json_string_value(json_array_get(names, k)));
        }
        vp_doctor_add(doctor, VP_LEVEL_OK, "", DOC,
                      "GPU %zu is in group %" JSON_INTEGER_FORMAT "; nearest NIC: %s", i,
                      json_integer_value(json_object_get(json_array_get(gpus, i), "group")),
                      text[0] == '\0' ? "none" : text);
    }
}

static void tell_ignored(vp_doctor_t *doctor, const json_t *report)
{
    const json_t *ignored = json_object_get(report, "ignored");
    size_t i;

    for (i = 0; i < json_array_size(ignored); i++) {
        const json_t *note = json_array_get(ignored, i);

        vp_doctor_add(doctor, VP_LEVEL_NOTE, "a topology file can say it better", DOC,
                      "not used as it is: %s: %s", json_string_value(json_object_get(note, "what")),
                      json_string_value(json_object_get(note, "why")));
    }
}

static vp_status_t describe(vp_doctor_t *doctor, vp_hardware_t *machine, vp_error_t *error)
{
    json_t *native = NULL;
    json_t *report = NULL;
    vp_status_t status = vp_hardware_topology(machine, "this-machine", &native, error);

    if (status != VP_OK) {
        return status;
    }
    doctor->topology = json_dumps(native, JSON_INDENT(2));
    json_decref(native);
    report = json_object();
    if (doctor->topology == NULL || report == NULL) {
        status = vp_error_no_memory(error, "the topology of this machine");
    } else {
        status = vp_hardware_report(machine, report, error);
    }
    if (status == VP_OK) {
        status = vp_import_model("this machine", doctor->topology, strlen(doctor->topology),
                                 &doctor->model, error);
    }
    if (status == VP_OK) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", DOC,
                      "this node: %" PRIu32 " ranks in %" PRIu32 " groups, %" PRIu32 " NICs",
                      doctor->model->n_ranks, doctor->model->n_groups, doctor->model->n_nics);
        tell_nics(doctor, report);
        tell_ignored(doctor, report);
    }
    json_decref(report);
    return status;
}

/* Without GPUs there is no tree to show, but a job may use the RDMA devices. */
static void list_devices(vp_doctor_t *doctor)
{
    char path[4096];
    struct dirent *entry;
    unsigned n = 0;
    DIR *folder;

    (void)snprintf(path, sizeof(path), "%.3900s/sys/class/infiniband", doctor->root);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const char *state;

        if (entry->d_name[0] == '.') {
            continue;
        }
        n++;
        state = vp_doctor_line(doctor, "/sys/class/infiniband/%s/ports/1/state", entry->d_name);
        vp_doctor_add(doctor,
                      state != NULL && strstr(state, "ACTIVE") != NULL ? VP_LEVEL_OK
                                                                       : VP_LEVEL_WARNING,
                      state != NULL && strstr(state, "ACTIVE") != NULL
                          ? ""
                          : "look at the cable, the switch, and ibstat",
                      DOC, "RDMA device %s, port 1: %s", entry->d_name,
                      state == NULL ? "state not to be read" : state);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    if (n == 0) {
        vp_doctor_add(doctor, VP_LEVEL_NOTE,
                      "in a container hand in /dev/infiniband; without RDMA nodes talk over TCP",
                      "docs/troubleshooting.md#containers", "no RDMA device here");
    }
}

void vp_doctor_look_at_topology(vp_doctor_t *doctor)
{
    vp_hardware_t *machine = NULL;
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;

    doctor->section = "GPUs and NICs on the PCIe tree";
    status = vp_import_live(true, &machine, &error);
    if (status == VP_OK) {
        status = describe(doctor, machine, &error);
    }
    vp_hardware_destroy(machine);
    if (status != VP_OK) {
        vp_doctor_add(doctor, VP_LEVEL_NOTE,
                      "give coll_variopath_topology or coll_variopath_catalog a file", DOC,
                      "no topology is found out here: %s", error.text);
    }
    list_devices(doctor);
}
