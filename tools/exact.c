/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include "tools/exact.h"

#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value == NULL || value[0] == '\0' ? otherwise : value;
}

/* Starts the script with its standard output in *from_p. */
static bool start(const char *script, const char *topology, const char *demand, pid_t *child_p,
                  FILE **from_p)
{
    const char *python = setting("VP_PYTHON", "python3");
    char self[4096];
    const char *words[] = {python, script, topology, demand, "--variopath", self, NULL};
    ssize_t n_bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
    posix_spawn_file_actions_t actions;
    int ends[2];
    bool is_started;

    if (n_bytes < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    self[n_bytes] = '\0';
    is_started = posix_spawn_file_actions_init(&actions) == 0;
    if (is_started) {
        /* posix_spawnp takes words that it does not write to. */
        is_started = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
                     posix_spawnp(child_p, python, &actions, NULL, (char *const *)(uintptr_t)words,
                                  environ) == 0;
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ends[1]);
    *from_p = is_started ? fdopen(ends[0], "r") : NULL;
    if (*from_p == NULL) {
        (void)close(ends[0]);
    }
    return is_started;
}

static bool read_answer(const json_t *root, vp_exact_t *exact)
{
    const json_t *lp = json_object_get(root, "lp_ns");
    const json_t *fluid = json_object_get(root, "fluid_ns");
    const json_t *kmin = json_object_get(root, "kmin");

    if (!json_is_number(lp) || !json_is_number(fluid) || !json_is_integer(kmin)) {
        return false;
    }
    exact->lp_ns = (uint64_t)json_number_value(lp);
    exact->fluid_ns = (uint64_t)json_number_value(fluid);
    exact->kmin = (uint32_t)json_integer_value(kmin);
    return true;
}

vp_status_t vp_exact_bounds(const char *topology, const char *demand, vp_exact_t *exact_p,
                            vp_error_t *error)
{
    char script[4096];
    json_t *root = NULL;
    FILE *from = NULL;
    pid_t child = 0;
    bool is_read;
    int state = 1;

    (void)snprintf(script, sizeof(script), "%s/lp_bound.py",
                   setting("VARIOPATH_DATA", VP_TOOLS_DATA));
    if (!start(script, topology, demand, &child, &from)) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot start \"%.200s\" for exact bounds; install Python 3, or give "
                            "one in VP_PYTHON",
                            setting("VP_PYTHON", "python3"));
    }
    if (from != NULL) {
        root = json_loadf(from, 0, NULL);
        (void)fclose(from);
    }
    (void)waitpid(child, &state, 0);
    is_read = root != NULL && read_answer(root, exact_p);
    json_decref(root);
    if (state != 0) {
        return vp_error_set(error, VP_ERR_IO,
                            "%.500s gave no exact bounds, see above; it needs a Python with the "
                            "package highspy (VP_PYTHON) and a demand in a file",
                            script);
    }
    return is_read
               ? VP_OK
               : vp_error_set(error, VP_ERR_IO,
                              "%.500s gave an answer that is not its JSON; reinstall it", script);
}
