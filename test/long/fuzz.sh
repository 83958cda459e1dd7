#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every fuzz target from the files of the tests. By default a fixed number of inputs from a fixed
# seed, so that two runs of one tree agree; VP_FUZZ_SECONDS fuzzes each target for so long from a
# seed of its own instead. What crashes stays in VP_FUZZ_ARTIFACTS, if set.
. "${srcdir:?}/test/long/common.sh"
printf 'int LLVMFuzzerTestOneInput(const void *d, unsigned long n) { (void)d; return n > 9; }\n' \
    >"$work/probe.c"
clang -fsanitize=fuzzer "$work/probe.c" -o "$work/probe" 2>/dev/null ||
    { echo "no clang with libFuzzer"; exit 77; }
eval "arguments=($VP_CONFIGURE_ARGS)"
artifacts=${VP_FUZZ_ARTIFACTS:-$work}
seconds=${VP_FUZZ_SECONDS:-0}
# Addresses are among what mutations are made of.
fixed=
setarch -R true 2>/dev/null && fixed='setarch -R'

# fuzz NAME RUNS SEED...: one target on a corpus of its own, for RUNS inputs.
fuzz() {
    local name=$1 limits=("-seed=1" "-runs=$2" "-reload=0") most=900
    shift 2
    if [ "$seconds" -gt 0 ]; then
        limits=("-max_total_time=$seconds") most=$((seconds + 120))
    fi
    mkdir -p "$work/corpus/$name"
    cp "$@" "$work/corpus/$name/" || return 1
    timeout "$most" $fixed "$work/fuzz/test/fuzz/fuzz_$name" "${limits[@]}" \
        -timeout=60 -rss_limit_mb=2048 -max_len=200000 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix="$artifacts/$name-" "$work/corpus/$name" >"$work/$name.log" 2>&1
    local code=$?
    grep -E 'number_of_executed_units|ERROR|SUMMARY' "$work/$name.log"
    [ "$code" = 0 ] || tail -n 40 "$work/$name.log"
    return "$code"
}

one "configures" sh -c "mkdir '$work/fuzz' && cd '$work/fuzz' && \
    '$top/configure' -q ${arguments[*]} >configure.log 2>&1"
one "builds" make -s -C "$work/fuzz" fuzz
one "builds seeds" make -s -C "$work/fuzz" variopath
mkdir "$work/seeds"
for seed in "exhaustive fig1-6" "generated fig1-6" "generated r5080-bf3:nodes=3" \
    "generated synthetic:nodes=2,links=uplinks,p2p=off,gdr=off,memory=200"; do
    file=$work/seeds/${seed//[^a-z0-9]/-}.vpc
    "$work/fuzz/variopath" catalog build "${seed#* }" --mode "${seed% *}" -o "$file" \
        >"$work/seeds.log" || exit 99
    # The time that building took; the target makes the checksum right again.
    dd if=/dev/zero of="$file" bs=1 seek=36 count=8 conv=notrunc status=none
done
printf 'nodes=32,switches=2,gpus=4,nics=1,pix=54,pxb=52.5,links=uplinks,p2p=off' \
    >"$work/seeds/short.txt"

# So many inputs take half a minute each on a quiet core.
one "catalog" fuzz catalog 500000 "$work"/seeds/*.vpc
one "topology" fuzz topology 300000 "$top"/catalog/topologies/*.json "$work/seeds/short.txt"
one "facts" fuzz facts 30000 "$top"/test/fuzz/facts-*.seed
one "hwloc" fuzz hwloc 12000 "$top"/test/import/data/h*.xml
one "nccl" fuzz nccl 60000 "$top"/test/import/data/n*.xml
one "nvidia-smi" fuzz nvidia_smi 10000 "$top"/test/import/data/t*.txt
head -c 3000 /dev/zero >"$work/seeds/alike" # peers that say what this rank says
one "peers" fuzz peers 60000 "$work/seeds/alike"
one "demand" fuzz demand 300000 "$top"/test/scheduler/data/*.csv
one "schedule" fuzz schedule 100000 "$top/test/fuzz/schedule.seed"
one "trace" fuzz trace 300000 "$top"/test/fuzz/trace-*.seed
finish
