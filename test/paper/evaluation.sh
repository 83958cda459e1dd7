#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Few points of every table and figure: the page is whole, Figure 1 is exact (figure1.py ends
# otherwise), two runs from nothing write the same but for what is timed, a third runs nothing
# again, pictures are well-formed, no verdict of some points is worse than the page's, and the
# arithmetic of the tables is right on rows made by hand.
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
    [ "$(grep -c '^## ' "$1/evaluation.md")" = 16 ] &&
        head -3 "$1/evaluation.md" | grep -q simulated
}

well_formed() {
    python3 - "$1"/evaluation/*.svg <<'END'
import sys
import xml.dom.minidom
for path in sys.argv[1:]:
    assert xml.dom.minidom.parse(path).getElementsByTagName("polyline"), path
END
}

python() {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scripts python3 "$@"
}

same() {
    python "$scripts/same.py" "$1" "$2"
}

# Every part but that of catalogs, which are built to be timed, came from kept answers.
kept() {
    ! grep -v '^catalogs:' "$1" | grep -v ' 0 questions run' | grep .
}

# One digit of an untimed time, then one line more.
differs() {
    cp -r "$dir/one" "$dir/three"
    sed -i '2s/,\([0-9]*\)$/,1\1/' "$dir/three/evaluation/skew.csv"
    ! same "$dir/one" "$dir/three" || return 1
    cp "$dir/one/evaluation/skew.csv" "$dir/three/evaluation/"
    same "$dir/one" "$dir/three" || return 1
    echo "one line more" >>"$dir/three/evaluation.md"
    ! same "$dir/one" "$dir/three"
}

regression() {
    PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$scripts/regression.py" --variopath "$variopath" --work "$dir/regression"
}

# What regression.py calls a fault, on a row made by hand.
faults() {
    python - <<'END'
import regression
import rows

def row(ours, nccl=100000, planning=1000):
    it = rows.Row("point", "nominal", "ideal", 8, 8 << 20)
    it.fluid_ns = it.lp_ns = 80000
    it.times = dict.fromkeys(rows.BASELINES, 200000) | {"nccl": nccl, rows.OURS: ours}
    it.planning_model_ns = planning
    return it

def kinds(new, old):
    return [text.split(",")[0] for text in regression.faults(new, old)]

assert kinds(row(90000), row(90000)) == []
assert kinds(row(85000), row(90000)) == []
assert kinds(row(90000), row(107000)) == []
assert kinds(row(90000, 100001), row(90000)) == ["nccl takes 100001 ns"]
# With planning ours is no longer strictly faster, then neither is more, then there is a verdict.
lost = "ours (modelled_ns) is no longer strictly faster than nccl"
assert kinds(row(93500), row(92000)) == [lost]
assert len(kinds(row(99000), row(92000))) == 2
assert kinds(row(99500), row(99000)) == ["ours is slower (planning)"]
assert kinds(row(107000), row(99500))[0] == "ours is slower (plan)"
END
}

arithmetic() {
    python - <<'END'
import rows
import tables

# 8 ranks: 3 steps of 2 us, 448 bytes over the NIC.
assert rows.exchange_ns(8) == 6000 + 10, rows.exchange_ns(8)
row = rows.Row("point", "nominal", "ideal", 8, 8 << 20)
row.fluid_ns, row.lp_ns, row.planning_model_ns, row.planning_ns = 90000, 95000, 4000, 7000
row.times = {"auto": 80000, "nccl": 100000, "nearest": 90000}
assert row.best == (90000, "nearest")
assert row.exchanged_ns == 86010 and row.modelled_ns == 90010 and row.charged_ns == 93010
# One exchange more than the best is allowed, a nanosecond more is not.
row.planning_ns = 10000
assert row.charged_ns == 90000 + 6010 and not row.is_slower() and row.cause() is None
row.planning_ns += 1
assert row.is_slower() and row.cause() == "clock" and row.cause(timed=False) is None
row.planning_model_ns = 10001
assert row.cause() == row.cause(timed=False) == "planning"
row.times["auto"] = 90001
assert row.cause() == "exchange" and not row.is_slower("transfer_ns")
row.times["auto"] = 96011
assert row.cause() == "plan"
row.fluid_ns = 90001
assert row.cause() == "ways"
assert [rows.severity(it) for it in (None, *rows.CAUSES)] == [0, 1, 2, 3, 4, 5]
assert not row.has_room()
row.fluid_ns = 85000
assert row.has_room()
# 2% of the best where that is more than an exchange.
row.times = {"auto": 1020000, "nccl": 1000000}
assert not row.is_slower("transfer_ns")
row.times["auto"] += 1
assert row.is_slower("transfer_ns")
assert abs(tables.geometric_mean([1, 4]) - 2) < 1e-12
assert tables.median([3, 1, 2]) == 2 and tables.median([4, 1, 2, 3]) == 2.5
assert tables.size_text(1 << 20) == "1 MiB"
assert abs(row.rate(1 << 20) - 1.0) < 1e-12
END
}

testbed() {
    python - <<'END'
import validation

lines = """## Loaded
| pattern | algorithm | median ms | fluid ms |
|---|---|---|---|
| a | VarioPath auto | 120 (110 - 130) | 100 |
|  | tuned linear | - | 100 |

### With nothing else on the machine (measured)
text
| algorithm | fluid ms | median ms |
|---|---|---|
| VarioPath barrier | 50 | 51 |

| algorithm | median ms |
|---|---|
| VarioPath free | 7 |
""".split("\n")
found = validation.read_rows(lines)
assert found == [("VarioPath auto", 120, 100, False), ("VarioPath barrier", 51, 50, True)], found
assert abs(validation.error_of(found) - 11) < 1e-9
text = validation.verdict(found[1:], found)
assert "quiet" in text and "2.0%" in text, text
assert "not under 10%" in validation.verdict([], found)
END
}

check "a page" make_page one
check "its sections, its first lines" sections "$dir/one"
check "its pictures" well_formed "$dir/one"
check "the same page from nothing" make_page two
check "the same but for what is timed" same "$dir/one" "$dir/two"
check "a page from what was kept" make_page one
check "nothing was run again" kept "$dir/out"
check "a difference is seen" differs
check "no verdict is worse than the page's" regression
check "a worse verdict is seen" faults
check "arithmetic" arithmetic
check "tables of the testbed" testbed
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
