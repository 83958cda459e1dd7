#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What README says, in fresh systems of Debian 12 and 13 that have a clone's files and nothing else:
# the demo, a program of one's own, doctor, a catalog from what nvidia-smi prints, a simulation; and the Debian package built and installed there.
# VP_NEWCOMER_ROOT keeps the systems, VP_NEWCOMER_RELEASES names others.
. "${srcdir:?}/test/long/common.sh"
. "$top/test/long/fresh.sh"
can_be_fresh || { echo "no fresh system can be made here"; exit 77; }
roots=${VP_NEWCOMER_ROOT:-$work}

# Where packages come from, and who vouches for it, is the machine's matter.
as_the_machine() {
    local root=$1 file
    for file in /etc/apt/apt.conf.d/99* /etc/pip.conf; do
        [ ! -f "$file" ] || cp "$file" "$root$file" || return 1
    done
    file=$(sed -n 's/^cert *= *//p' /etc/pip.conf 2>/dev/null)
    [ ! -f "$file" ] || { mkdir -p "$root${file%/*}" && cp "$file" "$root$file"; }
}

put_clone() {
    local place=$1/root/variopath
    rm -rf "$place"
    mkdir -p "$place"
    (cd "$top" && tar -cf - --exclude=./.git --exclude='./build*' --exclude=./autom4te.cache --exclude=./configure .) |
        tar -xf - -C "$place" && cp "$top/test/import/data/t07-l40sx4-pairs.txt" "$1/root/nvidia-smi-topo.txt"
}

demo() {
    inside "$1" 1800 sh -c 'cd /root/variopath && ./quickstart demo' >"$work/demo" 2>&1 || { tail -n 20 "$work/demo"; return 1; }
    [ "$(grep -c 'links, 0 of them differ from the plans' "$work/demo")" = 2 ] &&
        [ "$(grep -c 'verified: every byte of every call is right' "$work/demo")" = 4 ] || { cat "$work/demo"; return 1; }
}

# The same shell as README's, with COMMAND in it.
shell() {
    inside "$1" 600 bash -c 'cd /root/variopath && eval "$(./quickstart env)" && cd /root && '"$2" >"$work/out" 2>&1 ||
        { cat "$work/out"; return 1; }
}

own_program() {
    cat >"$1/root/own.c" <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
    int n, rank, i, bad = 0, sent[64], came[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; i < n; i++) {
        sent[i] = 100 * rank + i;
    }
    MPI_Alltoall(sent, 1, MPI_INT, came, 1, MPI_INT, MPI_COMM_WORLD);
    for (i = 0; i < n; i++) {
        bad += came[i] != 100 * i + rank;
    }
    MPI_Finalize();
    return bad != 0;
}
EOF
    shell "$1" 'mpicc own.c -o own && mpirun -np 8 --mca coll variopath --mca coll_variopath_verbose 1 ./own' &&
        grep -q 'alltoall on MPI_COMM_WORLD: carried' "$work/out" || { cat "$work/out"; return 1; }
}

# The commands of docs/packages.md, without sudo, and a job in a shell that has nothing else.
package() {
    inside "$1" 2400 bash -c 'export DEBIAN_FRONTEND=noninteractive && cd /root/variopath &&
        apt-get install -y debhelper build-essential && apt-get build-dep -y ./ &&
        dpkg-buildpackage -b -us -uc && apt-get install -y ../variopath_*.deb' >"$work/out" 2>&1 &&
        inside "$1" 120 bash -c 'export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
            PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_mpi_yield_when_idle=1
            [ "$(. /etc/os-release && echo "$VERSION_ID")" = 12 ] || eval "$(variopath-env)"
            mpirun -np 8 --mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_verbose 1 \
            --mca coll_variopath_topology r5080-bf3:transports=local /root/own' >"$work/out" 2>&1 &&
        grep -q "alltoall on MPI_COMM_WORLD: carried" "$work/out" || { tail -n 30 "$work/out"; return 1; }
}

quiet() { [ "$(wc -l <"$work/out")" -lt 10 ] || { cat "$work/out"; return 1; }; }

for release in ${VP_NEWCOMER_RELEASES:-bookworm trixie}; do
    root=$roots/$release
    one "$release: a fresh system" fresh_system "$root" "$release" ca-certificates || continue
    one "$release: its package sources" as_the_machine "$root"
    one "$release: a clone" put_clone "$root"
    one "$release: demo" demo "$root" || continue
    one "$release: a program of one's own" own_program "$root"
    one "$release: no noise" quiet
    one "$release: doctor" shell "$root" "variopath doctor | grep -F '0 errors'"
    one "$release: a catalog from a paste" shell "$root" \
        'variopath topology import nvidia-smi-topo.txt -o my.json && variopath catalog build my.json -o my.vpcat'
    one "$release: my 4 nodes of 8 L20" shell "$root" 'variopath demand moe --ranks 32 --tokens 4096 -o D.csv &&
        variopath simulate --topology l20-cx7:nodes=4 --demand D.csv --algorithms auto,nccl,openmpi-pairwise --links all'
    one "$release: the Debian package" package "$root"
done
finish
