#!/bin/sh
# The commands `variopath topology` and `variopath catalog`: output, exit codes, files.
# VARIOPATH names the binary; by default it is the one of the build directory.
#
# SPDX-License-Identifier: BSD-3-Clause
set -u

variopath=${VARIOPATH:-./variopath}
work=$(mktemp -d "${TMPDIR:-/tmp}/vp_test_tools.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failed=0

fail() {
    echo "FAIL: $*"
    sed 's/^/  stdout: /' "$work/out" | head -20
    sed 's/^/  stderr: /' "$work/err" | head -20
    n_failed=$((n_failed + 1))
}

# run CODE ARGUMENT...: runs the binary and compares its exit code.
run() {
    expected=$1
    shift
    command="variopath $*"
    "$variopath" "$@" >"$work/out" 2>"$work/err"
    code=$?
    n_checks=$((n_checks + 1))
    [ "$code" -eq "$expected" ] || fail "$command: exit code $code, expected $expected"
}

# has FILE TEXT: is the text in the output of the last run?
has() {
    n_checks=$((n_checks + 1))
    grep -qF -e "$2" "$work/$1" || fail "$command: \"$2\" is not in its $1"
}

silent() {
    [ ! -s "$work/$1" ] || fail "$command: something is in its $1"
}

# refused CODE TEXT ARGUMENT...: no data, one message that holds the text.
refused() {
    expected_text=$2
    expected_code=$1
    shift 2
    run "$expected_code" "$@"
    silent out
    has err "$expected_text"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$command: not one line of message"
}

run 0 topology --help
has out "Usage: variopath topology show TOPOLOGY"
has out "r5090-bf3"
has out "synthetic:KEY=VALUE"
run 0 catalog --help
has out "Usage: variopath catalog build TOPOLOGY -o FILE"

run 0 topology show fig1-6
silent err
has out "1 node, 6 ranks in 2 groups"
has out "node0/sw0>sw1"
run 0 topology show r5080-bf3:nodes=2 --json
silent err
for key in name nodes ranks groups nics resources instances node group id kind bytes_per_s origin \
    from_group to_group alpha_ns contention classes; do
    has out "\"$key\":"
done
for name in fig1-6 r5080-bf3 r5090-bf3 l20-cx7 r5080-cx8; do
    run 0 topology show "$name:rates=measured:transports=local" --json
    has out "\"name\": \"$name\""
    has out '"transports": "local"'
done

refused 2 "neither a shipped topology nor a file" topology show no-such
refused 2 "nodes=0" topology show fig1-6:nodes=0
refused 2 "see \`variopath topology --help\`" topology
refused 2 "is --json meant?" topology show fig1-6 --jsn
refused 2 "unknown action \"list\"" topology list
refused 2 "takes one TOPOLOGY" topology show
refused 2 "needs a value" topology show fig1-6 --svg
refused 2 "--svg does not go with \"check\"" topology check fig1-6 --svg "$work/x.svg"
refused 3 "$work/absent/x.svg" topology show fig1-6 --svg "$work/absent/x.svg"
refused 2 "takes one TOPOLOGY" topology show fig1-6 fig1-6
refused 2 "unknown option \"--jsn\"" topology show fig1-6 --jsn
refused 3 "$work/absent.json" topology show "$work/absent.json"
printf '{"format": "variopath-topology",\n "version" 1}' >"$work/syntax.json"
refused 2 "$work/syntax.json: line 2" topology show "$work/syntax.json"
printf '{"format": "variopath-topology", "nodez": 1}' >"$work/key.json"
refused 2 "$work/key.json: \$: unknown key \"nodez\"" topology show "$work/key.json"

run 0 topology show synthetic:nodes=32,switches=2,gpus=4,nics=1,pix=54,pxb=52,nic=47
has out "32 nodes, 256 ranks in 64 groups"
has out "PIX   node0/sw0 -> node0/sw0  54.0 GB/s"
refused 2 "pix=fast: give GB/s" topology show synthetic:pix=fast

# Checks and pictures.
run 0 topology check r5080-bf3:nodes=2
has out "every invariant holds, 0 warnings"
run 1 topology check r5080-cx8
silent err
has out "warning: the rate of node0/socket0>socket1 is an assumption"
run 1 topology check r5080-cx8 --json
has out '"warnings": ['
refused 2 "$work/key.json: \$: unknown key" topology check "$work/key.json"
refused 3 "$work/absent.json" topology check "$work/absent.json"
run 0 topology show r5090-bf3:nodes=4 --svg "$work/tree.svg"
silent out
silent err
cp "$work/tree.svg" "$work/out"
has out "</svg>"
run 0 topology show r5090-bf3:nodes=4 --svg -
cmp -s "$work/out" "$work/tree.svg" || fail "$command: not what went to the file"

run 0 catalog build r5080-bf3:nodes=2 -o "$work/two.vpc" --json
silent err
for key in version fingerprint mode ranks groups instances resources shapes families file_bytes \
    build_ns; do
    has out "\"$key\":"
done
has out '"mode": "exhaustive"'
has out '"shapes": 89'
has out '"families": 152'
has out "\"file_bytes\": $(wc -c <"$work/two.vpc" | tr -d ' ')"
cp "$work/out" "$work/built"
run 0 catalog show "$work/two.vpc" --json
cmp -s "$work/out" "$work/built" || fail "$command: not what catalog build printed"

run 0 catalog build fig1-6 -o "$work/one.vpc" --mode auto
has out "3 shapes, 6 families"
run 0 catalog show "$work/one.vpc" --shapes
has out "4  [[2,1],[1,2]]"
run 0 catalog show "$work/one.vpc" --shapes --json
has out '"shape_list":[{"matrix":[[1,2],[2,1]],"families":1},{"matrix":[[2,1],[1,2]],"families":4},'
run 0 catalog build fig1-6 --mode exhaustive --output=-
has err "3 shapes, 6 families"
[ "$(wc -c <"$work/out")" -eq "$(wc -c <"$work/one.vpc")" ] || fail "$command: another length"

# Nothing is written when nothing was built, and what was there stays.
cp "$work/one.vpc" "$work/kept.vpc"
exhaustive="catalog build --mode exhaustive"
refused 2 "budget of families" $exhaustive r5080-cx8 -o "$work/kept.vpc"
refused 2 "budget of families" $exhaustive r5090-bf3:nodes=2 -o "$work/none.vpc"
refused 2 "budget of steps" $exhaustive r5080-bf3:nodes=2 --max-steps 100 -o "$work/none.vpc"
refused 2 "budget of families" $exhaustive r5080-bf3 --max-families 5 -o "$work/none.vpc"
refused 3 "$work/absent/x.vpc" catalog build fig1-6 -o "$work/absent/x.vpc"
[ ! -e "$work/none.vpc" ] || fail "a catalog that was not built is there"
cmp -s "$work/one.vpc" "$work/kept.vpc" || fail "a catalog that was there has changed"
[ -z "$(find "$work" -name '*.vpc.*')" ] || fail "a temporary file was left behind"
run 0 catalog build r5080-bf3 --max-families 6 -o "$work/none.vpc"

refused 2 "where to write" catalog build fig1-6
refused 2 "--mode takes auto, exhaustive or generated, not \"lazy\"" catalog build fig1-6 -o "$work/x" --mode lazy
refused 2 "--max-steps takes 1 to 18446744073709551615, not \"0\"" catalog build fig1-6 -o "$work/x" --max-steps 0
refused 2 "--max-steps takes 1 to 18446744073709551615, not \"-1\"" catalog build fig1-6 -o "$work/x" --max-steps=-1
refused 2 "--max-families takes 1 to 4294967295, not \"9x\"" catalog build fig1-6 -o "$work/x" --max-families 9x
refused 2 "--max-families takes 1 to 4294967295, not \"4294967296\"" catalog build fig1-6 -o "$work/x" --max-families 4294967296
refused 2 "needs a value" catalog build fig1-6 -o
refused 2 "unknown option" catalog show "$work/one.vpc" --shape-list
refused 2 "there are build, show, verify and diff" catalog
refused 2 "unknown action" catalog make fig1-6
refused 2 "takes one FILE" catalog show
refused 2 "takes one FILE and perhaps a TOPOLOGY" catalog verify
refused 2 "takes two FILEs" catalog diff "$work/one.vpc"
refused 2 "neither a shipped" catalog verify "$work/one.vpc" no-such

# Generated catalogs: what the budgets do not allow, at any scale.
run 0 catalog build r5080-cx8 -o "$work/auto.vpc" --json
has out '"mode": "generated"'
has out '"shapes": 0'
run 0 catalog build fig1-6 -o "$work/generated.vpc" --mode generated
has out "channels are made when they are needed"
for machine in r5080-bf3:nodes=128 r5090-bf3:nodes=64 l20-cx7:nodes=128 r5080-cx8:nodes=128; do
    run 0 catalog build "$machine" -o "$work/large.vpc"
    silent err
    has out "1024 ranks"
    [ "$(wc -c <"$work/large.vpc")" -lt 16384 ] || fail "$command: $(wc -c <"$work/large.vpc") bytes"
    cp "$work/large.vpc" "$work/first.vpc"
    run 0 catalog build "$machine" -o "$work/large.vpc" --mode generated
    # All but the build time, 8 bytes from offset 36, and the checksum over it.
    tail -c +45 "$work/large.vpc" >"$work/a"
    tail -c +45 "$work/first.vpc" >"$work/b"
    cmp -s "$work/a" "$work/b" || fail "$command: the same topology has other bytes"
    run 0 catalog verify "$work/large.vpc" "$machine"
    has out "sound and made from $machine; generated"
done

# Standard input, help by a letter, options that stand there twice.
run 0 catalog show - <"$work/one.vpc"
has out "3 shapes, 6 families"
run 0 topology show -- -:transports=local <"${srcdir:-.}/test/mca/four.json"
for verb in "catalog" "catalog build" "topology" "topology import"; do
    run 0 $verb -h
    has out "Usage: variopath ${verb%% *}"
done
run 0 -h
has out "Usage: variopath"
refused 2 "\"-o\" stands there twice" catalog build fig1-6 -o "$work/a.vpc" -o "$work/b.vpc"
refused 2 "\"--json\" stands there twice" catalog show "$work/one.vpc" --json --json
refused 2 "\"--svg=$work/b\" stands there twice" topology show fig1-6 --svg "$work/a" --svg="$work/b"
[ ! -e "$work/a.vpc" ] || fail "a repeated -o wrote a file"

# Rates far from the usual ones.
run 0 topology show "synthetic:pix=0.005,pxb=0.000002,nic=0.25"
has out "5.0 MB/s"
has out "2.0 kB/s"
has out "250.0 MB/s"

# Which facts differ.
run 0 catalog verify "$work/one.vpc"
has out "sound; exhaustive"
run 0 catalog verify "$work/one.vpc" fig1-6
run 0 catalog verify "$work/one.vpc" fig1-6 --json
has out '"equal": true'
run 1 catalog verify "$work/one.vpc" fig1-6:transports=local
silent err
has out "transport set: \"hardware\" and \"local\""
run 1 catalog verify "$work/large.vpc" r5080-cx8:nodes=128:rates=measured --json
has out '"equal": false'
has out "rate set: "
run 0 catalog diff "$work/large.vpc" "$work/first.vpc"
silent out
run 1 catalog diff "$work/one.vpc" "$work/generated.vpc"
has out 'mode: "exhaustive" and "generated"'
has out "fingerprint"
run 1 catalog diff "$work/one.vpc" "$work/two.vpc" --json
has out "ranks: 6 and 16"
refused 3 "$work/gone.vpc" catalog diff "$work/one.vpc" "$work/gone.vpc"
refused 3 "$work/gone.vpc" catalog verify "$work/gone.vpc"

# Damaged files.
refused 3 "$work/gone.vpc" catalog show "$work/gone.vpc"
refused 2 "$work: is a directory" catalog show "$work"
refused 2 "not a catalog file" catalog show "$work/key.json"
head -c 1000 "$work/one.vpc" >"$work/bad.vpc"
refused 2 "$work/bad.vpc: truncated" catalog show "$work/bad.vpc"
{ head -c 1000 "$work/one.vpc"; printf '\377'; tail -c +1002 "$work/one.vpc"; } >"$work/bad.vpc"
refused 2 "$work/bad.vpc: corrupted" catalog show "$work/bad.vpc"
refused 1 "$work/bad.vpc: corrupted" catalog verify "$work/bad.vpc"
refused 2 "$work/bad.vpc: corrupted" catalog diff "$work/one.vpc" "$work/bad.vpc"
{ head -c 8 "$work/one.vpc"; printf '\11'; tail -c +10 "$work/one.vpc"; } >"$work/bad.vpc"
refused 2 "of version 9" catalog show "$work/bad.vpc"

echo "$((100 * (n_checks - n_failed) / n_checks))%: Checks: $n_checks, Failures: $n_failed, Errors: 0"
[ "$n_failed" -eq 0 ]
