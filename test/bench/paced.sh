#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Device buffers on emulated GPUs whose PCIe links are paced (200 MB/s each way): the time of a
# call beside the simulator's for the same demand, and beside the stock path, where each rank
# copies its buffers through host memory and Open MPI's own collective does the rest. VP_PACED_P2P=0:
# a machine without peer access, on host-staged lanes. Figures mean something on an idle machine only.
. "${srcdir:?}/test/mca/common.sh"
. "$srcdir/test/cuda_emu/environment.sh"
rates=pix=0.2,pxb=0.2,gpu=0.2,host=0.2,alpha_us=${VP_PACED_ALPHA_US:-2000}
if [ "${VP_PACED_P2P:-1}" = 1 ]; then
    topology=synthetic:gpus=4,switches=2,nics=0,$rates
else
    topology=synthetic:gpus=4,switches=2,nics=0,links=uplinks,p2p=off,gdr=off,$rates:transports=local
fi
program=$builddir/examples/alltoallv
bytes=${VP_PACED_BYTES:-6000000}
export OMPI_MCA_coll_variopath_catalog=''
describe paced "$topology" || exit 1

# median NAME ARGUMENT...: milliseconds of the median call.
median() {
    fresh
    launch 300 8 --mca coll variopath "${@:2}" "$program" --device --bytes "$bytes" --repeat 5 \
        --save-demand "$work/demand.csv" >"$work/$1" 2>&1 &&
        grep -q "every byte of every call is right" "$work/$1" ||
        { cat "$work/$1" >&2; exit 1; }
    sed -n 's/^time: median \([0-9.]*\) ms.*/\1/p' "$work/$1"
}
measured=$(median lanes --mca coll_variopath_topology "$topology") || exit 1
stock=$(median stock --mca coll_variopath_catalog "$work/absent") || exit 1
simulated=$("$variopath" simulate --topology "$topology" --demand "$work/demand.csv" \
    --algorithms auto --json) || exit 1
python3 - "$measured" "$stock" "$simulated" <<'END'
import json, sys
measured, stock = float(sys.argv[1]), float(sys.argv[2])
simulated = json.loads(sys.argv[3])
def find(node):
    if isinstance(node, dict):
        if "time_ns" in node:
            return node["time_ns"]
        node = list(node.values())
    for child in node if isinstance(node, list) else []:
        found = find(child)
        if found is not None:
            return found
    return None
expected = find(simulated) / 1e6
print(f"simulated               {expected:9.1f} ms")
print(f"measured                {measured:9.1f} ms   {measured / expected:.3f} of the simulated")
print(f"measured, stock path    {stock:9.1f} ms   {stock / measured:.2f} times as long")
END
