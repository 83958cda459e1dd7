#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# `variopath topology import` from outside: exit codes, JSON keys, output files, standard input.
set -u
data=$(cd "${srcdir:?}" && pwd)/test/import/data
variopath=$PWD/variopath
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failures=0

# check NAME CODE COMMAND...: by exit code; output stays in $work/out and $work/err.
check() {
    local name=$1 code=$2 found
    shift 2
    n_checks=$((n_checks + 1))
    "$@" >"$work/out" 2>"$work/err" </dev/null
    found=$?
    if [ "$found" = "$code" ]; then
        echo "ok: $name"
    else
        echo "FAILED: $name: exit code $found, expected $code"
        head -n 5 "$work/out" "$work/err"
        n_failures=$((n_failures + 1))
    fi
}

# holds NAME COMMAND...: true of the output that the last check left.
holds() {
    local name=$1
    shift
    n_checks=$((n_checks + 1))
    if "$@" >/dev/null; then
        echo "ok: $name"
    else
        echo "FAILED: $name"
        head -n 5 "$work/out" "$work/err"
        n_failures=$((n_failures + 1))
    fi
}

import() {
    "$variopath" topology import "$@"
}

# One message on stderr that names the file, and nothing on stdout.
one_line() {
    [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q "$1" "$work/err"
}

for file in "$data"/[hnt]*; do
    name=$(basename "$file")
    case $name in
    h10-* | h13-dgx2-v3.xml | n08-*)
        check "$name is refused" 2 import "$file"
        holds "$name: one message" one_line "$name"
        ;;
    *) check "$name" 0 import "$file" --json ;;
    esac
    head -c "$(($(wc -c <"$file") / 3))" "$file" >"$work/cut-$name"
    check "a third of $name" 2 import "$work/cut-$name"
    holds "a third of $name: one message" one_line "cut-$name: line [0-9]"
done

file=$data/n01-3090x8-2sw-1nic.xml
check "JSON" 0 import "$file" --json
for key in name nodes ranks groups nics resources instances gpus pairs nearest_nics ignored; do
    holds "key $key" grep "^  \"$key\":" "$work/out"
done
check "writes a topology file" 0 import "$file" -o "$work/n01.json"
check "which show takes" 0 "$variopath" topology show "$work/n01.json:nodes=1"
check "and import too" 0 import "$work/n01.json"
check "to standard output" 0 import "$file" -o -
holds "the same bytes" cmp "$work/n01.json" "$work/out"
check "from standard input" 0 bash -c "cat '$file' | '$variopath' topology import -"
check "--format" 0 import "$file" --format nccl
check "another --format" 2 import "$file" --format hwloc
check "unknown --format" 2 import "$file" --format lstopo
check "no file" 2 import
check "two files" 2 import "$file" "$file"
check "--live and a file" 2 import --live "$file"
check "-o - with --json" 2 import "$file" -o - --json
check "an option without its value" 2 import "$file" -o
check "an unknown option" 2 import "$file" --svgg
check "a file that is not there" 3 import "$work/none.xml"
check "a directory" 2 import "$work"
check "an output that cannot be written" 3 import "$file" -o "$work/none/out.json"
check "help" 0 import --help
printf '{"format": "variopath-topology", "version": 1}' >"$work/bad.json"
check "a topology file without its keys" 2 import "$work/bad.json"

# libhwloc takes a file for this machine when HWLOC_XMLFILE names one.
facts() {
    sed -n '/^  "gpus"/,/^  "switch_tree"/p'
}
live() {
    HWLOC_XMLFILE=$1 "$variopath" topology import --live --json
}
if live "$data/h02-p100x2-pascal.xml" 2>&1 | grep -q 'has no hwloc'; then
    echo "without hwloc: no discovery"
else
    for file in "$data"/h0*.xml; do
        check "discovery of $(basename "$file")" 0 live "$file"
        import "$file" --json | facts >"$work/facts"
        holds "the same as from the file" cmp "$work/facts" <(facts <"$work/out")
    done
    check "discovery of a machine without GPU" 2 live "$data/h10-nogpu-c5n.xml"
fi

echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
