# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by the suites of other projects. Each program runs twice, on the stock
# collectives and with this component selected, and must end the same way. What is
# downloaded stays in external/ of the build directory; nothing of it is ours. A
# machine that cannot download skips (77).
. "${srcdir:?}/test/mca/common.sh"
kept=$builddir/external
mkdir -p "$kept"
compiler=$(command -v mpicc.openmpi || command -v mpicc)
"$variopath" catalog build r5080-bf3:nodes=2:transports=local -o "$work/sixteen.vpcat" >/dev/null ||
    { echo "cannot build the catalog"; exit 1; }
export OMPI_MCA_coll_variopath_catalog=$work/sixteen.vpcat
ours=(--mca coll variopath --mca coll_variopath_host 1)
stock=(--mca coll ^variopath)
n_carried=0

skip() { echo "skipped: $*"; exit 77; }

# debian_source PACKAGE: its upstream source, unpacked in $kept/PACKAGE, from where
# the machine has its own packages. Apt's lists are kept beside it, so that the
# machine's own are not touched.
debian_source() {
    local package=$1 state=$kept/apt release site
    [ ! -d "$kept/$package" ] || return 0
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$kept/$package.new"
    # shellcheck disable=SC2016 # for apt-get
    site=$(apt-get indextargets --format '$(SITE)' "Codename: $release" "Component: main" | head -n 1)
    [ -n "$site" ] || { echo "apt knows no source of $release" >"$kept/$package.log"; return 1; }
    echo "deb-src $site $release main" >"$state/sources.list"
    local options=(-o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root)
    (cd "$kept" && timeout 300 apt-get "${options[@]}" update &&
        timeout 300 apt-get "${options[@]}" source --download-only "$package") >"$kept/$package.log" 2>&1 &&
        tar -xf "$kept/$package"_*.orig.tar.* -C "$kept/$package.new" --strip-components=1 &&
        mv "$kept/$package.new" "$kept/$package"
}

# counted FILE: adds what the job says that it carried (run with verbosity 5).
counted() {
    local carried
    carried=$(sed -n 's/^.*closing: \([0-9]*\) calls carried.*$/\1/p' "$1" | awk '{n += $1} END {print n + 0}')
    n_carried=$((n_carried + carried))
}

# pair NAME SECONDS RANKS OUTCOME COMMAND...: OUTCOME is a command that turns an
# output file into what must be the same both times.
pair() {
    local name=$1 limit=$2 ranks=$3 outcome=$4 first second
    shift 4
    launch "$limit" "$ranks" "${stock[@]}" "$@" >"$work/stock.out" 2>&1
    first="exit code $?, $($outcome "$work/stock.out")"
    launch "$limit" "$ranks" "${ours[@]}" --mca coll_variopath_verbose 5 "$@" >"$work/ours.out" 2>&1
    second="exit code $?, $($outcome "$work/ours.out")"
    counted "$work/ours.out"
    echo "$name on $ranks ranks, stock: $first"
    check "$name on $ranks ranks" equal "$second" "$first"
}
