#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tests of the component on Open MPI 5.0 and the UCX beside it, those of Debian
# 13, in a directory of their own (VP_CHROOT keeps it). Needs root and debootstrap.
. "${srcdir:?}/test/long/common.sh"
root=${VP_CHROOT:-$work/trixie}
packages=gcc,libc6-dev,make,autoconf,automake,libtool,pkg-config,libopenmpi-dev,openmpi-bin,libucx-dev
packages+=,libpmix-dev,libhwloc-dev,libxml2-dev,libjansson-dev,libxxhash-dev,check,python3,procps

skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root can enter another root directory"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"

mounts=()
leave() {
    local mount
    for mount in "${mounts[@]}"; do umount -R "$mount" 2>/dev/null || umount -R -l "$mount"; done
    [ -n "${VP_CHROOT:-}" ] || rm -rf "$work/trixie"
}
trap 'leave; chmod -R u+w "$work"; rm -rf "$work"' EXIT

# From where the machine has its own packages; made beside its place, so that a kept one is whole.
# shellcheck disable=SC2016 # for apt-get
site=$(apt-get indextargets --format '$(SITE)' "Component: main" 2>/dev/null | head -n 1)
if [ ! -x "$root/usr/bin/mpirun" ]; then
    rm -rf "$root.new"
    timeout 900 debootstrap --variant=minbase "--include=$packages" trixie "$root.new" \
        ${site:+"$site"} >"$work/debootstrap.log" 2>&1 ||
        skip "Debian 13 cannot be had: $(tail -n 1 "$work/debootstrap.log")"
    mv "$root.new" "$root"
fi
mkdir -p "$root/src" "$root/build"
mount -t proc proc "$root/proc" && mounts+=("$root/proc")
mount --rbind /sys "$root/sys" && mount --make-rslave "$root/sys" && mounts+=("$root/sys")
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev" && mounts+=("$root/dev")
# A copy, whose configure is made by the autotools of that Debian.
(cd "$top" && tar -cf - --exclude=./.git --exclude=./build --exclude=./autom4te.cache .) |
    tar -xf - -C "$root/src"

inside() { timeout "$1" chroot "$root" /bin/bash -c "export HOME=/root; cd /build && $2"; }

one "configures" inside 400 "(cd /src && autoreconf -fi >/dev/null 2>&1) && /src/configure -q"
one "it is Open MPI 5.0" inside 20 "mpirun --version | grep -F ' 5.0.'"
one "builds" inside 1200 "make -s -j2"
# What other tests there are does not depend on Open MPI.
suites="test/mca/component.sh test/mca/catalog_files.sh test/mca/run_cases.sh test/mca/lifecycle.sh"
suites+=" test/mca/osu.sh test/mca/stress.sh test/mca/ulfm.sh"
programs=$(printf 'test/mca/%s ' cases layouts lifecycle nonblocking load_now tools_first late \
    reports stress ulfm)
# Processes of one machine need no network below either.
inside 1200 "OMPI_MCA_btl=self,sm make -s -k check TESTS='$suites' check_PROGRAMS='$programs' \
    check_LTLIBRARIES=" >"$work/check.log" 2>&1
for suite in $suites; do
    log=$root/build/${suite%.sh}.log
    one "$suite" grep -q "^PASS" "$log"
    counts=$(sed -n 's/^.*Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: [0-9]*$/\1 \2/p' "$log" | tail -n 1)
    [ -n "$counts" ] || continue
    n_checks=$((n_checks + ${counts% *}))
    n_failures=$((n_failures + ${counts#* }))
    [ "${counts#* }" = 0 ] || grep -A8 FAILED "$log"
done
finish
