/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/manual.h"

#include <string.h>

#include "tools/terminal.h"

enum { WIDTH = 79, OPTIONS = 2, TEXTS = 27, MAX_TEXT = 2048 };

static const char *substitute(const char *text, const char *(*insert)(void), char *whole)
{
    const char *place = strstr(text, "%s");

    if (insert == NULL || place == NULL) {
        return text;
    }
    (void)snprintf(whole, MAX_TEXT, "%.*s%s%s", (int)(place - text), text, insert(), place + 2);
    return whole;
}

/* Words at columns indent .. WIDTH; the first line begins at `column`. */
static void wrap(FILE *stream, const char *text, int column, int indent)
{
    bool is_first = true;

    for (; column < indent; column++) {
        (void)fputc(' ', stream);
    }
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");

        if (!is_first && column + 1 + length > WIDTH) {
            (void)fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (!is_first) {
            (void)fputc(' ', stream);
            column++;
        }
        (void)fprintf(stream, "%.*s", length, text);
        column += length;
        is_first = false;
        text += length;
        text += strspn(text, " ");
    }
    (void)fputc('\n', stream);
}

static void heading(FILE *stream, const char *text)
{
    (void)fprintf(stream, "\n%s%s%s\n", vp_style(stream, VP_STYLE_BOLD), text,
                  vp_style(stream, VP_STYLE_NONE));
}

static void print_option(FILE *stream, const vp_option_t *option)
{
    char whole[MAX_TEXT];
    char text[MAX_TEXT + 128];
    const char *help = substitute(option->help, option->insert, whole);
    int column = fprintf(stream, "%*s", OPTIONS, "");

    if (option->letter != 0) {
        column += fprintf(stream, "-%c, ", option->letter);
    }
    column += fprintf(stream, "--%s%s%s", option->name, option->value == NULL ? "" : " ",
                      option->value == NULL ? "" : option->value);
    (void)snprintf(text, sizeof(text), "%s%s%s%s", help, option->unless_given == NULL ? "" : " [",
                   option->unless_given == NULL ? "" : option->unless_given,
                   option->unless_given == NULL ? "" : "]");
    if (column >= TEXTS) {
        (void)fputc('\n', stream);
        column = 0;
    }
    wrap(stream, text, column, TEXTS);
}

static void print_options(FILE *stream, const vp_command_t *command)
{
    static const vp_option_t help = {.name = "help", .letter = 'h', .help = "print this"};
    const vp_option_t *option;

    heading(stream, "Options:");
    for (option = command->options; option->name != NULL; option++) {
        print_option(stream, option);
    }
    print_option(stream, &help);
}

static void print_paragraphs(FILE *stream, const vp_command_t *command,
                             const char *const *paragraphs)
{
    char whole[MAX_TEXT];
    size_t i;

    for (i = 0; paragraphs != NULL && paragraphs[i] != NULL; i++) {
        if (i > 0) {
            (void)fputc('\n', stream);
        }
        wrap(stream, substitute(paragraphs[i], command->insert, whole), 0, 0);
    }
}

static void print_codes(FILE *stream, const vp_command_t *command)
{
    char text[MAX_TEXT];

    (void)snprintf(text, sizeof(text),
                   "Exit codes: 0 done; %s%s%s2 bad usage or input; 3 the environment failed "
                   "(I/O, permissions, memory).",
                   command->no == NULL ? "" : "1 ", command->no == NULL ? "" : command->no,
                   command->no == NULL ? "" : "; ");
    (void)fputc('\n', stream);
    wrap(stream, text, 0, 0);
}

void vp_manual_help(const vp_command_t *command, FILE *stream)
{
    const vp_example_t *example;
    size_t i;

    for (i = 0; command->forms[i] != NULL; i++) {
        (void)fprintf(stream, "%s variopath %s\n", i == 0 ? "Usage:" : "      ", command->forms[i]);
    }
    print_paragraphs(stream, command, command->paragraphs);
    print_options(stream, command);
    if (command->notes != NULL) {
        (void)fputc('\n', stream);
        print_paragraphs(stream, command, command->notes);
    }
    if (command->examples != NULL) {
        heading(stream, "Examples:");
    }
    for (example = command->examples; example != NULL && example->line != NULL; example++) {
        (void)fprintf(stream, "  %s\n", example->line);
        wrap(stream, example->what, 0, 6);
    }
    print_codes(stream, command);
}

void vp_manual_overview(const vp_command_t *const *commands, FILE *stream)
{
    size_t i;

    (void)fprintf(stream,
                  "Usage: variopath COMMAND [OPTION]...\n"
                  "Catalogs and plans for all-to-all communication on PCIe GPU clusters.\n");
    heading(stream, "Commands:");
    for (i = 0; commands[i] != NULL; i++) {
        (void)fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    }
    (void)fprintf(
        stream, "\n`variopath COMMAND --help` describes a command; --version prints the version.\n"
                "Exit codes: 0 done; 1 a check answered no; 2 bad usage or input;\n"
                "3 the environment failed (I/O, permissions, memory).\n");
}
