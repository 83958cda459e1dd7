# SPDX-License-Identifier: BSD-3-Clause
#
# What the guest does: soft RoCE on its NICs, what it is seen as, and a job of four ranks for each
# catalog in /job. All judging is done outside. /job/settings names the build and source folders.
# To start a program takes a quarter of a second under emulation, so the shell does what it can.
set -u
. /job/settings
ulimit -l unlimited

told() { echo "$*, uptime $(</proc/uptime)"; }

# NIC k of all and RDMA device k, by the last two numbers of the address that machine.py gave.
for path in /sys/class/net/*/device; do
    path=${path%/device}
    address=$(<"$path/address")
    k=$((n_nics * 16#${address:12:2} + 16#${address:15:2}))
    ip link set "${path##*/}" name "nic$k" mtu 4200 up
    rdma link add "rdma$k" type rxe netdev "nic$k"
done
for path in /sys/class/infiniband/*/ports/1/state; do
    for ((i = 0; i < 40; i++)); do # a link comes up seconds later
        [[ $(<"$path") == *ACTIVE* ]] && break
        sleep 0.5
    done
done
told "devices are up"

lstopo-no-graphics --whole-io --of xml /job/tree.xml
"$build/variopath" topology import --live --json -o /job/live-topology.json >/job/live.json
told "seen live: $?"

# Every file that is opened costs: only the components that a job of ours on one machine needs,
# and only the verbs provider of soft RoCE.
mkdir /run/components /run/providers
chosen=()
for file in "$components"/mca_*.so; do
    case ${file##*/mca_} in
    btl_[!sv]* | btl_sm.so | io_* | f[bcs]* | sharedfp_* | osc_* | mtl_*) ;;
    *_ucx.so | *_monitoring.so | *_slurm.so | pml_[!o]* | s[cps]oll_* | spml_* | sshmem_* | memheap_*) ;;
    *) chosen+=("$file") ;;
    esac
done
cp "${chosen[@]}" /run/components
ln -s "$build/mca/.libs/mca_coll_variopath.so" /run/components
cp /etc/libibverbs.d/rxe.driver /run/providers
mount --bind /run/providers /etc/libibverbs.d
told "${#chosen[@]} components of Open MPI and ours"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_mca_base_component_path=/run/components
export OMPI_MCA_coll_variopath_help_dir=$source/mca
# Verbs are in the system's UCX, which may be older than the one that the build has (it warns).
# Link-local GIDs: with those made of IPv4 addresses UCX 1.13 drops the datagrams that it connects
# with. Long queues of receive buffers take seconds to make under emulation, and a second is too
# little for an answer where others use the CPUs.
export LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu UCX_LOG_LEVEL=error UCX_IB_GID_INDEX=0
export UCX_RC_VERBS_RX_QUEUE_LEN=128 UCX_UD_VERBS_RX_QUEUE_LEN=128 UCX_RC_VERBS_TIMEOUT=15s
export UCX_WARN_UNUSED_ENV_VARS=n

counters() {
    local path statistics counted
    for path in /sys/class/infiniband/*; do
        statistics=/sys/class/net/$(<"$path/parent")/statistics
        counted=$path/ports/1/hw_counters
        echo "${path##*/} $(<"$statistics/tx_bytes") $(<"$counted/sent_pkts")" \
            "$(<"$counted/rcvd_pkts") $(<"$counted/duplicate_request")"
    done
}

cd /run
for catalog in /job/*.vpcat; do
    name=${catalog%.vpcat}
    counters >"$name.before"
    timeout -k 5 150 "$mpirun" -n 4 --bind-to none --mca pml ob1 --mca btl vader,self \
        --mca coll variopath,basic,libnbc,self --mca coll_variopath_host 1 \
        --mca coll_variopath_verbose 1 --mca coll_variopath_catalog "$catalog" \
        --mca coll_variopath_trace "$name.trace" \
        "$build/examples/alltoallv" --demand /job/demand.csv --repeat 1 --counters >"$name.log" 2>&1
    told "${name##*/}: ended with $?"
    counters >"$name.after"
done
