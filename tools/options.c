/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command.h"
#include "tools/manual.h"

enum { MAX_OPTIONS = 48, MAX_WORD = 64, HELP = 1, FIRST = 256 };

/* One command line: the options of getopt_long, and which stood there. */
typedef struct line {
    const vp_command_t *command;
    const char *name; /* the command, or "COMMAND ACTION" */
    struct option known[MAX_OPTIONS + 2];
    char letters[MAX_OPTIONS * 2 + 4];
    bool seen[MAX_OPTIONS];
    size_t n_options;
} line_t;

bool vp_number_parse(const char *text, bool has_suffix, uint64_t least, uint64_t most,
                     uint64_t *value_p)
{
    unsigned long long value;
    unsigned shift = 0;
    char *end;

    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    errno = 0;
    value = strtoull(text, &end, 10);
    if (has_suffix && (*end == 'K' || *end == 'M' || *end == 'G')) {
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
        end++;
    }
    if (errno != 0 || *end != '\0' || value > most >> shift || value << shift < least) {
        return false;
    }
    *value_p = (uint64_t)value << shift;
    return true;
}

static bool parse_real(const char *text, const vp_option_t *option, double *value_p)
{
    char *end;
    double value;

    errno = 0;
    value = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !isfinite(value) ||
        value < (double)option->least || value > (double)option->most) {
        return false;
    }
    *value_p = value;
    return true;
}

static void store(void *options, const vp_option_t *option, uint64_t value)
{
    void *field = (char *)options + option->offset;

    if (option->n_bytes == 1) {
        *(bool *)field = value != 0;
    } else if (option->n_bytes == sizeof(uint32_t)) {
        uint32_t narrow = (uint32_t)value;

        memcpy(field, &narrow, sizeof(narrow)); /* an enumeration, perhaps */
    } else {
        memcpy(field, &value, sizeof(value));
    }
}

static int find_word(const char *text, const char *const *words)
{
    int i;

    for (i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* False: the option does not take this value. */
static bool take(const vp_option_t *option, const char *text, void *options)
{
    uint64_t value = 1;
    double real;
    int place;

    switch (option->kind) {
    case VP_OPTION_FLAG:
        break;
    case VP_OPTION_TEXT:
        memcpy((char *)options + option->offset, &text, sizeof(text));
        return true;
    case VP_OPTION_NUMBER:
    case VP_OPTION_SIZE:
        if (!vp_number_parse(text, option->kind == VP_OPTION_SIZE, option->least, option->most,
                             &value)) {
            return false;
        }
        break;
    case VP_OPTION_REAL:
        if (!parse_real(text, option, &real)) {
            return false;
        }
        memcpy((char *)options + option->offset, &real, sizeof(real));
        return true;
    case VP_OPTION_WORD:
        place = find_word(text, option->words);
        if (place < 0) {
            return false;
        }
        value = (uint64_t)place;
        break;
    case VP_OPTION_CALL:
        return option->take(text, options);
    }
    store(options, option, value);
    return true;
}

/* "peers, paths or both" */
static void list_words(const char *const *words, char *text, size_t n_bytes)
{
    size_t used = 0;
    size_t i;

    text[0] = '\0';
    for (i = 0; words[i] != NULL && used < n_bytes; i++) {
        const char *between = i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ";

        used += (size_t)snprintf(text + used, n_bytes - used, "%s%s", between, words[i]);
    }
}

static int refuse_value(const line_t *line, const vp_option_t *option, const char *text)
{
    char words[256];

    switch (option->kind) {
    case VP_OPTION_NUMBER:
    case VP_OPTION_SIZE:
    case VP_OPTION_REAL:
        return vp_command_usage(line->name, "--%s takes %" PRIu64 " to %" PRIu64 "%s, not \"%s\"",
                                option->name, option->least, option->most,
                                option->kind == VP_OPTION_SIZE ? ", also with K, M or G" : "",
                                text);
    case VP_OPTION_WORD:
        list_words(option->words, words, sizeof(words));
        return vp_command_usage(line->name, "--%s takes %s, not \"%s\"", option->name, words, text);
    default:
        return vp_command_usage(line->name, "--%s does not take \"%s\"", option->name, text);
    }
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* Letters to insert, leave out or replace until one word is the other. */
static size_t distance(const char *a, const char *b)
{
    size_t row[MAX_WORD + 1];
    size_t n = strlen(b);
    size_t i;
    size_t j;

    if (n > MAX_WORD || strlen(a) > MAX_WORD) {
        return SIZE_MAX;
    }
    for (j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (i = 0; a[i] != '\0'; i++) {
        size_t corner = row[0]++;

        for (j = 0; j < n; j++) {
            size_t above = row[j + 1];

            row[j + 1] = smallest(corner + (a[i] != b[j]), above + 1, row[j] + 1);
            corner = above;
        }
    }
    return row[n];
}

const char *vp_nearest_word(const char *text, const char *const *words)
{
    size_t least = strlen(text) / 3 + 1;
    const char *nearest = NULL;
    size_t i;

    for (i = 0; words[i] != NULL; i++) {
        size_t away = distance(text, words[i]);

        if (away < least || (away == least && nearest == NULL)) {
            least = away;
            nearest = words[i];
        }
    }
    return nearest;
}

static int refuse_option(const line_t *line, const char *text)
{
    const char *names[MAX_OPTIONS + 2] = {"help"};
    const char *nearest = NULL;
    char word[MAX_WORD];
    size_t i;

    for (i = 0; i < line->n_options; i++) {
        names[i + 1] = line->command->options[i].name;
    }
    if (strncmp(text, "--", 2) == 0) {
        (void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(text + 2, "="), text + 2);
        nearest = vp_nearest_word(word, names);
    }
    if (nearest != NULL) {
        return vp_command_usage(line->name, "unknown option \"%s\"; is --%s meant?", text, nearest);
    }
    return vp_command_usage(line->name, "unknown option \"%s\"", text);
}

static void list_options(line_t *line)
{
    char *letter = line->letters;
    size_t i;

    *letter++ = ':';
    *letter++ = 'h';
    line->known[0] = (struct option){"help", no_argument, NULL, HELP};
    for (i = 0; line->command->options[i].name != NULL; i++) {
        const vp_option_t *option = &line->command->options[i];
        int has_value = option->value == NULL ? no_argument : required_argument;

        line->known[i + 1] = (struct option){option->name, has_value, NULL, FIRST + (int)i};
        if (option->letter != 0) {
            *letter++ = option->letter;
            if (option->value != NULL) {
                *letter++ = ':';
            }
        }
    }
    line->n_options = i;
    *letter = '\0';
}

/* Place of the option that getopt_long has returned. */
static size_t place_of(const line_t *line, int option)
{
    size_t i = 0;

    if (option >= FIRST) {
        return (size_t)(option - FIRST);
    }
    while (line->command->options[i].letter != option) {
        i++;
    }
    return i;
}

/* The option as it was written; its value may be a word of its own behind it. */
static const char *written(char **argv)
{
    bool is_apart = optarg != NULL && optarg == argv[optind - 1] && optind > 1;

    return argv[is_apart ? optind - 2 : optind - 1];
}

/* In "-xo" the letter is what is unknown, not the word. */
static int refuse_unknown(const line_t *line, char **argv)
{
    char letter[3] = {'-', (char)optopt, '\0'};

    if (optopt > 0 && optopt < FIRST && strncmp(argv[optind - 1], "--", 2) != 0) {
        return refuse_option(line, letter);
    }
    return refuse_option(line, argv[optind - 1]);
}

static int take_next(line_t *line, int option, char **argv, void *options)
{
    const vp_option_t *known;
    size_t place;

    if (option == ':') {
        return vp_command_usage(line->name, "option \"%s\" needs a value", argv[optind - 1]);
    }
    if (option == '?') {
        return refuse_unknown(line, argv);
    }
    place = place_of(line, option);
    known = &line->command->options[place];
    if (line->seen[place]) {
        return vp_command_usage(line->name, "option \"%s\" stands there twice; give it once",
                                written(argv));
    }
    line->seen[place] = true;
    if (!take(known, optarg, options)) {
        return refuse_value(line, known, optarg);
    }
    if (known->given != 0) {
        ((bool *)options)[known->given - 1] = true;
    }
    return VP_EXIT_OK;
}

static bool parse(line_t *line, int argc, char **argv, void *options, int *code_p)
{
    int option;

    list_options(line);
    *code_p = VP_EXIT_OK;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, line->letters, line->known, NULL)) != -1) {
        if (option == HELP || option == 'h') {
            vp_manual_help(line->command, stdout);
            return false;
        }
        *code_p = take_next(line, option, argv, options);
        if (*code_p != VP_EXIT_OK) {
            return false;
        }
    }
    return true;
}

bool vp_options_parse(const vp_command_t *command, int argc, char **argv, void *options,
                      char ***arguments_p, int *n_p, int *code_p)
{
    line_t line = {.command = command, .name = command->name};

    if (!parse(&line, argc, argv, options, code_p)) {
        return false;
    }
    *arguments_p = argv + optind;
    *n_p = argc - optind;
    return true;
}

bool vp_options_parse_all(const vp_command_t *command, int argc, char **argv, void *options,
                          int *code_p)
{
    char **arguments;
    int n;

    if (!vp_options_parse(command, argc, argv, options, &arguments, &n, code_p)) {
        return false;
    }
    if (n > 0) {
        *code_p = vp_command_usage(command->name, "unexpected argument \"%s\"", arguments[0]);
    }
    return n == 0;
}

/* "show, check and import" */
static void list_actions(const vp_command_t *command, char *text, size_t n_bytes)
{
    size_t used = 0;
    size_t i;

    for (i = 0; command->actions[i].name != NULL && used < n_bytes; i++) {
        const char *between = i == 0 ? "" : command->actions[i + 1].name == NULL ? " and " : ", ";

        used += (size_t)snprintf(text + used, n_bytes - used, "%s%s", between,
                                 command->actions[i].name);
    }
}

/* Options that belong to other actions would be ignored; say so instead. */
static int check_actions(const line_t *line, size_t action)
{
    size_t i;

    for (i = 0; i < line->n_options; i++) {
        const vp_option_t *option = &line->command->options[i];

        if (line->seen[i] && option->actions != 0 && (option->actions >> action & 1) == 0) {
            return vp_command_usage(line->name, "--%s does not go with \"%s\"", option->name,
                                    line->command->actions[action].name);
        }
    }
    return VP_EXIT_OK;
}

int vp_options_run_action(const vp_command_t *command, int argc, char **argv, void *options)
{
    line_t line = {.command = command, .name = command->name};
    char names[256];
    char **arguments;
    int n;
    int code;
    size_t i;

    if (!parse(&line, argc, argv, options, &code)) {
        return code;
    }
    arguments = argv + optind;
    n = argc - optind;
    list_actions(command, names, sizeof(names));
    if (n == 0) {
        return vp_command_usage(command->name, "say what to do; there are %s", names);
    }
    for (i = 0; command->actions[i].name != NULL; i++) {
        const vp_action_t *action = &command->actions[i];

        if (strcmp(arguments[0], action->name) != 0) {
            continue;
        }
        if (n - 1 < action->n_least || n - 1 > action->n_most) {
            return vp_command_usage(command->name, "\"%s\" takes %s", action->name, action->takes);
        }
        code = check_actions(&line, i);
        return code != VP_EXIT_OK ? code : action->run(arguments + 1, options);
    }
    return vp_command_usage(command->name, "unknown action \"%s\"; there are %s", arguments[0],
                            names);
}
