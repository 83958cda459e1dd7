#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# variopath probe --local on emulated devices finds what the emulator was told:
# rates of pairs, widths of links, and what they lose to contention.
set -u
: "${srcdir:?run this through make check}"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
builddir=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$srcdir/test/cuda_emu/environment.sh"
n_checks=0
n_failures=0

check() {
    local name=$1
    shift
    n_checks=$((n_checks + 1))
    if "$@"; then
        echo "ok: $name"
    else
        echo "FAILED: $name"
        n_failures=$((n_failures + 1))
    fi
}

contains() { grep -qF -- "$2" "$1" || { echo "no \"$2\" in:"; head -n 60 "$1"; return 1; }; }
ends_with() { local code=$1; shift; "$@" >"$work/out" 2>&1; [ $? = "$code" ] || { cat "$work/out"; return 1; }; }
probe() { timeout -k 5 100 ./variopath probe --local --seconds 0.005 --repeat 5 "$@"; }

topology=$srcdir/test/probe/host.json

# found FILE: rates within 10%, shares within 7 of 100 of those that were told.
found() {
    python3 - "$1" <<'EOF'
import json, sys
it = json.load(open(sys.argv[1]))
bad = []
for name, real in it["rates"]["nominal"].items():
    rate = it["rates"]["probed"][name]["bytes_per_s"]
    if abs(rate / real["bytes_per_s"] - 1) > 0.10:
        bad.append(f"{name}: {rate} of {real['bytes_per_s']}")
for table, real in it["contention"]["told"].items():
    shares = it["contention"]["probed"][table]["share_ppm"]
    told = real["share_ppm"] + real["share_ppm"][-1:] * (len(shares) - len(real["share_ppm"]))
    if len(shares) != 4 or any(abs(a - b) > 70_000 for a, b in zip(shares, told)):
        bad.append(f"{table}: {shares} of {told}")
print(*bad, sep="\n", end="\n" if bad else "")
sys.exit(bool(bad))
EOF
}

describe told "$topology" --links told
probe --topology "$topology" -o "$work/told.json" >"$work/told" 2>&1
check "with contention it ends well" [ $? = 0 ]
check "rates and contention are those of the emulator" found "$work/told.json"
check "every pair is in the report" [ "$(grep -cE '^ {6}[0-7] .* -( |$)' "$work/told")" = 24 ]
check "the topology that it writes is valid" ends_with 0 \
    ./variopath topology check "$work/told.json:rates=probed"

# What the file says is not what the devices do: links of 60 MB/s.
describe slow "$topology" --link-rate 60000000
probe --topology "$topology" -o "$work/slow.json" >"$work/slow" 2>&1
check "links that are slower than the file" python3 -c '
import json, sys
rate = json.load(open(sys.argv[1]))["rates"]["probed"]["gpu"]["bytes_per_s"]
print(rate)
sys.exit(abs(rate / 60e6 - 1) > 0.1)' "$work/slow.json"

# A machine whose driver refuses peer-to-peer: only through the host.
describe alone "$topology" --no-p2p
probe --topology "$topology" >"$work/alone" 2>&1
check "without peer-to-peer it ends well" [ $? = 0 ]
check "it says so" contains "$work/alone" "56 of 56 ordered pairs cannot reach each other's memory"
check "staged copies are measured" [ "$(grep -A9 '^Through host' "$work/alone" | grep -c '0\.[01]')" = 8 ]
check "no link between GPUs is" [ "$(grep -c '^into GPU' "$work/alone")" = 0 ]

probe --topology "$topology" --json >"$work/alone.json" 2>/dev/null
check "the same as JSON" python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
sys.exit(len(report["gpus"]) != 8 or len(report["unreachable"]) != 56 or report["wrong_bytes"] != []
         or any(any(row) for row in report["write_bytes_per_s"])
         or sum(rate > 0 for row in report["staged_bytes_per_s"] for rate in row) != 56)' "$work/alone.json"

check "too few GPUs are refused" ends_with 2 probe --topology r5090-bf3
check "a set that is there is refused" ends_with 2 probe --topology "$topology" --set nominal \
    -o "$work/none.json"
check "nothing is left of it" [ ! -e "$work/none.json" ]
check "usage" ends_with 2 ./variopath probe
CUDA_VISIBLE_DEVICES='' check "no GPU" ends_with 3 probe --topology "$topology"

echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
