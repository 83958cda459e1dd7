# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced, after common.sh, by suites that make a fresh system of Debian and work inside it.
mounts=()
leave() {
    local mount
    for mount in "${mounts[@]}"; do umount -R "$mount" 2>/dev/null || umount -R -l "$mount"; done
}
trap 'leave; chmod -R u+w "$work"; rm -rf "$work"' EXIT

can_be_fresh() { [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; }

# fresh_system ROOT RELEASE PACKAGE,...: nothing but these and what they need; kept if it is there.
fresh_system() {
    local root=$1 directory
    if [ ! -e "$root/made" ]; then
        timeout 900 debootstrap --variant=minbase "--include=$3" "$2" "$root" >"$work/debootstrap.log" 2>&1 ||
            return 1
        touch "$root/made"
    fi
    for directory in proc sys dev; do
        mkdir -p "$root/$directory"
        if [ "$directory" = proc ]; then
            mount -t proc proc "$root/proc" || return 1
        else
            mount --rbind "/$directory" "$root/$directory" && mount --make-rslave "$root/$directory" || return 1
        fi
        mounts+=("$root/$directory")
    done
}

# inside ROOT SECONDS COMMAND...
inside() {
    timeout "$2" chroot "$1" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LANG=C.UTF-8 "${@:3}"
}
