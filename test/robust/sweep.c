/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"

bool sweep_is_whole(void)
{
    const char *text = getenv("VP_ROBUST_ALL");

    return text != NULL && text[0] != '\0';
}

static void fault(const char *name, size_t number, const char *what, const char *text)
{
    (void)printf("%s, allocation %zu: %s \"%s\"\n", name, number, what, text);
    failing_report(stdout);
    (void)fflush(stdout);
    ck_abort_msg("%s, allocation %zu: %s \"%s\"", name, number, what, text);
}

/* One run in which that allocation fails; true: the operation went through without it. */
static bool try_one(const char *name, sweep_fn_t run, const void *argument, size_t number,
                    uint64_t expected)
{
    vp_error_t error = {.status = VP_OK, .text = ""};
    uint64_t digest = 0;
    vp_status_t status;

    failing_start(number);
    status = run(argument, &digest, &error);
    (void)failing_stop();
    if (failing_n_live() != 0) {
        fault(name, number, "memory is not given back", error.text);
    }
    if (status == VP_OK && digest != expected) {
        fault(name, number, "another result", error.text);
    }
    if (status != VP_OK && status != VP_ERR_NO_MEMORY) {
        fault(name, number, vp_status_text((int)status), error.text);
    }
    if (status != VP_OK && (error.status != status || strstr(error.text, "memory") == NULL)) {
        fault(name, number, "the message does not speak of memory", error.text);
    }
    return status == VP_OK;
}

void sweep(const char *name, sweep_fn_t run, const void *argument)
{
    vp_error_t error = {.status = VP_OK, .text = ""};
    const size_t *numbers;
    size_t n_numbers, n, i, n_through = 0;
    uint64_t expected = 0;
    vp_status_t status;

    /* What is set up once per process is not of this operation. */
    ck_assert_msg(run(argument, &expected, &error) == VP_OK, "%s: %s", name, error.text);
    failing_start_listing();
    status = run(argument, &expected, &error);
    n = failing_stop();
    ck_assert_msg(status == VP_OK, "%s: %s", name, error.text);
    if (failing_n_live() != 0) {
        fault(name, 0, "memory is not given back", "");
    }
    ck_assert_msg(n > 0, "%s takes no memory", name);
    numbers = failing_choose(sweep_is_whole(), &n_numbers);
    for (i = 0; i < n_numbers; i++) {
        n_through += try_one(name, run, argument, numbers[i], expected);
    }
    (void)printf("swept %s: %zu allocations from %zu places, %zu failed, %zu done without\n", name,
                 n, failing_n_sites(), n_numbers, n_through);
    (void)fflush(stdout);
}
