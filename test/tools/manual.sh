#!/usr/bin/env bash
# Help, manual pages and completion come from one table: do they say the same, do they render?
# SPDX-License-Identifier: BSD-3-Clause
set -u

variopath=${VARIOPATH:-./variopath}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failures=0

check() { # TEXT COMMAND...
    local text=$1
    shift
    n_checks=$((n_checks + 1))
    if ! "$@"; then
        echo "FAILED: $text"
        n_failures=$((n_failures + 1))
    fi
}

refused() { # TEXT ARGUMENT...: exit code 2, nothing on standard output, one line that holds TEXT
    local text=$1
    shift
    "$variopath" "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
        grep -qF -e "$text" "$work/err" || { cat "$work/out" "$work/err"; return 1; }
}

helps() { # COMMAND OPTION: help comes, alone
    "$variopath" "$@" >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ] &&
        grep -q "^Usage: variopath $1" "$work/out"
}

renders() { # FILE: without a warning
    groff -ww -man -Tutf8 "$1" >"$work/page" 2>"$work/err" && [ ! -s "$work/err" ] && [ -s "$work/page" ] ||
        { cat "$work/err"; return 1; }
}

# What the shell would offer behind these words.
complete_words() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _variopath
    printf '%s\n' "${COMPREPLY[@]}"
}

offers() { # WORD LINE...
    local word=$1
    shift
    complete_words "$@" | grep -qxF -e "$word"
}

mapfile -t commands < <("$variopath" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
check "there are commands" [ "${#commands[@]}" -ge 7 ]
"$variopath" --help=bash >"$work/completion" && . "$work/completion"
check "the shell reads the completion" bash -n "$work/completion"
"$variopath" --help=man >"$work/variopath.1"
command -v groff >/dev/null && check "variopath(1) renders" renders "$work/variopath.1"
for command in "${commands[@]}"; do
    page=$work/variopath-$command.1
    "$variopath" --help=man "$command" >"$page"
    check "$command has a page" [ -s "$page" ]
    command -v groff >/dev/null && check "variopath-$command(1) renders" renders "$page"
    check "variopath(1) names $command" grep -q "variopath..$command" "$work/variopath.1"
    check "$command --help" helps "$command" --help
    check "$command -h" helps "$command" -h
    check "$command is offered" offers "$command" variopath "${command:0:1}"
    check "$command refuses what it does not know" refused "unknown option \"--frobnicate\"" \
        "$command" --frobnicate
    check "$command knows a slip" refused "is --json meant?" "$command" --jsno
    check "$command refuses what stands twice" refused "stands there twice" "$command" --json --json
    "$variopath" "$command" --help | sed -n 's/^  \(-., \)\?--\([a-z-]*\).*/\2/p' >"$work/options"
    check "$command has --json" grep -qx json "$work/options"
    while read -r option; do
        check "--$option of $command has a place in the page" \
            grep -qF -e "\\fB\\-\\-${option//-/\\-}\\fR" "$page"
        check "--$option of $command is offered" offers "--$option" variopath "$command" "--${option:0:1}"
    done <"$work/options"
done
check "help COMMAND" helps plan --help
check "a command that is nearly one" refused "is plan meant?" plam
check "a command that is none" refused "unknown command \"frobnicate\"" frobnicate
check "a kind that is nearly one" refused "is zipf meant?" demand zpif
check "an action of another option" refused "--live does not go with \"show\"" topology show fig1-6 --live
check "shipped names are offered" offers fig1-6 variopath topology show f
check "words of an option are offered" offers thorough variopath plan --effort t
check "planners are offered" offers paper variopath plan --scheduler p
touch "$work/a.csv"
check "files are offered" offers "$work/a.csv" variopath plan --demand "$work/a"

# Colours go to terminals only.
coloured() { grep -q $'\033' "$1"; }
"$variopath" --help >"$work/out"
check "no colour in a file" eval '! coloured "$work/out"'
if command -v script >/dev/null; then
    TERM=xterm script -qec "env -u NO_COLOR $variopath --help" /dev/null >"$work/out" </dev/null
    check "colour on a terminal" coloured "$work/out"
    TERM=xterm NO_COLOR=1 script -qec "$variopath --help" /dev/null >"$work/out" </dev/null
    check "no colour where none is wanted" eval '! coloured "$work/out"'
fi

echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" -eq 0 ]
