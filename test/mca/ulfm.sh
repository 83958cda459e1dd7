#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rank killed at VP_TEST_KILLS moments, from seed VP_KILL_SEED on, under Open MPI's fault
# tolerance (5.0 and later; it kills whole jobs before). Nobody hangs: every survivor gets an
# error within the bound, says what went wrong, and goes on with the ranks that are left.
. "${srcdir:?}/test/mca/common.sh"
case $("$VP_MPIRUN" --version) in
*" 4."*) echo "skipped: this Open MPI ends the job with the first rank that dies"; exit 77 ;;
esac
ulfm=$builddir/test/mca/ulfm
output=$work/output
first=${VP_KILL_SEED:-1} n=${VP_TEST_KILLS:-20}
bound_ms=10000 # the timeout, twice it for others' lanes, and a busy machine
longest=0

# survivors NAME FILE: three errors in time, three that went on.
survivors() {
    check "$1: every survivor got an error" equal "$(grep -cE '^rank [0-3]: call .* (failed|pending|revoked|other), ' "$2")" 3
    check "$1: every survivor went on" equal "$(grep -cE '^rank [0-3]: went on, 0 wrong' "$2")" 3
    # Who was told before he entered a call has nothing to say, only that the others may go.
    check "$1: what was said names the dead rank" test \
        "$(grep -c 'coll:variopath: ' "$2")" -eq 0 -o "$(grep -cE "([Rr]ank $3 has died|was revoked|rank $3 is not connected)" "$2")" -gt 0
    local ms
    ms=$(sed -n 's/^rank .* \([-0-9]*\) ms after the death.*/\1/p' "$2" | sort -n | tail -n 1)
    check "$1: in time" test "${ms:-999999}" -le "$bound_ms"
    [ "${ms:-0}" -le "$longest" ] || longest=$ms
}

for ((seed = first; seed < first + n; seed++)); do
    launch 90 4 --with-ft ulfm --mca coll variopath --mca coll_variopath_host 1 \
        --mca coll_variopath_timeout_ms 2000 "$ulfm" "$seed" "$work/death" >"$output" 2>&1
    check "kill $seed: nobody hangs" test $? -ne 124
    survivors "kill $seed" "$output" $((seed % 4))
    grep -hE '^rank .* after the death' "$output" | sed "s/^/kill $seed: /"
    grep -hoE 'coll:variopath: .*' "$output"
    rm -f "$work/death"
done
echo "longest time from a death to a survivor's error: $longest ms"
finish
