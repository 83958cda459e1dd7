#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every header compiles alone and may be included twice.
set -u
top=${srcdir:?}
foreign=$(pkg-config --cflags libxml-2.0 jansson 2>/dev/null)
n_checks=0
n_failures=0
for header in "$top"/{base,catalog,catalog/import,scheduler,sim,tools,tools/doctor,tools/probe}/*.h "$top"/coll_variopath/{engine,lanes,surroundings}.h; do
    n_checks=$((n_checks + 1))
    name=${header#"$top"/}
    if printf '#include "%s"\n#include "%s"\n' "$name" "$name" |
        ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I"$top" $foreign -x c -; then
        echo "ok: $name"
    else
        echo "FAILED: $name does not compile alone"
        n_failures=$((n_failures + 1))
    fi
done
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
