/*
 * Manual pages in man(7).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include <ctype.h>
#include <string.h>

#include "tools/manual.h"

/* Characters that roff would take for its own, and hyphens that are to be typed as they are. */
static void put_text(FILE *stream, const char *text)
{
    bool is_line_begin = true;

    for (; *text != '\0'; text++) {
        if (*text == '\\') {
            (void)fputs("\\e", stream);
        } else if (*text == '-') {
            (void)fputs("\\-", stream);
        } else if (*text == '^') {
            (void)fputs("\\(ha", stream);
        } else if (*text == '`') {
            (void)fputs("\\(ga", stream);
        } else if (*text == '\'') {
            (void)fputs("\\(aq", stream);
        } else if (*text == '~') {
            (void)fputs("\\(ti", stream);
        } else if (*text == '.' && is_line_begin) {
            (void)fputs("\\&.", stream);
        } else {
            (void)fputc(*text, stream);
        }
        is_line_begin = false;
    }
}

static void put_inserted(FILE *stream, const char *text, const char *(*insert)(void))
{
    const char *place = insert == NULL ? NULL : strstr(text, "%s");
    char begin[1024];

    if (place == NULL) {
        put_text(stream, text);
        return;
    }
    (void)snprintf(begin, sizeof(begin), "%.*s", (int)(place - text), text);
    put_text(stream, begin);
    put_text(stream, insert());
    put_text(stream, place + 2);
}

static void put_paragraphs(FILE *stream, const char *const *paragraphs, const char *(*insert)(void))
{
    size_t i;

    for (i = 0; paragraphs[i] != NULL; i++) {
        (void)fputs(i == 0 ? "" : ".PP\n", stream);
        put_inserted(stream, paragraphs[i], insert);
        (void)fputc('\n', stream);
    }
}

static void put_title(FILE *stream, const char *name)
{
    (void)fputs(".\\\" Made from the tables of options of the program.\n.TH \"", stream);
    for (; *name != '\0'; name++) {
        (void)fputc(toupper((unsigned char)*name), stream);
    }
    (void)fprintf(stream, "\" 1 \"\" \"variopath %s\" \"User Commands\"\n.nh\n.ad l\n", VP_VERSION);
}

static void put_option(FILE *stream, const vp_option_t *option)
{
    (void)fputs(".TP\n", stream);
    if (option->letter != 0) {
        (void)fprintf(stream, "\\fB\\-%c\\fR, ", option->letter);
    }
    (void)fputs("\\fB\\-\\-", stream);
    put_text(stream, option->name);
    (void)fputs("\\fR", stream);
    if (option->value != NULL) {
        (void)fputs(" \\fI", stream);
        put_text(stream, option->value);
        (void)fputs("\\fR", stream);
    }
    (void)fputc('\n', stream);
    put_inserted(stream, option->help, option->insert);
    if (option->unless_given != NULL) {
        (void)fputs(" [", stream);
        put_text(stream, option->unless_given);
        (void)fputc(']', stream);
    }
    (void)fputc('\n', stream);
}

static void put_codes(FILE *stream, const char *no)
{
    (void)fputs(".SH EXIT STATUS\n.TP\n0\nDone.\n", stream);
    if (no != NULL) {
        (void)fputs(".TP\n1\nA check answered no: ", stream);
        put_text(stream, no);
        (void)fputs(".\n", stream);
    }
    (void)fputs(".TP\n2\nBad usage or bad input.\n"
                ".TP\n3\nThe environment failed: input or output, a missing driver, permissions, "
                "memory.\n",
                stream);
}

static void put_environment(FILE *stream)
{
    (void)fputs(".SH ENVIRONMENT\n.TP\nNO_COLOR\nIf it is set and not empty, nothing is coloured. "
                "Colours go to terminals only.\n",
                stream);
}

static void put_see_also(FILE *stream, const vp_command_t *self,
                         const vp_command_t *const *commands)
{
    const char *between = "";
    size_t i;

    (void)fputs(".SH SEE ALSO\n", stream);
    if (self != NULL) {
        (void)fputs(".BR variopath (1)", stream);
        between = ",\n";
    }
    for (i = 0; commands[i] != NULL; i++) {
        if (commands[i] != self) {
            (void)fprintf(stream, "%s.BR variopath\\-%s (1)", between, commands[i]->name);
            between = ",\n";
        }
    }
    (void)fputs("\n", stream);
}

static void put_examples(FILE *stream, const vp_example_t *example)
{
    (void)fputs(".SH EXAMPLES\n", stream);
    for (; example->line != NULL; example++) {
        (void)fputs(".TP\n\\fB", stream);
        put_text(stream, example->line);
        (void)fputs("\\fR\n", stream);
        put_text(stream, example->what);
        (void)fputc('\n', stream);
    }
}

static void put_command(const vp_command_t *command, FILE *stream)
{
    static const vp_option_t help = {
        .name = "help", .letter = 'h', .help = "print a summary of this page"};
    const vp_option_t *option;
    char name[64];
    size_t i;

    (void)snprintf(name, sizeof(name), "variopath-%s", command->name);
    put_title(stream, name);
    (void)fprintf(stream, ".SH NAME\nvariopath\\-%s \\- ", command->name);
    put_text(stream, command->summary);
    (void)fputs("\n.SH SYNOPSIS\n", stream);
    for (i = 0; command->forms[i] != NULL; i++) {
        (void)fprintf(stream, "%s\\fBvariopath\\fR ", i == 0 ? "" : ".br\n");
        put_text(stream, command->forms[i]);
        (void)fputc('\n', stream);
    }
    (void)fputs(".SH DESCRIPTION\n", stream);
    put_paragraphs(stream, command->paragraphs, command->insert);
    (void)fputs(".SH OPTIONS\n", stream);
    for (option = command->options; option->name != NULL; option++) {
        put_option(stream, option);
    }
    put_option(stream, &help);
    if (command->notes != NULL) {
        (void)fputs(".SH NOTES\n", stream);
        put_paragraphs(stream, command->notes, NULL);
    }
    if (command->examples != NULL) {
        put_examples(stream, command->examples);
    }
    put_codes(stream, command->no);
}

static void put_overview(const vp_command_t *const *commands, FILE *stream)
{
    size_t i;

    put_title(stream, "variopath");
    (void)fputs(
        ".SH NAME\nvariopath \\- catalogs and plans for all\\-to\\-all communication on PCIe "
        "GPU clusters\n.SH SYNOPSIS\n\\fBvariopath\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.br\n"
        "\\fBvariopath\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR\n.SH DESCRIPTION\n"
        "The Open MPI component \\fIcoll/variopath\\fR carries MPI_Alltoallv over chosen paths of "
        "PCIe machines. This program makes the files that it reads, shows what it would do, plays "
        "it on modelled links, and says what is in the way. Standard output is data, standard "
        "error is log.\n.SH COMMANDS\n",
        stream);
    for (i = 0; commands[i] != NULL; i++) {
        (void)fprintf(stream, ".TP\n.BR variopath\\-%s (1)\n", commands[i]->name);
        put_text(stream, commands[i]->summary);
        (void)fputc('\n', stream);
    }
    put_codes(stream, "an invalid catalog, findings of a check, a comparison that is not met");
}

void vp_manual_page(const vp_command_t *command, const vp_command_t *const *commands, FILE *stream)
{
    if (command == NULL) {
        put_overview(commands, stream);
    } else {
        put_command(command, stream);
    }
    put_environment(stream);
    put_see_also(stream, command, commands);
}
