#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Sources are formatted as .clang-format says (clang-format 14).
set -u
cd "${srcdir:?}" || exit 99
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }
case $(clang-format --version) in
*' 14.'*) ;;
*) echo "clang-format is not version 14: its results differ"; exit 77 ;;
esac
mapfile -t files < <(find base catalog scheduler coll_variopath mca tools examples sim test -name '*.[ch]')
clang-format --style=file --dry-run -Werror "${files[@]}" 2>&1 | grep -E 'error:' | cut -d: -f1 | sort | uniq -c
[ "${PIPESTATUS[0]}" = 0 ] && echo "100%: Checks: ${#files[@]}, Failures: 0, Errors: 0"
