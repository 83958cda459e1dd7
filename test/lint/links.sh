#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Links between documents lead somewhere, headings included; every document can be reached
# from README; figures that README takes from a picture stand in it.
set -u
cd "${srcdir:?}" || exit 99
n_checks=0
n_failures=0
documents=(README.md docs/*.md)

fail() {
    echo "FAILED: $*"
    n_failures=$((n_failures + 1))
}

targets() { grep -oE '\]\([^)[:space:]]+\)' "$1" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' | sort -u; }

# The names that headings have as targets.
anchors() {
    sed -n 's/^##* *//p' "$1" | sed -E 's/[`*]//g; s/\[([^]]*)\]\([^)]*\)/\1/g' | tr '[:upper:]' '[:lower:]' |
        sed -E 's/[^a-z0-9_ -]//g; s/ /-/g'
}

reached=" README.md "
for document in "${documents[@]}"; do
    while IFS= read -r link; do
        n_checks=$((n_checks + 1))
        target=$document
        [ -z "${link%%#*}" ] || target=$(realpath -m --relative-to=. "$(dirname "$document")/${link%%#*}")
        reached+="$target "
        [ -e "$target" ] || { fail "$document: $link is not there"; continue; }
        case $link in
        *#*) anchors "$target" | grep -qxF -- "${link#*#}" || fail "$document: $link: no such heading" ;;
        esac
    done < <(targets "$document")
done
# What the programs point to, from where README lies.
while IFS= read -r link; do
    n_checks=$((n_checks + 1))
    if [ ! -e "${link%%#*}" ]; then
        fail "the sources: $link is not there"
    elif [[ $link == *#* ]]; then
        anchors "${link%%#*}" | grep -qxF -- "${link#*#}" || fail "the sources: $link: no such heading"
    fi
done < <(grep -rhoE 'docs/[A-Za-z0-9_-]+\.md(#[a-z0-9_-]+)?' --include=*.[ch] base catalog coll_variopath mca scheduler sim tools |
    sort -u)
for document in "${documents[@]}"; do
    n_checks=$((n_checks + 1))
    [[ $reached == *" $document "* ]] || fail "no document leads to $document"
done

picture=docs/pictures/bandwidth-8.svg
drawn=$(grep -oE '>[0-9]+\.[0-9]{3}<' "$picture" | tr -d '<>' | LC_ALL=C awk '{ printf " %.1f ", $1 }')
n_checks=$((n_checks + 1))
[ -n "$drawn" ] || fail "$picture has no figures"
while IFS= read -r figure; do
    n_checks=$((n_checks + 1))
    [[ $drawn == *" $figure "* ]] || fail "README: $figure is not in $picture"
done < <(grep -F "($picture)" README.md | sed 's/.*]([^|]*|//' | grep -oE '[0-9]+\.[0-9]+')

[ "$n_checks" -gt 50 ] || fail "only $n_checks links were found"
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
