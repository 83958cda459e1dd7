# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by shell tests that run on emulated devices: puts the emulated driver
# first and gives the session a folder of its own. $work and $builddir are set.
emulated=$builddir/test/cuda_emu/.libs
export LD_LIBRARY_PATH="$emulated:${LD_LIBRARY_PATH:-}"
export CUDA_EMU_GPUS=4

# fresh: a new session; device memory of processes that were killed would stay accounted.
fresh() {
    CUDA_EMU_DIR=$(mktemp -d "$work/emu.XXXXXX")
    export CUDA_EMU_DIR
}
fresh

# describe NAME TOPOLOGY OPTION...: the emulator's description of a topology from here on.
describe() {
    "$builddir/test/cuda_emu/describe" "${@:2}" >"$work/$1.devices" || return
    export CUDA_EMU_TOPO=$work/$1.devices
    fresh
}

# UCX's hooks into CUDA may ask for a runtime library of a name of its own: it gets the emulated one.
if [ -n "${VP_UCX_LIBDIR:-}" ] && [ -f "$VP_UCX_LIBDIR/ucx/libucm_cuda.so.0" ]; then
    mkdir -p "$work/runtime"
    ldd "$VP_UCX_LIBDIR/ucx/libucm_cuda.so.0" 2>/dev/null | sed -n 's/^\s*\(libcudart[^ ]*\) => not found.*/\1/p' |
        while read -r name; do ln -s "$emulated/libcudart.so.13" "$work/runtime/$name"; done
    export LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$work/runtime"
fi
