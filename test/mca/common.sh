# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by the shell tests of the component. The build's own DSO is used
# uninstalled. Counts checks and prints a closing line in the manner of Check.
set -u
: "${VP_MPIRUN:?run this through make check}" "${VP_OMPI_INFO:?}" "${srcdir:?}"
# What the caller's shell sets for his own jobs is not for the tests.
while IFS= read -r variable; do
    unset "$variable"
done < <(compgen -e | grep -E '^OMPI_MCA_(coll|mca_base_component_path)')
builddir=$PWD
srcdir=$(cd "$srcdir" && pwd) # Open MPI wants a whole path for its help files
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failures=0

component=$work/component
mkdir "$component"
ln -s "$builddir/mca/.libs/mca_coll_variopath.so" "$component/"
variopath=$builddir/variopath

[ -z "${VP_UCX_LIBDIR:-}" ] || export LD_LIBRARY_PATH="$VP_UCX_LIBDIR:${LD_LIBRARY_PATH:-}"
export OMPI_MCA_mca_base_component_path="$component:SYS_DEFAULT:USER_DEFAULT"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
# From 5.0 on ranks are launched by PRRTE. PMIx tells them its own component path, unless it is set.
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
pmix_path=$(pkg-config --variable=libdir pmix 2>/dev/null)/pmix
[ ! -d "$pmix_path" ] || export PMIX_MCA_mca_base_component_path=$pmix_path
export OMPI_MCA_coll_variopath_help_dir="$srcdir/mca"

# A machine of four ranks in two groups, and the default one of eight.
"$variopath" catalog build "$srcdir/test/mca/four.json:transports=local" -o "$work/four.vpcat" >/dev/null &&
    "$variopath" catalog build r5080-bf3:transports=local -o "$work/eight.vpcat" >/dev/null ||
    { echo "cannot build the catalogs"; exit 1; }
export OMPI_MCA_coll_variopath_catalog=$work/four.vpcat

# launch SECONDS RANKS ARGUMENT...: mpirun that cannot hang the suite. A job that
# the time limit had to stop shows up as exit code 124.
launch() {
    local limit=$1 ranks=$2
    shift 2
    timeout -k 5 "$limit" "$VP_MPIRUN" -np "$ranks" "$@"
}

# check NAME COMMAND...: one check; the command's exit code decides.
check() {
    local name=$1
    shift
    n_checks=$((n_checks + 1))
    if "$@"; then
        echo "ok: $name"
    else
        echo "FAILED: $name"
        n_failures=$((n_failures + 1))
    fi
}

contains() { grep -qF -- "$2" "$1" || { echo "no \"$2\" in:"; head -n 40 "$1"; return 1; }; }
lacks() { ! grep -qF -- "$2" "$1" || { echo "unexpected \"$2\" in:"; head -n 40 "$1"; return 1; }; }
equal() { [ "$1" = "$2" ] || { echo "got \"$1\", expected \"$2\""; return 1; }; }

finish() {
    echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
    [ "$n_failures" = 0 ]
    exit
}
