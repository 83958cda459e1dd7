#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The emulated driver keeps its promises, and shows devices as it is told to.
set -u
builddir=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "${srcdir:?}/test/cuda_emu/environment.sh"
program=$builddir/test/cuda_emu/conformance
cat >"$work/three" <<END
gpu 0 pci=0000:17:00.0 mem=1G
gpu 1 pci=0000:65:00.0 mem=1G
gpu 2 pci=0001:CA:00.0 mem=1G uuid=aabbccdd000000000000000000000002
link slow bw=5M
path 0 1 slow
path 1 0 slow
nop2p 1 2
END
export CUDA_EMU_TOPO=$work/three
n_checks=0
n_failures=0

# same NAME GOT EXPECTED
same() {
    n_checks=$((n_checks + 1))
    [ "$2" = "$3" ] && return
    echo "FAILED: $1: got \"$2\", expected \"$3\""
    n_failures=$((n_failures + 1))
}
devices() { timeout 20 "$program" devices | tr '\n' ';'; }

CUDA_EMU_LAG_US=0 timeout 60 "$program" >"$work/output"
same "exit code" "$?" 0
sed 's/Checks:/checks:/' "$work/output"
same "devices" "$(devices)" "0 0000:17:00.0;1 0000:65:00.0;2 0001:CA:00.0;"
same "renumbered" "$(CUDA_VISIBLE_DEVICES=2,0 devices)" "0 0001:CA:00.0;1 0000:17:00.0;"
same "by uuid" "$(CUDA_VISIBLE_DEVICES=GPU-aabbccdd devices)" "0 0001:CA:00.0;"
same "a bad entry ends the list" "$(CUDA_VISIBLE_DEVICES=1,9,0 devices)" "0 0000:65:00.0;"
same "none visible" "$(CUDA_VISIBLE_DEVICES='' devices)" "cuInit 100;"
same "a bad description" "$(CUDA_EMU_TOPO=$srcdir/README.md devices 2>/dev/null)" "cuInit 999;"
unset CUDA_EMU_TOPO CUDA_EMU_GPUS
same "no devices" "$(devices)" "cuInit 100;"
for topology in fig1-6 r5080-bf3 r5090-bf3 l20-cx7 r5080-cx8; do
    describe "$topology" "$topology" --link-rate 200000000
    same "$topology" "$(devices | tr ';' '\n' | wc -l)" "$(grep -c ^gpu "$CUDA_EMU_TOPO")"
done
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
