/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command.h"
#include "tools/manual.h"

static const vp_command_t *const commands[] = {
    &vp_command_topology, &vp_command_catalog,
    &vp_command_demand,   &vp_command_plan,
    &vp_command_bound,    &vp_command_simulate,
    &vp_command_probe,    &vp_command_trace,
    &vp_command_doctor,   NULL,
};

/* Data that never reached its file is a failure, however late it is noticed. */
static int finish(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "variopath: cannot write standard output; is the disk full?\n");
        return VP_EXIT_ENVIRONMENT;
    }
    return code;
}

static const vp_command_t *find(const char *name)
{
    size_t i;

    for (i = 0; commands[i] != NULL; i++) {
        if (strcmp(name, commands[i]->name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static int refuse(const char *name)
{
    const char *names[sizeof(commands) / sizeof(commands[0])];
    const char *nearest;
    size_t i;

    for (i = 0; commands[i] != NULL; i++) {
        names[i] = commands[i]->name;
    }
    names[i] = NULL;
    nearest = vp_nearest_word(name, names);
    (void)fprintf(stderr, "variopath: unknown command \"%s\"%s%s%s; see `variopath --help`\n", name,
                  nearest == NULL ? "" : ", is ", nearest == NULL ? "" : nearest,
                  nearest == NULL ? "" : " meant?");
    return VP_EXIT_BAD_INPUT;
}

static int help(const char *name)
{
    const vp_command_t *command = name == NULL ? NULL : find(name);

    if (name != NULL && command == NULL) {
        return refuse(name);
    }
    if (command == NULL) {
        vp_manual_overview(commands, stdout);
    } else {
        vp_manual_help(command, stdout);
    }
    return VP_EXIT_OK;
}

/* For the build: --help=man [COMMAND], --help=bash. False: it is another option. */
static bool make_texts(const char *option, const char *name, int *code_p)
{
    *code_p = VP_EXIT_OK;
    if (strcmp(option, "--help=bash") == 0) {
        vp_completion_bash(commands, stdout);
        return true;
    }
    if (strcmp(option, "--help=man") != 0) {
        return false;
    }
    if (name != NULL && find(name) == NULL) {
        *code_p = refuse(name);
    } else {
        vp_manual_page(name == NULL ? NULL : find(name), commands, stdout);
    }
    return true;
}

/* Without memory for an answer there is none: half of one would be worse. */
static void *take_memory(size_t n_bytes)
{
    void *memory = malloc(n_bytes);

    if (memory == NULL) {
        (void)fprintf(stderr, "variopath: out of memory for the answer; use a smaller machine "
                              "description or demand, or give the process more memory\n");
        _Exit(VP_EXIT_ENVIRONMENT);
    }
    return memory;
}

int main(int argc, char **argv)
{
    const vp_command_t *command;
    int code;

    json_set_alloc_funcs(take_memory, free);

    if (argc < 2) {
        vp_manual_overview(commands, stderr);
        return VP_EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        return finish(help(argv[2]));
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("variopath %s\n", VP_VERSION);
        return finish(VP_EXIT_OK);
    }
    if (make_texts(argv[1], argv[2], &code)) {
        return finish(code);
    }
    command = find(argv[1]);
    return command == NULL ? refuse(argv[1]) : finish(command->run(argc - 1, argv + 1));
}
