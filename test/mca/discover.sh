#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# No topology file: processes discover their nodes, and catalogs follow from
# what they publish. hwloc is given files for machines; ranks with different
# files, or names, are on different nodes.
. "${srcdir:?}/test/mca/common.sh"
program=$builddir/examples/alltoallv
cases=$builddir/test/mca/cases
output=$work/output
export OMPI_MCA_coll_variopath_catalog='' OMPI_MCA_coll_variopath_topology=auto:transports=local
export XDG_CACHE_HOME=$work/cache
mkdir "$XDG_CACHE_HOME"
quiet=(--bind-to none --mca coll variopath --mca coll_variopath_host 1)
literal=("${quiet[@]}" --mca coll_variopath_verbose 1)
data=$srcdir/test/import/data
four=$data/h03-mi60x4-corona.xml # 4 GPUs in 4 groups on 2 sockets, a NIC
two=$data/h02-p100x2-pascal.xml  # 2 GPUs and a NIC on one switch
none=$data/h10-nogpu-c5n.xml     # no GPU
far=$data/h13-dgx2-as-v2.xml     # 16 GPUs, no NIC
"$variopath" topology import "$two" >/dev/null 2>&1 || { echo "skipped: no importers in this build"; exit 77; }

# on MACHINE...: a program that runs its arguments on these machines, an equal
# number of neighbouring ranks on each. MACHINE is a file, or NODE=FILE.
on() {
    local machine n=0
    {
        echo '#!/bin/sh'
        for machine; do
            printf 'if [ $((OMPI_COMM_WORLD_RANK * %d / OMPI_COMM_WORLD_SIZE)) = %d ]; then\n' $# $n
            printf 'export HWLOC_XMLFILE="%s" HWLOC_THISSYSTEM=1\n' "${machine#*=}"
            [ "$machine" = "${machine#*=}" ] ||
                printf 'export OMPI_MCA_coll_variopath_node="%s"\n' "${machine%%=*}"
            echo fi
            n=$((n + 1))
        done
        echo 'exec "$@"'
    } >"$work/on"
    chmod +x "$work/on"
}

# run NAME RANKS COMMAND...: ends well, every byte right.
run() {
    local name=$1 ranks=$2
    shift 2
    launch 60 "$ranks" "${literal[@]}" "$work/on" "$@" >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    check "$name: verified" contains "$output" "verified: every byte of every call is right"
}
# once NAME TEXT
once() { check "$1" equal "$(grep -cF -- "$2" "$output")" 1; }
plain=("$program" --counters --bytes 4096)

on "$four"
run "one node" 4 "${plain[@]}"
check "one node: carried" contains "$output" "coll_variopath_carried = 24"
once "one node: told once" "found 4 GPUs in 4 groups, 1 NIC on this node ("
check "one node: the job" contains "$output" "4 ranks on 1 nodes of 1 kinds in the job"
check "one node: one cache file" equal "$(ls "$XDG_CACHE_HOME/variopath" | grep -c 'vpnode$')" 1
run "again" 4 "${plain[@]}"
check "again: remembered" contains "$output" "(as remembered in $XDG_CACHE_HOME/variopath/node-"
echo damaged >"$(echo "$XDG_CACHE_HOME"/variopath/node-*.vpnode)"
run "damaged cache" 4 "${plain[@]}"
check "damaged cache: carried" contains "$output" "coll_variopath_carried = 24"
check "damaged cache: written anew" contains "$(echo "$XDG_CACHE_HOME"/variopath/node-*.vpnode)" VPNODE

on "$four" "$two"
run "two kinds of node" 4 "${plain[@]}"
check "two kinds: carried" contains "$output" "coll_variopath_carried = 24"
check "two kinds: the job" contains "$output" "4 ranks on 2 nodes of 2 kinds in the job"
check "two kinds: between nodes over NICs" contains "$output" "coll_variopath_bytes_NIC"
check "two kinds: inside over PCIe" contains "$output" "coll_variopath_bytes_PIX"

on a="$two" b="$two"
run "two nodes of a kind" 4 "${plain[@]}"
check "two of a kind: carried" contains "$output" "coll_variopath_carried = 24"
check "two of a kind: the job" contains "$output" "4 ranks on 2 nodes of 1 kinds in the job"
check "two of a kind: between nodes over NICs" contains "$output" "coll_variopath_bytes_NIC"

on "$two"
run "two ranks on each GPU" 4 "${plain[@]}"
check "shared GPUs: carried" contains "$output" "coll_variopath_carried = 24"

# Sub-communicators, other orders, duplicates, many communicators.
on "$four" "$two"
launch 300 4 "${quiet[@]}" "$work/on" "$cases" carried >"$output" 2>&1
check "every case, two kinds of node: exit code" equal "$?" 0
check "every case, two kinds of node: carried" contains "$output" "Failures: 0, Errors: 0"

on "$none"
run "no GPU" 4 "${plain[@]}"
check "no GPU: not carried" lacks "$output" "coll_variopath_carried"
once "no GPU: said once" "MPI_COMM_WORLD: not served: the node of rank 0: no GPU found"
on "$four" "$none"
run "no GPU on one node" 4 "${plain[@]}"
check "no GPU on one node: not carried" lacks "$output" "coll_variopath_carried"
once "no GPU on one node: said once" "MPI_COMM_WORLD: not served: the node of rank 2: no GPU found"

on "$far" "$four"
run "no NIC between nodes" 4 "${plain[@]}"
check "no NIC: passed on by all ranks" contains "$output" "coll_variopath_passed_on = 24"
once "no NIC: said once" "has no NIC, so its GPUs cannot reach another node"

on "$four"
run "one rank" 1 "${plain[@]}"
once "one rank: said" "MPI_COMM_WORLD: not served: the job has one rank"
OMPI_MCA_coll_variopath_topology=none run "topology none" 4 "${plain[@]}"
once "topology none: said" "MPI_COMM_WORLD: not served: coll_variopath_topology is none"
check "topology none: not carried" lacks "$output" "coll_variopath_carried"
XDG_CACHE_HOME=/dev/null run "no place for a cache" 4 "${plain[@]}"
check "no place for a cache: carried" contains "$output" "coll_variopath_carried = 24"
check "no place for a cache: said" contains "$output" "(discovered, without a cache)"
finish
