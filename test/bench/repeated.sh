#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The share of exchange and planning in calls that come again, with kept plans and without.
. "${srcdir:?}/test/mca/common.sh"
for cache in 8 0; do
    echo "coll_variopath_cache $cache:"
    launch 300 "${VP_BENCH_RANKS:-8}" --mca coll variopath --mca coll_variopath_host 1 \
        --mca coll_variopath_catalog "$work/eight.vpcat" --mca coll_variopath_cache "$cache" \
        "$builddir/test/bench/bench_repeated" || exit 1
done
