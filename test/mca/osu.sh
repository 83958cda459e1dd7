#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The six OSU benchmarks of the alltoall family with validation, on host and on emulated
# devices: the real ones of VP_OSU_DIR (where osu_alltoallv lies), or else examples/osu_alltoall.
. "${srcdir:?}/test/mca/common.sh"
output=$work/output
said=$work/said # by the component: into lines of the table, if both went into one file

# benchmark NAME: sets `program`.
benchmark() {
    if [ -n "${VP_OSU_DIR:-}" ]; then
        program=("$VP_OSU_DIR/osu_$1")
    else
        program=("$builddir/examples/osu_alltoall" "$1")
    fi
}

# run NAME WHERE ARGUMENT of mpirun...
run() {
    local name=$1 where=$2
    shift 2
    benchmark "$name"
    launch 150 4 --mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_verbose 5 "$@" \
        "${program[@]}" -m 1:65536 -i 10 -x 2 -c -f -d "$where" >"$output" 2>"$said"
    check "osu_$name, $where: exit code" equal "$?" 0
    grep -v 'coll:variopath: ' "$said"
    grep -E '^(#|[0-9]+ )' "$output"
    check "osu_$name, $where: every size passes" equal "$(grep -cE '^[0-9]+ .*Pass' "$output")" 17
    check "osu_$name, $where: no size fails" lacks "$output" Fail
    case $where$name in
    cudai*) # nonblocking calls have device buffers staged
        check "osu_$name, $where: staged" grep -q "closing: .* [1-9][0-9]* staged" "$said" ;;
    *) check "osu_$name, $where: carried" grep -q "closing: [1-9][0-9]* calls carried" "$said" ;;
    esac
}

for name in alltoall alltoallv alltoallw ialltoall ialltoallv ialltoallw; do
    run "$name" none
done
if [ -e "$builddir/test/cuda_emu/.libs/libcuda.so.1" ]; then
    . "$srcdir/test/cuda_emu/environment.sh"
    if [ -f "${VP_UCX_LIBDIR:-/nowhere}/ucx/libuct_cuda.so.0" ]; then
        export OMPI_MCA_coll_variopath_catalog=''
        export OMPI_MCA_coll_variopath_topology=$srcdir/test/gpu/four.json:transports=emulated
    fi
    for name in alltoall alltoallv alltoallw ialltoall ialltoallv ialltoallw; do
        fresh
        run "$name" cuda
    done
fi
finish
