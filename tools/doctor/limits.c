/*
 * What a container, a shell or a batch system allows.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tools/doctor/doctor.h"

#define DOC "docs/troubleshooting.md#containers"

enum { SMALL_SHM_MIB = 1024, SMALL_LOCK_MIB = 1024 };
#define MIB (1024ull * 1024)

static void look_at_memlock(vp_doctor_t *doctor)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", DOC, "locked memory is not limited");
        return;
    }
    vp_doctor_add(doctor, limit.rlim_cur < SMALL_LOCK_MIB * MIB ? VP_LEVEL_WARNING : VP_LEVEL_NOTE,
                  "ulimit -l unlimited; in a container --ulimit memlock=-1; for a batch system in "
                  "its daemon's unit",
                  DOC, "locked memory is limited to %llu KiB: RDMA registers its buffers there",
                  (unsigned long long)limit.rlim_cur / 1024);
}

static void look_at_shm(vp_doctor_t *doctor)
{
    char path[4096];
    struct statvfs facts;
    unsigned long long mib;

    (void)snprintf(path, sizeof(path), "%.4000s/dev/shm", doctor->root);
    if (statvfs(path, &facts) != 0) {
        vp_doctor_add(doctor, VP_LEVEL_ERROR, "mount a tmpfs at /dev/shm", DOC,
                      "/dev/shm cannot be used: ranks of a node have no shared memory");
        return;
    }
    mib = (unsigned long long)facts.f_bavail * facts.f_frsize / MIB;
    vp_doctor_add(doctor, mib < SMALL_SHM_MIB ? VP_LEVEL_WARNING : VP_LEVEL_OK,
                  mib < SMALL_SHM_MIB ? "--shm-size=8g or --ipc=host in a container" : "", DOC,
                  "/dev/shm has %llu MiB free", mib);
}

static void look_at_memory(vp_doctor_t *doctor)
{
    const char *limit = vp_doctor_line(doctor, "/sys/fs/cgroup/memory.max");

    if (limit == NULL) {
        limit = vp_doctor_line(doctor, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
    }
    if (limit == NULL || strcmp(limit, "max") == 0 || strlen(limit) > 15) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", DOC, "no cgroup limits the memory");
    } else {
        vp_doctor_add(doctor, VP_LEVEL_NOTE,
                      "pinned slots and shared memory count too: leave room for them", DOC,
                      "the cgroup limits the memory to %llu MiB", strtoull(limit, NULL, 10) / MIB);
    }
}

static bool exists(const vp_doctor_t *doctor, const char *name)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%.3900s%s", doctor->root, name);
    return access(path, F_OK) == 0;
}

static void look_at_container(vp_doctor_t *doctor)
{
    if (exists(doctor, "/.dockerenv") || exists(doctor, "/run/.containerenv") ||
        exists(doctor, "/.singularity.d")) {
        vp_doctor_add(
            doctor, VP_LEVEL_NOTE,
            "one container per node, or shared IPC and PID namespaces; hand in the GPUs "
            "and /dev/infiniband",
            DOC, "this is a container: ranks in separate ones share no memory and no CUDA IPC");
    } else {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", DOC, "no sign of a container");
    }
}

void vp_doctor_look_at_limits(vp_doctor_t *doctor)
{
    doctor->section = "Limits";
    look_at_container(doctor);
    look_at_memlock(doctor);
    look_at_shm(doctor);
    look_at_memory(doctor);
}

static const char *set(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

void vp_doctor_look_at_slurm(vp_doctor_t *doctor)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    const char *per_task = set("SLURM_GPUS_PER_TASK");
    const char *bind =
        set("SLURM_GPU_BIND") != NULL ? set("SLURM_GPU_BIND") : set("SLURM_GPU_BIND_TYPE");
    static const char doc[] = "docs/troubleshooting.md#it-is-carried-and-slow";

    doctor->section = "Batch system";
    if (set("SLURM_JOB_ID") == NULL) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", doc, "not inside a Slurm job");
    } else if (per_task != NULL || (bind != NULL && strcmp(bind, "none") != 0)) {
        vp_doctor_add(doctor, VP_LEVEL_WARNING,
                      "--gpu-bind=none leaves every task all GPUs of the node, which CUDA IPC "
                      "needs; ranks are found by the PCI address of their GPU",
                      doc,
                      "Slurm gives each task its own GPUs (gpus-per-task %s, gpu-bind %s): peers' "
                      "GPUs are hidden",
                      per_task == NULL ? "not set" : per_task, bind == NULL ? "not set" : bind);
    } else {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", doc, "a Slurm job that does not bind GPUs to tasks");
    }
    if (visible == NULL) {
        vp_doctor_add(doctor, VP_LEVEL_OK, "", doc, "CUDA_VISIBLE_DEVICES is not set");
    } else if (visible[0] == '\0') {
        vp_doctor_add(doctor, VP_LEVEL_WARNING, "unset CUDA_VISIBLE_DEVICES", doc,
                      "CUDA_VISIBLE_DEVICES is empty: every GPU is hidden");
    } else {
        vp_doctor_add(doctor, VP_LEVEL_NOTE,
                      "every rank should see all GPUs of its node, and choose one", doc,
                      "CUDA_VISIBLE_DEVICES is %.200s: other GPUs are hidden", visible);
    }
}
