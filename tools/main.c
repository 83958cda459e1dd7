/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/command.h"

typedef struct command {
    const char *name;
    vp_command_fn_t run;
    const char *summary;
} command_t;

static const command_t commands[] = {
    {"topology", vp_command_topology, "show a topology: groups, NICs, shared resources, paths"},
    {"bound", vp_command_bound, "show times that no schedule of a demand beats"},
    {"catalog", vp_command_catalog, "build a channel catalog, or show one"},
    {"demand", vp_command_demand, "make a demand: uniform, random, zipf, moe, hotspot"},
    {"plan", vp_command_plan, "decompose a demand into activations"},
    {"probe", vp_command_probe, "measure the GPUs of this machine and the links they share"},
    {"simulate", vp_command_simulate, "play algorithms on the modelled links"},
};
enum { n_commands = sizeof(commands) / sizeof(commands[0]) };

int vp_command_fail(const vp_error_t *error)
{
    (void)fprintf(stderr, "variopath: %s\n", error->text);
    switch (error->status) {
    case VP_ERR_USAGE:
    case VP_ERR_BAD_INPUT:
    case VP_ERR_LIMIT:
    case VP_ERR_UNSUPPORTED:
        return VP_EXIT_BAD_INPUT;
    default:
        return VP_EXIT_ENVIRONMENT;
    }
}

int vp_command_usage(const char *command, const char *format, ...)
{
    va_list arguments;

    (void)fprintf(stderr, "variopath %s: ", command);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "; see `variopath %s --help`\n", command);
    return VP_EXIT_BAD_INPUT;
}

static void print_help(FILE *stream)
{
    size_t i;

    (void)fprintf(stream, "Usage: variopath COMMAND [OPTION]...\n"
                          "Catalogs and plans for all-to-all communication on PCIe GPU clusters.\n"
                          "\nCommands:\n");
    for (i = 0; i < n_commands; i++) {
        (void)fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    (void)fprintf(
        stream, "\n`variopath COMMAND --help` describes a command; --version prints the version.\n"
                "Exit codes: 0 done; 1 a check answered no; 2 bad usage or input;\n"
                "3 the environment failed (I/O, permissions, memory).\n");
}

/* Data that never reached its file is a failure, however late it is noticed. */
static int finish(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "variopath: cannot write standard output; is the disk full?\n");
        return VP_EXIT_ENVIRONMENT;
    }
    return code;
}

bool vp_command_is_repeated(int option, vp_command_seen_t seen)
{
    bool is_repeated = false;

    if (option > 0 && option < 128 && option != ':' && option != '?') {
        is_repeated = seen[option];
        seen[option] = true;
    }
    return is_repeated;
}

const char *vp_command_option_text(char **argv)
{
    /* A value may be a word of its own behind the option. */
    return optarg != NULL && optarg == argv[optind - 1] && optind > 1 ? argv[optind - 2]
                                                                      : argv[optind - 1];
}

int main(int argc, char **argv)
{
    size_t i;

    if (argc < 2) {
        print_help(stderr);
        return VP_EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return finish(VP_EXIT_OK);
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("variopath %s\n", VP_VERSION);
        return finish(VP_EXIT_OK);
    }
    for (i = 0; i < n_commands; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return finish(commands[i].run(argc - 1, argv + 1));
        }
    }
    (void)fprintf(stderr, "variopath: unknown command \"%s\"; see `variopath --help`\n", argv[1]);
    return VP_EXIT_BAD_INPUT;
}
