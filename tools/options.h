/*
 * Commands and their options, each described once: from these tables come the
 * parsing of the command line, `--help`, the manual pages and the completion
 * of bash.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_OPTIONS_H
#define VP_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the value of an option becomes a field of the command's options. */
typedef enum vp_option_kind {
    VP_OPTION_FLAG,   /* no value; stores 1 */
    VP_OPTION_TEXT,   /* const char *: as it stands on the command line */
    VP_OPTION_NUMBER, /* decimal, least .. most */
    VP_OPTION_SIZE,   /* the same with an optional K, M or G, which count in 1024 */
    VP_OPTION_REAL,   /* double, least .. most */
    VP_OPTION_WORD,   /* one of `words`; stores its place among them */
    VP_OPTION_CALL    /* taken by a function */
} vp_option_kind_t;

/* What a shell may offer for an argument. */
typedef enum vp_offer {
    VP_OFFER_NOTHING,
    VP_OFFER_FILES,
    VP_OFFER_TOPOLOGIES, /* shipped names and files */
    VP_OFFER_PLANNERS,   /* of vp_schedule_names() */
    VP_OFFER_ALGORITHMS  /* those and the systems of the simulator */
} vp_offer_t;

/* False: the text is not one that the option takes. options: the command's. */
typedef bool (*vp_option_take_fn_t)(const char *text, void *options);

typedef struct vp_option {
    const char *name;            /* without its dashes */
    char letter;                 /* 0: none */
    const char *value;           /* what texts call the value; NULL for a flag */
    const char *help;            /* one or more sentences; "%s" is where insert() goes */
    const char *(*insert)(void); /* NULL: nothing goes there */
    const char *unless_given;    /* what holds without the option; NULL: goes without saying */
    vp_option_kind_t kind;
    size_t offset; /* of the field, and its size: 1, 4 or 8 */
    size_t n_bytes;
    size_t given; /* offset + 1 of a bool that says that the option stands there; 0: none */
    uint64_t least;
    uint64_t most;
    const char *const *words; /* ends with NULL; also for completion of other kinds */
    vp_option_take_fn_t take;
    vp_offer_t offer;
    unsigned actions; /* bit i: goes with the command's action i; 0: with all */
} vp_option_t;

#define VP_FIELD(type, field)                                                                      \
    .offset = offsetof(type, field), .n_bytes = sizeof(((type *)NULL)->field)
#define VP_GIVEN(type, field) .given = offsetof(type, field) + 1

/* `variopath COMMAND ACTION ARGUMENT...` */
typedef struct vp_action {
    const char *name;
    const char *takes; /* "one TOPOLOGY" */
    int n_least;       /* arguments behind the name */
    int n_most;
    int (*run)(char **arguments, const void *options); /* arguments end with NULL */
} vp_action_t;

typedef struct vp_example {
    const char *line;
    const char *what;
} vp_example_t;

typedef struct vp_command {
    const char *name;
    const char *summary;           /* "show a topology: groups, NICs, ..." */
    const char *const *forms;      /* usage lines behind "variopath "; ends with NULL */
    const char *const *paragraphs; /* description; ends with NULL, "%s" as in options */
    const char *(*insert)(void);
    const vp_option_t *options;   /* ends with a NULL name; --help is added */
    const char *const *notes;     /* paragraphs behind the options; NULL: none */
    const char *no;               /* when the exit code is 1; NULL: never */
    const vp_example_t *examples; /* ends with a NULL line; NULL: none */
    const vp_action_t *actions;   /* ends with a NULL name; NULL: none */
    const char *const *words;     /* first arguments that are no actions; NULL: none */
    vp_offer_t offer;             /* of the arguments (behind an action) */
    int (*run)(int argc, char **argv);
} vp_command_t;

/*
 * Reads argv (argv[0]: the command's name) into the structure that the offsets
 * are of; arguments may stand between options. Returns false where the command
 * is to end with *code_p: after --help, or after a message. *arguments_p: what is
 * no option, behind *n_p of them.
 */
bool vp_options_parse(const vp_command_t *command, int argc, char **argv, void *options,
                      char ***arguments_p, int *n_p, int *code_p);

/* For commands without actions: parses, and refuses arguments. */
bool vp_options_parse_all(const vp_command_t *command, int argc, char **argv, void *options,
                          int *code_p);

/* For commands with actions: parses, and runs the action. Returns an exit code. */
int vp_options_run_action(const vp_command_t *command, int argc, char **argv, void *options);

/* The nearest of the words (ends with NULL), if it is near enough to be meant; else NULL. */
const char *vp_nearest_word(const char *text, const char *const *words);

/* Decimal digits in least .. most, with an optional K, M or G where that is allowed. */
bool vp_number_parse(const char *text, bool has_suffix, uint64_t least, uint64_t most,
                     uint64_t *value_p);

#endif
