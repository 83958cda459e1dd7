#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Fuzz targets for a bounded time each (VP_FUZZ_SECONDS, 60 by default), from
# the files of the tests. What crashes stays in VP_FUZZ_ARTIFACTS, if set.
. "${srcdir:?}/test/long/common.sh"
printf 'int LLVMFuzzerTestOneInput(const void *d, unsigned long n) { (void)d; return n > 9; }\n' \
    >"$work/probe.c"
clang -fsanitize=fuzzer "$work/probe.c" -o "$work/probe" 2>/dev/null ||
    { echo "no clang with libFuzzer"; exit 77; }
eval "arguments=($VP_CONFIGURE_ARGS)"
artifacts=${VP_FUZZ_ARTIFACTS:-$work}
seconds=${VP_FUZZ_SECONDS:-60}

# fuzz NAME SEED...: one target on a corpus of its own.
fuzz() {
    local name=$1
    shift
    mkdir -p "$work/corpus/$name"
    cp "$@" "$work/corpus/$name/" || return 1
    timeout $((seconds + 120)) "$work/fuzz/test/fuzz/fuzz_$name" -max_total_time="$seconds" \
        -timeout=20 -rss_limit_mb=2048 -max_len=200000 -verbosity=0 -print_final_stats=1 \
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
    "$work/fuzz/variopath" catalog build "${seed#* }" --mode "${seed% *}" \
        -o "$work/seeds/${seed//[^a-z0-9]/-}.vpc" >"$work/seeds.log" || exit 99
done
printf 'nodes=32,switches=2,gpus=4,nics=1,pix=54,pxb=52.5,links=uplinks,p2p=off' \
    >"$work/seeds/short.txt"

one "catalog for $seconds s" fuzz catalog "$work"/seeds/*.vpc
one "topology for $seconds s" fuzz topology "$top"/catalog/topologies/*.json "$work/seeds/short.txt"
one "facts for $seconds s" fuzz facts "$top"/test/fuzz/facts-*.seed
one "hwloc for $seconds s" fuzz hwloc "$top"/test/import/data/h*.xml
one "nccl for $seconds s" fuzz nccl "$top"/test/import/data/n*.xml
one "nvidia-smi for $seconds s" fuzz nvidia_smi "$top"/test/import/data/t*.txt
finish
