#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A catalog that cannot be used, on all ranks or on one: one clear message, and
# the job runs on the stock collective on every rank alike.
. "${srcdir:?}/test/mca/common.sh"
program=$builddir/examples/alltoallv
output=$work/output

# run NAME TEXT COMMAND...: the job must end well, verified, nothing carried, and
# say TEXT in exactly one place.
run() {
    local name=$1 text=$2
    shift 2
    launch 60 4 --mca coll variopath --mca coll_variopath_host 1 "$@" >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    check "$name: verified" contains "$output" "verified: every byte of every call is right"
    check "$name: nothing carried" lacks "$output" "coll_variopath_carried"
    check "$name: passed on by all ranks" contains "$output" "coll_variopath_passed_on = 24"
    check "$name: the message" contains "$output" "$text"
    check "$name: the message appears once" equal "$(grep -cF -- "$text" "$output")" 1
}
plain=("$program" --counters --bytes 4096)

# flip FILE OFFSET: inverts one byte.
flip() {
    python3 - "$1" "$2" <<'EOF'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    byte = f.read(1)
    f.seek(-1, 1)
    f.write(bytes([byte[0] ^ 0xff]))
EOF
}

good=$work/four.vpcat
size=$(stat -c %s "$good")

launch 60 4 --mca coll variopath --mca coll_variopath_host 1 "${plain[@]}" >"$output" 2>&1
check "good: verified" contains "$output" "verified: every byte of every call is right"
check "good: carried" contains "$output" "coll_variopath_carried = 24"

cp "$good" "$work/corrupted"; flip "$work/corrupted" $((size / 2))
run "corrupted" "$work/corrupted" --mca coll_variopath_catalog "$work/corrupted" "${plain[@]}"

head -c $((size / 2)) "$good" >"$work/truncated"
run "truncated" "$work/truncated" --mca coll_variopath_catalog "$work/truncated" "${plain[@]}"

cp "$good" "$work/version"; flip "$work/version" 8
run "wrong version" "$work/version" --mca coll_variopath_catalog "$work/version" "${plain[@]}"

echo "this is no catalog" >"$work/foreign"
run "foreign" "$work/foreign" --mca coll_variopath_catalog "$work/foreign" "${plain[@]}"

: >"$work/empty"
run "empty" "$work/empty" --mca coll_variopath_catalog "$work/empty" "${plain[@]}"

run "absent" "$work/absent" --mca coll_variopath_catalog "$work/absent" "${plain[@]}"

# One rank alone has the bad file: the others must not wait for it for ever.
cat >"$work/one_bad" <<EOF
#!/bin/sh
[ "\$OMPI_COMM_WORLD_RANK" != 2 ] || export OMPI_MCA_coll_variopath_catalog='$work/corrupted'
exec "\$@"
EOF
chmod +x "$work/one_bad"
run "corrupted on rank 2 only" "$work/corrupted" "$work/one_bad" "${plain[@]}"

# A catalog of another machine is a good file with other contents.
sed "s,corrupted,eight.vpcat," "$work/one_bad" >"$work/one_other"
chmod +x "$work/one_other"
launch 60 4 --mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_verbose 1 \
    "$work/one_other" "${plain[@]}" >"$output" 2>&1
check "another machine on rank 2: exit code" equal "$?" 0
check "another machine on rank 2: verified" contains "$output" "verified: every byte"
check "another machine on rank 2: nothing carried" lacks "$output" "coll_variopath_carried"
check "another machine on rank 2: the message" equal \
    "$(grep -c 'Reason:       ranks 0 and 2 use different catalogs' "$output")" 1

# More ranks than the catalog has: passed on, with a reason. Fewer: carried on a part of it.
launch 60 5 --mca coll variopath --mca coll_variopath_host 1 "${plain[@]}" >"$output" 2>&1
check "five ranks, catalog of four: exit code" equal "$?" 0
check "five ranks, catalog of four: verified" contains "$output" "verified: every byte"
check "five ranks, catalog of four: reason" contains "$output" \
    "Reason:       the catalog of rank 0 describes 4 ranks, the communicator has 5"
check "five ranks, catalog of four: said once" equal "$(grep -c 'Reason: ' "$output")" 1
launch 60 3 --mca coll variopath --mca coll_variopath_host 1 "${plain[@]}" >"$output" 2>&1
check "three ranks, catalog of four: exit code" equal "$?" 0
check "three ranks, catalog of four: verified" contains "$output" "verified: every byte"
check "three ranks, catalog of four: carried" contains "$output" "coll_variopath_carried = 18"

# A parameter that differs on one rank decides for all, not for that rank alone.
for setting in OMPI_MCA_coll_variopath_catalog= OMPI_MCA_coll_variopath_enable=0 \
    OMPI_MCA_coll_variopath_np=100 OMPI_MCA_coll_variopath_cts=alltoall \
    OMPI_MCA_coll_variopath_priority=5 OMPI_MCA_coll_variopath_sync=nonsense; do
    printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 2 ] || export %s\nexec "$@"\n' "$setting" \
        >"$work/one_differs"
    chmod +x "$work/one_differs"
    launch 60 4 --mca coll_variopath_host 1 "$work/one_differs" "${plain[@]}" >"$output" 2>&1
    check "$setting on rank 2: exit code" equal "$?" 0
    check "$setting on rank 2: verified" contains "$output" "verified: every byte"
    check "$setting on rank 2: nothing carried" lacks "$output" "coll_variopath_carried"
    check "$setting on rank 2: said once" equal \
        "$(grep -c 'First rank that differs from rank 0: 2' "$output")" 1
done
finish
