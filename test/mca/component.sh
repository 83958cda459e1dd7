#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The component as Open MPI sees it: symbols, parameters, selection.
. "${srcdir:?}/test/mca/common.sh"
dso=$component/mca_coll_variopath.so
program=$builddir/examples/alltoallv
output=$work/output

nm -D --defined-only "$dso" | awk '{print $3}' >"$work/symbols"
check "one exported symbol" equal "$(cat "$work/symbols")" mca_coll_variopath_component
check "loads with RTLD_NOW" "$builddir/test/mca/load_now" "$dso"

"$VP_OMPI_INFO" --param coll variopath --level 9 >"$output" 2>&1
check "ompi_info lists the component" contains "$output" "MCA coll: variopath"
for parameter in priority enable verbose np cts catalog topology host sync_stream scheduler sync alpha_ns \
    min_gain trace timeout_ms widen help_dir compiletime_version runtime_version; do
    check "parameter $parameter" contains "$output" "\"coll_variopath_$parameter\""
done
"$VP_OMPI_INFO" --param coll variopath --level 9 --parsable >"$output" 2>&1
check "every parameter has a help string of some length" equal \
    "$(grep ':help:' "$output" | sed 's/^.*:help://' | awk 'length($0) < 30' | wc -l)" 0

launch 60 4 --mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_verbose 1 \
    "$program" --counters >"$output" 2>&1
check "literal --mca coll variopath: exit code" equal "$?" 0
check "literal: verified" contains "$output" "verified: every byte of every call is right"
check "literal: the verdict is logged" contains "$output" "alltoallv on MPI_COMM_WORLD: carried"
check "literal: the counter agrees" contains "$output" "coll_variopath_carried = 24"
check "literal: NIC paths were used" contains "$output" "coll_variopath_bytes_NIC"

launch 60 4 --mca coll ^variopath "$program" --counters >"$output" 2>&1
check "^variopath: verified" contains "$output" "verified: every byte of every call is right"
check "^variopath: no counter" lacks "$output" "coll_variopath"

launch 60 4 --mca coll_variopath_host 1 "$program" --counters >"$output" 2>&1
check "no coll parameter: carried" contains "$output" "coll_variopath_carried = 24"

launch 60 4 --mca coll variopath,tuned,basic,libnbc,self --mca coll_variopath_host 1 \
    "$program" --counters >"$output" 2>&1
check "explicit list: carried" contains "$output" "coll_variopath_carried = 24"

launch 60 4 --mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_cts alltoall \
    "$program" --counters >"$output" 2>&1
check "cts without alltoallv: not carried" lacks "$output" "coll_variopath_carried"

launch 60 4 --mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_enable 0 \
    "$program" --counters >"$output" 2>&1
check "enable 0: verified" contains "$output" "verified: every byte of every call is right"
check "enable 0: not carried" lacks "$output" "coll_variopath_carried"

launch 60 4 --mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_max_endpoints 1 \
    "$program" --counters >"$output" 2>&1
check "a budget of one endpoint: verified" contains "$output" "verified: every byte of every call is right"
check "a budget of one endpoint: not carried" lacks "$output" "coll_variopath_carried"
check "a budget of one endpoint: said" contains "$output" "a path cannot be connected"

launch 60 4 --mca coll variopath --mca coll_variopath_scheduler nonsense "$program" >"$output" 2>&1
check "unknown scheduler: verified" contains "$output" "verified: every byte of every call is right"
check "unknown scheduler: said once" equal "$(grep -c 'Value:     nonsense' "$output")" 1

launch 60 1 --mca coll variopath --mca coll_variopath_host 1 "$program" >"$output" 2>&1
check "one rank: verified" contains "$output" "verified: every byte of every call is right"

OMPI_MCA_coll_variopath_catalog='' launch 60 4 --mca coll variopath \
    --mca coll_variopath_host 1 --mca coll_variopath_topology "$srcdir/test/mca/four.json:transports=local" \
    "$program" --counters >"$output" 2>&1
check "topology instead of a catalog: carried" contains "$output" "coll_variopath_carried = 24"

launch 60 4 --mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_trace "$work/trace" \
    "$program" >"$output" 2>&1
check "trace: one line per call" equal "$(wc -l <"$work/trace.3")" 6
check "trace: every line is JSON" python3 -c \
    'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$work/trace.3"

"$variopath" trace "$work"/trace.? --json >"$work/lines.json" 2>"$output"
check "trace: summarized" equal "$?$(cat "$output")" 0

# The same run as events: what Perfetto wants of them, and what `variopath trace` makes of them.
launch 60 4 --mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_trace "$work/events" \
    --mca coll_variopath_trace_format chrome "$program" >"$output" 2>&1
"$variopath" trace "$work"/events.? --json --svg "$work/events.svg" >"$work/events.json" 2>"$output"
check "events: summarized" equal "$?$(cat "$output")" 0
cat "$work"/events.? >"$work/all"
check "events: valid, and the summaries agree" python3 "$srcdir/test/mca/events.py" "$work"

launch 60 4 --mca coll variopath --mca coll_variopath_host 1 "$builddir/test/mca/tools_first" \
    >"$output" 2>&1
check "MPI_T before MPI_Init: works" equal "$?" 0
check "MPI_T before MPI_Init: carried" contains "$output" "carried 4"
finish
