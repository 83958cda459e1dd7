#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Few points of every table and figure: the page is whole, Figure 1 is exact (figure1.py ends
# otherwise), two runs from nothing write the same bytes but for timings, pictures are
# well-formed, and the arithmetic of the tables is right on rows made by hand.
set -u
variopath=${VARIOPATH:-./variopath}
scripts=${srcdir:-.}/test/paper
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
n_checks=0
n_failures=0
python3 -c 'import concurrent.futures, xml.dom.minidom' 2>/dev/null || {
    echo "needs python3"
    exit 77
}

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

make_page() {
    PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$scripts/evaluation.py" --fast \
        --variopath "$variopath" --work "$dir/$1-work" --docs "$dir/$1" >"$dir/out" 2>&1 ||
        { cat "$dir/out"; return 1; }
}

sections() {
    [ "$(grep -c '^## ' "$1/evaluation.md")" = 14 ] && head -3 "$1/evaluation.md" | grep -q simulated
}

well_formed() {
    python3 - "$1"/evaluation/*.svg <<'END'
import sys
import xml.dom.minidom
for path in sys.argv[1:]:
    assert xml.dom.minidom.parse(path).getElementsByTagName("polyline"), path
END
}

arithmetic() {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scripts python3 - <<'END'
import runner
import tables

# 8 ranks: 3 steps of 2 us, 448 bytes over the NIC.
assert runner.exchange_ns(8) == 6000 + 10, runner.exchange_ns(8)
row = runner.Row("point", "nominal", "ideal", 8, 8 << 20)
row.fluid_ns, row.lp_ns, row.pairs = 90000, 95000, 10
row.times = {"auto": 80000, "nccl": 100000, "nearest": 90000}
assert row.best == (90000, "nearest")
assert row.charged_ns == 80000 + 10 * runner.pair_planning_ns(8) + 6010
assert runner.pair_planning_ns(9) == runner.pair_planning_ns(16)
assert runner.pair_planning_ns(1024) == runner.pair_planning_ns(256)
# One exchange more than the best is allowed, a nanosecond more is not.
row.times["auto"] = 90000 - row.planning_ns
assert row.charged_ns == 90000 + 6010 and not row.is_beaten()
row.times["auto"] += 1
assert row.is_beaten()
assert not row.has_room()
row.fluid_ns = 85000
assert row.has_room()
assert abs(tables.geometric_mean([1, 4]) - 2) < 1e-12
assert tables.size_text(1 << 20) == "1 MiB"
assert abs(row.rate(1 << 20) - 1.0) < 1e-12
END
}

check "a page" make_page one
check "its sections, its first lines" sections "$dir/one"
check "its pictures" well_formed "$dir/one"
check "the same page from nothing" make_page two
rm -f "$dir"/*/evaluation/timings.md
check "the same bytes" diff -r "$dir/one" "$dir/two"
check "arithmetic" arithmetic
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
