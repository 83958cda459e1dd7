#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every parameter that the component registers is in docs/parameters.md with the same words, and
# the other way round; --write brings the page up to date. No other document names one that is not.
. "${srcdir:?}/test/mca/common.sh"

"$VP_OMPI_INFO" --param coll variopath --level 9 --parsable >"$work/info" 2>"$work/errors" ||
    { cat "$work/errors"; exit 1; }
"$srcdir/test/mca/parameters.py" <"$work/info" >"$work/parameters.md" || exit 1
if [ "${1:-}" = --write ]; then
    cp "$work/parameters.md" "$srcdir/docs/parameters.md"
    exit
fi
if ! diff "$srcdir/docs/parameters.md" "$work/parameters.md"; then
    echo "docs/parameters.md is stale: make docs-parameters"
fi
check "the page is what ompi_info lists" cmp -s "$srcdir/docs/parameters.md" "$work/parameters.md"

# names_known FILE: every coll_variopath_NAME of FILE is a parameter or a performance variable.
names_known() {
    local unknown
    unknown=$(grep -oE 'coll_variopath_[a-z_]+[a-z]' "$1" | sort -u | grep -vxFf "$work/known")
    [ -z "$unknown" ] || { echo "$1 names $unknown"; return 1; }
}
{
    sed -n 's/^mca:coll:variopath:param:\(coll_variopath_[a-z_]*\):type:.*/\1/p' "$work/info"
    grep -oE '"[a-z_]+"' "$srcdir/mca/counters.c" | tr -d '"' | sed 's/^/coll_variopath_/'
} | sort -u >"$work/known"
for document in "$srcdir"/README.md "$srcdir"/docs/*.md; do
    check "parameters named in ${document##*/}" names_known "$document"
done
finish
