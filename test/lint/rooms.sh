#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Rooms call only downwards: every project include of a room must be of a room
# it may use, and foreign headers that belong to one room stay there.
set -u
cd "${srcdir:?}" || exit 99
n_checks=0
n_failures=0

# allow ROOM "ALLOWED PREFIXES" "FORBIDDEN FOREIGN HEADERS"
allow() {
    local room=$1 bad
    n_checks=$((n_checks + 1))
    bad=$(grep -nE '^ *# *include *"' "$room"/*.[ch] |
        grep -vE "include *\"($2)" | grep -v 'vp_config.h')
    bad+=$(grep -nE "^ *# *include *<($3)" "$room"/*.[ch])
    if [ -n "$bad" ]; then
        printf 'FAILED: %s includes what it may not:\n%s\n' "$room" "$bad"
        n_failures=$((n_failures + 1))
    else
        printf 'ok: %s\n' "$room"
    fi
}

allow base 'base/' 'jansson|ucp/|ucs/|mpi\.h|hwloc|cuda'
allow catalog '(base|catalog)/' 'ucp/|ucs/|mpi\.h|cuda'
allow scheduler '(base/|scheduler/|catalog/model\.h)' 'jansson|ucp/|ucs/|mpi\.h|hwloc|cuda|time\.h|pthread'
allow sim '(base/|sim/|catalog/model\.h|scheduler/plan\.h)' 'jansson|ucp/|ucs/|mpi\.h|hwloc|cuda|time\.h'
allow sim/baselines '(base/|sim/|catalog/model\.h|scheduler/plan\.h)' 'jansson|ucp/|ucs/|mpi\.h|hwloc|cuda|time\.h'
allow catalog/import '(base|catalog)/' 'ucp/|ucs/|mpi\.h|cuda'
allow coll_variopath '(base/|scheduler/|catalog/(avoid|model|rescale|restrict|store)\.h|coll_variopath/)' 'jansson|mpi\.h|hwloc'
allow tools '(base|catalog|scheduler|sim|tools)/' 'ucp/|ucs/|mpi\.h'
allow tools/doctor '(base/|catalog/|tools/doctor/)' 'ucp/|ucs/|mpi\.h|hwloc|cuda'
allow mca '(base/|catalog/|scheduler/schedule\.h|coll_variopath/|mca/|ompi|opal/|mpi\.h)' 'ucp/|ucs/|jansson'
allow tools/probe '(base/|catalog/|coll_variopath/lanes\.h|tools/probe/)' 'ucp/|ucs/|hwloc'
allow examples 'examples/' 'ucp/|ucs/'

# UCX stays behind lanes.h, jansson behind the topology reader.
n_checks=$((n_checks + 1))
if grep -lE '<uc[psmt]/' coll_variopath/*.[ch] | grep -v '^coll_variopath/lanes'; then
    echo 'FAILED: UCX is included outside coll_variopath/lanes*'
    n_failures=$((n_failures + 1))
fi
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
