#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# run.sh [BUILD]: checks on a machine with at least one NVIDIA GPU; 77: there is none.
# Configures and builds in BUILD (default: a new folder) with the arguments in
# CONFIGURE_ARGS unless it holds a build already. Text for docs/gpu-results.md goes
# to stdout. Takes a few minutes; every step is bounded.
set -u
source_directory=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$(mktemp -d)}
n_failures=0

if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q ^GPU; then
    echo "skipped: no NVIDIA GPU here (nvidia-smi lists none)"
    exit 77
fi
for tool in cc make mpirun; do
    command -v $tool >/dev/null || { echo "skipped: no $tool here"; exit 77; }
done

# step NAME SECONDS COMMAND...: its output, then how it ended.
step() {
    local name=$1 limit=$2 code
    shift 2
    printf '\n## %s\n\n' "$name"
    timeout -k 10 "$limit" "$@" 2>&1
    code=$?
    [ "$code" = 0 ] || n_failures=$((n_failures + 1))
    printf '\n%s: exit code %s\n' "$name" "$code"
}

build_all() {
    mkdir -p "$build" && cd "$build" || return
    # shellcheck disable=SC2086
    [ -f Makefile ] || "$source_directory/configure" ${CONFIGURE_ARGS:-} >configure.log || return
    make -j"$(nproc)" all test/cuda_emu/conformance test/cuda_emu/libcuda.la test/gpu/buffers test/gpu/bandwidth >make.log 2>&1 ||
        { tail -n 20 make.log; return 1; }
}

echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c | sed 's/^ *//')"
printf '\n## Build\n\n'
build_all || { echo "the build failed"; exit 1; }
cd "$build" || exit 1
variable() { sed -n "s/^$1 = //p" Makefile; }
ucx=$(variable UCX_LIBDIR)
export LD_LIBRARY_PATH="${ucx:+$ucx:}${LD_LIBRARY_PATH:-}"

# The program names libcuda.so.1; started like this it finds the real one.
step "Conformance" 60 test/cuda_emu/.libs/conformance

component=$build/test/gpu/component
mkdir -p "$component"
ln -sf "$build/mca/.libs/mca_coll_variopath.so" "$component/"
export OMPI_MCA_mca_base_component_path="$component:SYS_DEFAULT:USER_DEFAULT"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_coll_variopath_help_dir="$source_directory/mca"
export OMPI_MCA_coll_variopath_topology="$source_directory/test/mca/four.json:transports=local"

# buffers RANKS SEND RECEIVE MODE
buffers() {
    step "Buffers: $1 ranks, $2 to $3, $4" 60 mpirun -np "$1" --mca coll variopath \
        --mca coll_variopath_host 1 test/gpu/buffers "$2" "$3" "$4"
}
buffers 2 d d carried
buffers 4 d d carried
buffers 4 d h carried
buffers 4 h d carried
buffers 4 dhma vphd carried
buffers 4 dnhd hnda carried
buffers 4 hp ph any
buffers 2 d d repeat

# Lanes of device memory over CUDA IPC; ranks share the devices there are.
export OMPI_MCA_coll_variopath_topology="$source_directory/test/gpu/four.json:transports=emulated"
buffers 2 d d carried
buffers 4 d d carried
buffers 4 d d again
buffers 2 d d repeat
bandwidth() {
    step "Bandwidth: $1 ranks, $2" 90 mpirun -np "$1" --mca coll variopath \
        --mca coll_variopath_topology "$source_directory/test/gpu/four.json:transports=$3" test/gpu/bandwidth
}
bandwidth 2 "CUDA IPC and TCP" emulated
bandwidth 4 "CUDA IPC and TCP" emulated
bandwidth 4 "through host memory" local

printf '\n%s steps failed\n' "$n_failures"
[ "$n_failures" = 0 ]
