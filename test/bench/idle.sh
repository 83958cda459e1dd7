#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What the component costs calls of others: without it, loaded and idle, and with open lanes, by
# turns. Medians over VP_BENCH_ROUNDS rounds of two ranks each.
. "${srcdir:?}/test/mca/common.sh"
rounds=${VP_BENCH_ROUNDS:-9}
one() {
    local name=$1
    shift
    launch 120 2 "$@" >"$work/line" 2>"$work/errors" || { cat "$work/line" "$work/errors"; exit 1; }
    cat "$work/line" >>"$work/$name"
}
for ((i = 0; i < rounds; i++)); do
    one without --mca coll ^variopath "$builddir/test/bench/bench_idle"
    one idle --mca coll_variopath_host 1 "$builddir/test/bench/bench_idle"
    one used --mca coll_variopath_host 1 "$builddir/test/bench/bench_idle" used
done
# count NAME ARGUMENT...: instructions of one of rank 0's operations, on a line each.
count() {
    local name=$1 operation line
    shift
    for operation in message_to_self reduce_alone; do
        launch 300 1 "${@:1:$#-1}" valgrind --tool=callgrind --toggle-collect=$operation \
            --callgrind-out-file=/dev/null "$builddir/test/bench/bench_idle" count "${@: -1}" : \
            -np 1 "$builddir/test/bench/bench_idle" count "${@: -1}" >"$work/line" 2>&1
        line=$(sed -n 's/^==[0-9]*== Collected *: *\([0-9]*\)$/\1/p' "$work/line")
        [ -n "$line" ] || { cat "$work/line"; exit 1; }
        echo "$name $operation $((line / 2000)) instructions"
    done
}
if command -v valgrind >/dev/null; then
    count without --mca coll ^variopath idle
    count idle --mca coll_variopath_host 1 idle
    count used --mca coll_variopath_host 1 used
fi
python3 - "$work" "$rounds" <<'PYTHON'
import statistics, sys
columns = ["ping-pong ns", "allreduce ns"]
rows = {}
for name in ("without", "idle", "used"):
    with open(f"{sys.argv[1]}/{name}", encoding="ascii") as file:
        rows[name] = [statistics.median(values) for values in
                      zip(*([float(word) for word in line.split()] for line in file))]
print(f"medians of {sys.argv[2]} rounds")
for i, column in enumerate(columns):
    without = rows["without"][i]
    print(column, *(f"{name} {rows[name][i]:.0f} ({100 * rows[name][i] / without - 100:+.1f}%)"
                    for name in rows), sep="; ")
PYTHON
