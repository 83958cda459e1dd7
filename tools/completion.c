/*
 * A completion script for bash: one case per command; within it, the words
 * that follow an option, the option names, and the first arguments.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "catalog/topology.h"
#include "scheduler/schedule.h"
#include "sim/baselines/baselines.h"
#include "tools/manual.h"

static void put_words(FILE *stream, const char *const *words)
{
    size_t i;

    for (i = 0; words[i] != NULL; i++) {
        (void)fprintf(stream, "%s%s", i == 0 ? "" : " ", words[i]);
    }
}

/* "auto, paper" as words */
static void put_list(FILE *stream, const char *list)
{
    for (; *list != '\0'; list++) {
        if (*list != ',') {
            (void)fputc(*list, stream);
        }
    }
}

/* A command that fills COMPREPLY with what may stand there. */
static void put_offer(FILE *stream, vp_offer_t offer, const char *const *words)
{
    if (words != NULL) {
        (void)fputs("_variopath_words \"", stream);
        put_words(stream, words);
        (void)fputs("\"", stream);
        return;
    }
    switch (offer) {
    case VP_OFFER_FILES:
        (void)fputs("_variopath_files", stream);
        break;
    case VP_OFFER_TOPOLOGIES:
        (void)fputs("_variopath_words \"", stream);
        put_words(stream, vp_topology_shipped_names());
        (void)fputs("\" files", stream);
        break;
    case VP_OFFER_PLANNERS:
    case VP_OFFER_ALGORITHMS:
        (void)fputs("_variopath_words \"", stream);
        put_list(stream, vp_schedule_names());
        if (offer == VP_OFFER_ALGORITHMS) {
            (void)fputc(' ', stream);
            put_list(stream, vp_baseline_names());
        }
        (void)fputs("\"", stream);
        break;
    case VP_OFFER_NOTHING:
        (void)fputs(":", stream);
        break;
    }
}

static void put_values(FILE *stream, const vp_command_t *command)
{
    const vp_option_t *option;

    for (option = command->options; option->name != NULL; option++) {
        if (option->value == NULL) {
            continue;
        }
        (void)fprintf(stream, "        %s:--%s", command->name, option->name);
        if (option->letter != 0) {
            (void)fprintf(stream, " | %s:-%c", command->name, option->letter);
        }
        (void)fputs(") ", stream);
        put_offer(stream, option->offer, option->words);
        (void)fputs("; return ;;\n", stream);
    }
}

static void put_options(FILE *stream, const vp_command_t *command)
{
    const vp_option_t *option;

    (void)fprintf(stream, "        %s) _variopath_words \"", command->name);
    for (option = command->options; option->name != NULL; option++) {
        (void)fprintf(stream, "--%s ", option->name);
    }
    (void)fputs("--help\" ;;\n", stream);
}

static void put_arguments(FILE *stream, const vp_command_t *command)
{
    const vp_action_t *action;
    const char *between = "";

    if (command->words != NULL || command->actions != NULL) {
        (void)fprintf(stream, "        %s:2) _variopath_words \"", command->name);
        if (command->words != NULL) {
            put_words(stream, command->words);
        }
        for (action = command->actions; action != NULL && action->name != NULL; action++) {
            (void)fprintf(stream, "%s%s", between, action->name);
            between = " ";
        }
        (void)fputs("\" ;;\n", stream);
    }
    (void)fprintf(stream, "        %s:*) ", command->name);
    put_offer(stream, command->offer, NULL);
    (void)fputs(" ;;\n", stream);
}

static void put_helpers(FILE *stream)
{
    (void)fputs(
        "# bash completion for variopath; made from its tables of options.\n\n"
        "_variopath_files()\n{\n"
        "    compopt -o filenames 2>/dev/null\n"
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
        "}\n\n"
        "# Words, and files if a second argument says so.\n"
        "_variopath_words()\n{\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\")\n"
        "    if [ -n \"${2-}\" ]; then\n"
        "        compopt -o filenames 2>/dev/null\n"
        "        mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$word\")\n"
        "    fi\n"
        "}\n\n",
        stream);
}

void vp_completion_bash(const vp_command_t *const *commands, FILE *stream)
{
    size_t i;

    put_helpers(stream);
    (void)fputs("_variopath()\n{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-}\n"
                "    COMPREPLY=()\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        _variopath_words \"",
                stream);
    for (i = 0; commands[i] != NULL; i++) {
        (void)fprintf(stream, "%s ", commands[i]->name);
    }
    (void)fputs("help --help --version\"\n        return\n    fi\n"
                "    case $command:${COMP_WORDS[COMP_CWORD - 1]} in\n",
                stream);
    for (i = 0; commands[i] != NULL; i++) {
        put_values(stream, commands[i]);
    }
    (void)fputs("    esac\n    if [[ $word == -* ]]; then\n        case $command in\n", stream);
    for (i = 0; commands[i] != NULL; i++) {
        put_options(stream, commands[i]);
    }
    (void)fputs("        esac\n        return\n    fi\n    case $command:$COMP_CWORD in\n", stream);
    for (i = 0; commands[i] != NULL; i++) {
        put_arguments(stream, commands[i]);
    }
    (void)fputs("    esac\n}\n\ncomplete -F _variopath variopath\n", stream);
}
