#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranks that use other GPUs than the launcher's order says are placed where
# their GPUs are, whatever ordinals they see. Emulated devices.
. "${srcdir:?}/test/mca/common.sh"
. "$srcdir/test/cuda_emu/environment.sh"
[ -f "${VP_UCX_LIBDIR:-/nowhere}/ucx/libuct_cuda.so.0" ] ||
    { echo "skipped: this UCX has no CUDA transports"; exit 77; }
buffers=$builddir/test/gpu/buffers
output=$work/output

# The topology of carried.sh, with the addresses that the emulator gives its devices.
python3 - "$srcdir/test/gpu/four.json" "$work/four.json" <<'END'
import json, sys
topology = json.load(open(sys.argv[1]))
address = 16
for switch in topology["switches"]:
    switch["gpus"] = [{"pci": f"0000:{address + i:02x}:00.0"} for i in range(switch["gpus"])]
    address += len(switch["gpus"])
json.dump(topology, open(sys.argv[2], "w"))
END
topology=$work/four.json:transports=emulated
export OMPI_MCA_coll_variopath_catalog='' OMPI_MCA_coll_variopath_topology=$topology
describe four "$topology" --unlimited

# run NAME DEVICE...: rank k sees only the k-th device; its lanes go into trace.k.
run() {
    local name=$1
    shift
    printf '#!/bin/sh\nset -- "$@"\ncase $OMPI_COMM_WORLD_RANK in\n' >"$work/on"
    for rank in 0 1 2 3; do
        printf '%d) export CUDA_VISIBLE_DEVICES=%s ;;\n' $rank "$1" >>"$work/on"
        shift
    done
    printf 'esac\nexec "$@"\n' >>"$work/on"
    chmod +x "$work/on"
    rm -f "$work"/trace.*
    fresh
    launch 120 4 --mca coll variopath --mca coll_variopath_trace "$work/trace" "$work/on" \
        "$buffers" d d carried >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    check "$name: bytes" contains "$output" "100%: Checks: 6, Failures: 0"
}

# inside RANK RANK: what share of the bytes between two ranks, in percent, took paths of $kind?
kind=PIX
inside() {
    python3 - "$work" "$1" "$2" "$kind" <<'END'
import json, sys
pair = {int(sys.argv[2]), int(sys.argv[3])}
total = inside = 0
for rank in range(4):
    for line in open(f"{sys.argv[1]}/trace.{rank}"):
        for lane in json.loads(line)["lanes"]:
            if {lane["source"], lane["destination"]} == pair:
                total += lane["bytes"]
                inside += lane["bytes"] if lane["kind"] == sys.argv[4] else 0
print(100 * inside // max(total, 1))
END
}

run "launch order" 0 1 2 3
check "launch order: 0 and 1 share a switch" equal "$(inside 0 1)" 100
check "launch order: 0 and 2 do not" equal "$(inside 0 2)" 0
run "other devices" 0 2 1 3
check "other devices: 0 and 2 share a switch" equal "$(inside 0 2)" 100
check "other devices: 0 and 1 do not" equal "$(inside 0 1)" 0
check "other devices: 1 and 3 do" equal "$(inside 1 3)" 100
run "one rank elsewhere twice" 0 0 2 3
check "a GPU of one rank that two use: as launched" equal "$(inside 0 1)" 100

# The same without a topology: hwloc's file of a machine with the emulator's addresses, pairs
# {0,1} and {2,3} on a socket each; processes know their devices by UUID, so that the launcher's
# order says nothing.
python3 - "$srcdir/test/import/data/h03-mi60x4-corona.xml" "$work/node.xml" <<'END'
import itertools, re, sys
text = re.sub(r'pci_busid="0000:1([0-3]):00.0"', r'pci_busid="0001:1\1:00.0"', open(sys.argv[1]).read())
bus = itertools.count(16)
text = re.sub(r'pci_busid="[^"]*"( pci_type="0300 \[1002:66a1\])',
              lambda found: f'pci_busid="0000:{next(bus):02x}:00.0"{found[1]}', text)
open(sys.argv[2], "w").write(text)
END
sed -i 's/^gpu \([0-9]\) /&uuid=\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1 /' "$work/four.devices"
export HWLOC_XMLFILE=$work/node.xml HWLOC_THISSYSTEM=1 XDG_CACHE_HOME=$work
export OMPI_MCA_coll_variopath_topology=auto:transports=emulated OMPI_MCA_hwloc_base_binding_policy=none
kind=NODE
run "discovered, by UUID" GPU-00 GPU-22 GPU-11 GPU-33
check "discovered: 0 and 2 share a socket" equal "$(inside 0 2)" 100
check "discovered: 0 and 1 do not" equal "$(inside 0 1)" 0
check "discovered: 1 and 3 do" equal "$(inside 1 3)" 100
finish
