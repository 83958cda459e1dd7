#!/bin/sh
# Draws the pictures of docs/pictures/ with ./variopath into a folder: pictures.sh FOLDER.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
variopath=${VARIOPATH:-./variopath}
out=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$variopath" topology show r5080-bf3 --svg "$out/topology-8.svg"
"$variopath" topology show r5080-bf3:nodes=8 --svg "$out/topology-64.svg"
for nodes in 1 8; do
    ranks=$((8 * nodes))
    "$variopath" demand zipf --ranks $ranks --exponent 0.6 --bytes-per-rank 64M -o "$work/$ranks.csv" 2>/dev/null
    "$variopath" plan --topology r5080-bf3:nodes=$nodes --demand "$work/$ranks.csv" \
        --svg "$out/plan-$ranks.svg" >/dev/null
done
"$variopath" simulate --topology r5080-bf3 --demand "$work/8.csv" --algorithms auto,nccl,fast,nearest \
    --sweep 256K,1M,4M,16M,64M --svg "$out/bandwidth-8.svg" >/dev/null
