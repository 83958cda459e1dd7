#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What `make ompi-intree` lays out is complete: every include of ours is there, the makefile lists
# every file, and the sources compile with nothing else in their include path.
. "${srcdir:?}/test/mca/common.sh"
tree=$work/openmpi
there=$tree/ompi/mca/coll/variopath
output=$work/output
lay() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s ompi-intree DIR="$tree" >"$output" 2>&1; }

lay
check "no Open MPI is refused" test $? -ne 0
check "no Open MPI: says so" contains "$output" "is no Open MPI source tree"
mkdir -p "$tree/ompi/mca/coll"
touch "$tree/ompi/mca/coll/coll.h"
printf 'major=4\nminor=0\nrelease=3\n' >"$tree/VERSION"
lay
check "Open MPI 4.0 is refused" contains "$output" "is Open MPI 4.0.3; the component knows 4.1 and 5.0"
check "nothing is left" test ! -e "$there" -a ! -e "$there.new"
printf 'major=4\nminor=1\nrelease=4\n' >"$tree/VERSION"
check "lays out" lay
check "lays out again" lay

cd "$there" || exit 1
find . -name '*.[ch]' | sed 's|^\./||' | sort >"$work/present"
sed -n 's/^    \([a-z_/0-9]*\.[ch]\)\( \\\)\{0,1\}$/\1/p' Makefile.am | sort >"$work/listed"
check "the makefile lists what is there" diff "$work/present" "$work/listed"
missing=
while read -r name; do
    [ -f "$name" ] || missing+=" $name"
done < <(grep -hoE '^ *# *include *"(base|catalog|scheduler|coll_variopath|mca|tools|sim)/[^"]*"' \
    $(cat "$work/present") | cut -d '"' -f 2 | sort -u)
check "every include is there:$missing" test -z "$missing"
# What needs nothing of Open MPI or UCX; the rest is compiled where the packages are tried.
for file in base/units.c catalog/shipped.c scheduler/schedule.c catalog/import/discover.c; do
    check "$file compiles" ${CC:-cc} -I. -fsyntax-only "$file"
done
finish
