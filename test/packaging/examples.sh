#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The examples end with verified data, on the component and without it, in host memory and in that
# of emulated devices; the sample files name nothing that does not exist.
. "${srcdir:?}/test/mca/common.sh"
examples=$srcdir/examples
output=$work/output
export OMPI_MCA_coll_variopath_catalog=$work/eight.vpcat
ours=(--mca coll variopath --mca coll_variopath_host 1)

# example NAME RANKS CARRIED COMMAND...: all ranks together count CARRIED calls.
example() {
    local name=$1 ranks=$2 carried=$3
    shift 3
    launch 100 "$ranks" "$@" >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    check "$name: verified" contains "$output" "verified"
    [ -z "$carried" ] ||
        check "$name: carried" contains "$output" "coll_variopath_carried = $carried"
}

moe=$builddir/examples/moe_dispatch
fft=$builddir/examples/fft_transpose
# Three layers of three exchanges each: counts, dispatch, combine.
small=(--tokens 40 --hidden 33 --top-k 3 --repeat 2 --counters)
example "moe_dispatch on 8 ranks" 8 72 "${ours[@]}" "$moe" "${small[@]}"
example "moe_dispatch on 5 ranks" 5 45 "${ours[@]}" "$moe" "${small[@]}" --experts 3 --skew 2
example "moe_dispatch, stock" 4 "" --mca coll ^variopath "$moe" "${small[@]}"
example "fft_transpose on 8 ranks" 8 32 "${ours[@]}" "$fft" --size 64 --repeat 2 --counters
# Slabs of 10, 11 and 11 rows.
example "fft_transpose on 3 ranks" 3 12 "${ours[@]}" "$fft" --size 32 --repeat 2 --counters
example "fft_transpose, stock" 4 "" --mca coll ^variopath "$fft" --size 16
for bad in "$moe --top-k 9" "$moe --tokens 0" "$fft --size 48" "$fft none"; do
    # shellcheck disable=SC2086
    launch 60 1 $bad >"$output" 2>&1
    check "${bad#"$builddir"/}: exit code" equal "$?" 2
    check "${bad#"$builddir"/}: usage" contains "$output" "Usage: mpirun"
done

python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import mpi4py' 2>/dev/null || python=$candidate
done
if [ -n "$python" ]; then
    example "moe_dispatch.py" 4 "" "${ours[@]}" --mca coll_variopath_verbose 5 \
        "$python" "$examples/moe_dispatch.py" --tokens 30 --hidden 20
    check "moe_dispatch.py: carried" contains "$output" "closing: 3 calls carried"
else
    echo "not tried: moe_dispatch.py, there is no mpi4py"
    check "moe_dispatch.py is Python" python3 -c "compile(open('$examples/moe_dispatch.py').read(), 'x', 'exec')"
fi

if [ -f "${VP_UCX_LIBDIR:-/nowhere}/ucx/libuct_cuda.so.0" ] && [ -e "$builddir/test/cuda_emu/libcuda.la" ]; then
    . "$srcdir/test/cuda_emu/environment.sh"
    describe moe r5080-bf3:transports=emulated --unlimited
    OMPI_MCA_coll_variopath_catalog='' example "moe_dispatch on emulated devices" 8 72 \
        --mca coll variopath --mca coll_variopath_host 1 \
        --mca coll_variopath_topology r5080-bf3:transports=emulated "$moe" "${small[@]}" --device
    unset CUDA_EMU_TOPO
fi

# The sample parameter file: every name is known, and what it shows as a default is one.
"$VP_OMPI_INFO" --all --parsable >"$work/parameters" 2>/dev/null
sed -n 's/^\(# \)\{0,1\}\([a-z_]*\) = \(.*\)$/\2 \3/p' "$examples/openmpi-mca-params.conf" >"$work/named"
check "the sample names parameters" test "$(wc -l <"$work/named")" -ge 8
while read -r name value; do
    check "$name is a parameter" grep -q "^mca:[^:]*:[^:]*:param:$name:" "$work/parameters"
done <"$work/named"
mkdir -p "$work/home/.openmpi"
sed 's/^# \(coll_variopath_[a-z_]* = \)/\1/' "$examples/openmpi-mca-params.conf" |
    grep -v 'coll_variopath_catalog' >"$work/home/.openmpi/mca-params.conf"
HOME=$work/home launch 60 4 --mca coll variopath "$fft" --size 16 >"$output" 2>&1
check "the sample, all lines in force: exit code" equal "$?" 0
check "the sample: the summary" contains "$output" "coll:variopath:"
check "slurm.sbatch is bash" bash -n "$examples/slurm.sbatch"
finish
