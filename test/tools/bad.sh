#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every command of the command line on every bad file that it could be given: exit code 2, one
# sentence that names the file, nothing on standard output, no file written, and no wait.
set -u
variopath=$(realpath "${VARIOPATH:-./variopath}")
data=$(cd "${srcdir:-.}/test" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/vp_test_bad.XXXXXX") || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
n_checks=0
n_failures=0
cd "$work" || exit 99
mkdir bad out good

"$variopath" catalog build fig1-6 -o good/c.vpcat >/dev/null || exit 99
"$variopath" demand uniform --ranks 6 --bytes-per-rank 6000 -o good/d.csv 2>/dev/null || exit 99

# What is bad in every format.
: >bad/empty
printf '\0\0\0\0\0\0\0\0' >bad/zeroes
head -c 4096 "$variopath" >bad/program
printf '{"a": [1, 2' >bad/cut.json
printf '[1, 2, 3]\n' >bad/list.json
printf '{}\n' >bad/object.json
printf '{"format": "variopath-topology", "version": 1}\n' >bad/only-head.json
printf '{"format": "variopath-schedule", "version": 1}\n' >bad/schedule-head.json
printf '{"format": "variopath-topology", "format": "x"}\n' >bad/twice.json
printf '{"format": "variopath-topology", "version": 99}\n' >bad/version.json
printf '{"nodes": 1e400}\n' >bad/number.json
printf '%s' "$(printf '[%.0s' $(seq 3000))" >bad/deep.json
printf '{"format": "\377\376"}\n' >bad/encoding.json
printf '<topology version="2.0"><object type="Machine">' >bad/cut.xml
printf '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;">]><topology>&c;</topology>' >bad/entities.xml
printf '<system version="1"><cpu></system>' >bad/crossed.xml
printf '\tGPU0\tGPU1\nGPU0\t X \tQQQ\nGPU1\tQQQ\t X \n' >bad/classes.txt
printf '1,2\n3\n' >bad/ragged.csv
printf '0,x\n1,0\n' >bad/letter.csv
printf '0,-1\n1,0\n' >bad/negative.csv
printf '0,99999999999999999999\n1,0\n' >bad/large.csv
printf '0,1\n1,0\n' >bad/two-ranks.csv
head -c 100 good/c.vpcat >bad/cut.vpcat
cp good/c.vpcat bad/flipped.vpcat
printf '\377' | dd of=bad/flipped.vpcat bs=1 seek=200 conv=notrunc status=none
cp good/c.vpcat bad/longer.vpcat && printf 'x' >>bad/longer.vpcat
printf 'VPCATLG\n\377\377\377\377' >bad/version.vpcat
head -c 600 "$data/import/data/n01-3090x8-2sw-1nic.xml" >bad/half.xml
head -c 400 "$data/import/data/h02-p100x2-pascal.xml" >bad/half-hwloc.xml
mkdir bad/folder

fail() {
    n_failures=$((n_failures + 1))
    echo "FAIL: variopath $command: $*"
    sed 's/^/  stderr: /' err | cut -c1-300 | head -5
}

# refuses FILE ARGUMENT...: the command, in which BAD stands for the file and OUT for one to write.
refuses() {
    local file=$1 arguments code
    shift
    arguments=("${@/#BAD/bad/$file}")
    arguments=("${arguments[@]/#OUT/out/file}")
    command=${arguments[*]}
    n_checks=$((n_checks + 1))
    timeout 20 "$variopath" "${arguments[@]}" >stdout 2>err </dev/null
    code=$?
    if [ "$code" != "$expected" ]; then fail "exit code $code, not $expected"
    elif [ -s stdout ]; then fail "something is on standard output"
    elif [ "$(wc -l <err)" != 1 ]; then fail "not one line of message"
    elif ! grep -qF "bad/$file" err; then fail "the message does not name the file"
    elif ! grep -q '^variopath' err; then fail "the message does not name the program"
    elif [ -n "$(ls -A out)" ]; then fail "a file is left"; rm -f out/*
    fi
}

expected=2
for path in bad/*; do
    file=${path#bad/}
    refuses "$file" topology show BAD
    refuses "$file" topology show BAD --json --svg OUT
    refuses "$file" topology check BAD --json
    refuses "$file" topology import BAD -o OUT
    refuses "$file" catalog build BAD -o OUT
    refuses "$file" catalog show BAD --json
    expected=1 # to that question it is the answer
    refuses "$file" catalog verify BAD
    expected=2
    refuses "$file" catalog verify good/c.vpcat BAD
    refuses "$file" catalog diff good/c.vpcat BAD
    refuses "$file" catalog diff BAD good/c.vpcat
    refuses "$file" plan --topology BAD --demand good/d.csv
    refuses "$file" plan --catalog BAD --demand good/d.csv --json
    refuses "$file" plan --topology fig1-6 --demand BAD
    refuses "$file" bound --topology BAD --demand good/d.csv
    refuses "$file" bound --topology fig1-6 --demand BAD --json
    refuses "$file" simulate --topology BAD --demand good/d.csv --algorithms nccl --svg OUT
    refuses "$file" simulate --topology fig1-6 --demand BAD --algorithms nccl --svg OUT
    refuses "$file" simulate --topology fig1-6 --demand good/d.csv --schedule BAD
    refuses "$file" trace BAD --svg OUT
    refuses "$file" probe --local --topology BAD -o OUT
done
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
