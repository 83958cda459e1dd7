#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Random calls from two threads per rank (stress.c), VP_STRESS_CALLS of them from seed
# VP_STRESS_SEED, in every mode: carried, mostly passed on, and on emulated devices
# where there are such. Under AddressSanitizer memory that our own code lost counts too.
. "${srcdir:?}/test/mca/common.sh"
stress=$builddir/test/mca/stress
output=$work/output
seed=${VP_STRESS_SEED:-20} calls=${VP_STRESS_CALLS:-300} limit=${VP_STRESS_SECONDS:-250}
ours=(--mca coll variopath)
export OMPI_MCA_coll_variopath_host=1
export VP_COMPONENT=$component/mca_coll_variopath.so
# Open MPI and UCX lose memory when they end; what was allocated in our own frames is looked for.
export ASAN_OPTIONS=detect_leaks=1:exitcode=23:fast_unwind_on_malloc=1:log_path=$work/report
export LSAN_OPTIONS=exitcode=0 UBSAN_OPTIONS=halt_on_error=1:exitcode=23:print_stacktrace=1

# ours_lost FILE...: blocks of leak reports that our sources, not the tests', asked for.
ours_lost() {
    awk -v top="$srcdir/" '/leak of/ {block = $0}
        /^ *#1 / && !/\/test\// &&
            match($0, /(base|catalog|coll_variopath|mca|scheduler)\/[a-z_]*\.[ch]/) {
            file = top substr($0, RSTART, RLENGTH)
            if ((getline line <file) > 0) {
                print block
                print
                n++
            }
            close(file)
        }
        END {exit n == 0}' "$@"
}

# run NAME RANKS ARGUMENT of mpirun...; MODE is the program's.
run() {
    local name=$1 ranks=$2
    shift 2
    launch "$limit" "$ranks" "${ours[@]}" "$@" "$stress" "$seed" "$calls" ${MODE:+"$MODE"} >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    grep -E '^(carried|staged|passed on),|wrong$' "$output"
    check "$name: right" contains "$output" "seed $seed: $calls calls, 0 wrong"
    check "$name: no error was found" lacks_errors
    rm -f "$work"/report.*
    seed=$((seed + 1))
}
lacks_errors() {
    local reports=("$work"/report.*)
    [ -e "${reports[0]}" ] || return 0
    ! grep -hE -A12 'ERROR: AddressSanitizer|runtime error' "${reports[@]}" && ! ours_lost "${reports[@]}"
}
carried() { grep -q "^carried, summed over ranks: [1-9]" "$output"; }

run "carried" 4
check "carried: were carried" carried
OMPI_MCA_coll_variopath_catalog=$work/eight.vpcat run "carried, 6 of 8 ranks, by lists and no cache" 6 \
    --mca coll_variopath_sync deps --mca coll_variopath_cache 0 --mca coll_variopath_chunk_bytes 4096
check "6 ranks: were carried" carried
run "little to pack, small calls passed on" 4 --mca coll_variopath_pack_max 4096 \
    --mca coll_variopath_min_bytes 20000
check "little to pack: some were carried" carried
run "passed on" 4 --mca coll_variopath_host 0

if [ -e "$builddir/test/cuda_emu/.libs/libcuda.so.1" ]; then
    . "$srcdir/test/cuda_emu/environment.sh"
    MODE=device
    run "devices, through host memory" 4
    check "devices, through host memory: were carried" carried
    if [ -f "${VP_UCX_LIBDIR:-/nowhere}/ucx/libuct_cuda.so.0" ]; then
        fresh
        OMPI_MCA_coll_variopath_catalog='' run "devices, over CUDA's transports" 4 --mca \
            coll_variopath_topology "$srcdir/test/gpu/four.json:transports=emulated"
        check "devices, over CUDA's transports: were carried" carried
    fi
fi
finish
