#!/usr/bin/env bash
# The pictures of docs/ are those that the tool draws, byte for byte, and well-formed.
# SPDX-License-Identifier: BSD-3-Clause
set -u
: "${srcdir:?run this through make check}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failures=0
sh "$srcdir/docs/pictures.sh" "$work" || { echo "FAILED: the pictures cannot be drawn"; exit 1; }
for picture in "$work"/*.svg; do
    n_checks=$((n_checks + 1))
    if ! cmp "$picture" "$srcdir/docs/pictures/${picture##*/}"; then
        echo "FAILED: docs/pictures/${picture##*/} is not what the tool draws; run make pictures, and look at it"
        n_failures=$((n_failures + 1))
    fi
    if command -v python3 >/dev/null; then
        n_checks=$((n_checks + 1))
        if ! python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$picture"; then
            echo "FAILED: ${picture##*/} is not well-formed"
            n_failures=$((n_failures + 1))
        fi
    fi
done
for picture in "$srcdir"/docs/pictures/*.svg; do
    n_checks=$((n_checks + 1))
    if [ ! -e "$work/${picture##*/}" ]; then
        echo "FAILED: nobody draws ${picture##*/}"
        n_failures=$((n_failures + 1))
    fi
done
grep -q '>bound</text>' "$work/plan-8.svg" || { echo "FAILED: a plan without its bound"; n_failures=$((n_failures + 1)); }
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" -eq 0 ]
