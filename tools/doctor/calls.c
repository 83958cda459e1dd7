/*
 * What a communicator would do with its calls, from the parameters as Open MPI
 * has them and from what the other parts have found.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <string.h>

#include "catalog/store.h"
#include "catalog/topology.h"
#include "tools/doctor/doctor.h"

#define PASSED_DOC "docs/troubleshooting.md#calls-are-passed-on"
#define STAGED_DOC "docs/troubleshooting.md#calls-are-staged"

static void take_model(vp_doctor_t *doctor, vp_model_t *model, const char *kind, const char *name)
{
    vp_model_destroy(doctor->model);
    doctor->model = model;
    vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/guide.md",
                  "%s %s: %" PRIu32 " ranks on %" PRIu32 " nodes, %s transports", kind, name,
                  model->n_ranks, model->n_nodes, model->transport);
}

static bool open_catalog(vp_doctor_t *doctor, const char *path)
{
    vp_catalog_t *catalog = NULL;
    vp_error_t error;
    char name[512];

    (void)snprintf(name, sizeof(name), "%s", path);
    if (vp_catalog_load(name, &catalog, NULL, &error) != VP_OK) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR, "build it again: variopath catalog build", PASSED_DOC,
                      "coll_variopath_catalog: %s", error.text);
        return false;
    }
    take_model(doctor, catalog->model, "the catalog", name);
    catalog->model = NULL;
    vp_catalog_destroy(catalog);
    return true;
}

static bool open_topology(vp_doctor_t *doctor, const char *argument)
{
    vp_model_t *model = NULL;
    vp_error_t error;
    char name[512];

    (void)snprintf(name, sizeof(name), "%s", argument);
    if (vp_topology_resolve(name, &model, &error) != VP_OK) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR, "variopath topology check tells more", PASSED_DOC,
                      "coll_variopath_topology: %s", error.text);
        return false;
    }
    take_model(doctor, model, "the topology", name);
    return true;
}

/* False: nothing will be carried, and it was said why. */
static bool find_machine(vp_doctor_t *doctor)
{
    const char *value = vp_doctor_parameter(doctor, "catalog");

    if (value != NULL && value[0] != '\0') {
        return open_catalog(doctor, value);
    }
    value = vp_doctor_parameter(doctor, "topology");
    if (value != NULL && value[0] != '\0') {
        return open_topology(doctor, value);
    }
    if (doctor->model == NULL) {
        vp_doctor_add(doctor, VP_LEVEL_NOTE,
                      "give coll_variopath_topology or coll_variopath_catalog", PASSED_DOC,
                      "every call is passed on: no topology is configured, and none is found out "
                      "here");
        return false;
    }
    vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/discovery.md",
                  "no topology is configured: each communicator's is found out, %" PRIu32
                  " ranks on this node, at nominal rates",
                  doctor->model->n_ranks);
    return true;
}

static void tell_host_buffers(vp_doctor_t *doctor)
{
    const char *host = vp_doctor_parameter(doctor, "host");

    if (host != NULL && strcmp(host, "true") == 0) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/guide.md",
                      "calls on host buffers are carried (coll_variopath_host is on)");
    } else {
        vp_doctor_add(doctor, VP_LEVEL_NOTE, "coll_variopath_host 1 if they are to be carried",
                      PASSED_DOC,
                      "calls on host buffers are passed on (coll_variopath_host is off)");
    }
}

static void tell_device_buffers(vp_doctor_t *doctor)
{
    if (!doctor->has_driver || doctor->n_gpus == 0) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/device-buffers.md",
                      "calls on device buffers: there are none here");
    } else if (doctor->has_ucx_cuda && (doctor->has_peers || doctor->n_gpus == 1)) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", "docs/device-buffers.md",
                      "calls on device buffers are carried, put from device to device where each "
                      "path's first check says so");
    } else {
        vp_doctor_add(doctor, VP_LEVEL_NOTE,
                      doctor->has_ucx_cuda ? "a driver that allows peer access" : "a UCX with CUDA",
                      STAGED_DOC,
                      "calls on device buffers are carried through pinned host memory: %s",
                      doctor->has_ucx_cuda ? "no GPU may use another's memory"
                                           : "this UCX does not move CUDA memory");
    }
    vp_doctor_add(doctor, VP_LEVEL_OK, "", STAGED_DOC,
                  "nonblocking calls on device buffers, and device buffers with gaps, are staged");
}

void vp_doctor_look_at_calls(vp_doctor_t *doctor)
{
    doctor->section = "What a communicator would do";
    if (!doctor->is_listed) {
        vp_doctor_add(doctor, VP_LEVEL_NOTE, "see above", PASSED_DOC,
                      "nothing is carried: Open MPI does not have the component");
        return;
    }
    if (find_machine(doctor)) {
        tell_host_buffers(doctor);
        tell_device_buffers(doctor);
    }
}
