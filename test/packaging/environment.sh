#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# An installation under another root, and what its variopath-env says: a new shell
# that evaluates it runs a program through the component, another Open MPI is refused.
. "${srcdir:?}/test/mca/common.sh"
root=$work/root
output=$work/output

env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s install DESTDIR="$root" >"$output" 2>&1 ||
    { tail -n 20 "$output"; exit 99; }
helper=$(find "$root" -name variopath-env -type f)
installed=$(dirname "$(find "$root" -name mca_coll_variopath.so)")

# What a user's shell has: nothing of the tests' own, and no directory of the installation.
user=(env -i HOME="$work" PATH="$(dirname "$VP_MPIRUN"):/usr/bin:/bin" TMPDIR="$work"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)

# refused NAME CODE TEXT COMMAND...: exit code CODE, TEXT on standard error, nothing printed.
refused() {
    local name=$1 code=$2 text=$3
    shift 3
    "$@" >"$work/out" 2>"$work/err"
    check "$name: exit code" equal "$?" "$code"
    check "$name: says why" contains "$work/err" "$text"
    check "$name: prints nothing" equal "$(cat "$work/out")" ""
}

"${user[@]}" sh "$helper" >"$work/exports" 2>"$output"
check "helper: exit code" equal "$?" 0
check "helper: the component's directory" contains "$work/exports" \
    "export OMPI_MCA_mca_base_component_path='$installed:SYS_DEFAULT:USER_DEFAULT'"
check "helper: nothing on standard error" equal "$(cat "$output")" ""

# The commands of docs/packages.md, to the letter.
"${user[@]}" sh -c "eval \"\$($helper)\"
    timeout -k 5 60 mpirun -np 4 --mca coll variopath $builddir/examples/alltoallv --bytes 1000 --repeat 2 --counters" \
    >"$output" 2>&1
check "job: exit code" equal "$?" 0
check "job: verified" contains "$output" "verified: every byte of every call is right"
"${user[@]}" sh -c "eval \"\$($helper)\"; variopath --version; ompi_info --param coll variopath --level 3" \
    >"$output" 2>&1
check "the command is found" contains "$output" "variopath 0."
check "the component is found" contains "$output" "MCA coll: variopath"
"${user[@]}" sh -c "eval \"\$($helper)\"; eval \"\$($helper)\"; echo \"\$PATH \$OMPI_MCA_mca_base_component_path\"" >"$output"
check "twice is once" equal "$(grep -o "$installed" "$output" | wc -l)" 1
"${user[@]}" OMPI_MCA_mca_base_component_path=/mine:SYS_DEFAULT sh "$helper" >"$output" 2>&1
check "the user's own path is kept" contains "$output" "'$installed:/mine:SYS_DEFAULT'"

# Launchers of something else.
mkdir "$work/other" "$work/later" "$work/bare"
for tool in readlink dirname sed; do ln -s "$(command -v $tool)" "$work/bare/"; done
printf '#!/bin/sh\necho "HYDRA build details:"\n' >"$work/other/mpirun"
printf '#!/bin/sh\necho "mpirun (Open MPI) 4.0.3"\n' >"$work/later/mpirun"
printf '#!/bin/sh\ncase $* in *pkglibdir*) echo path:pkglibdir:/nowhere;; *) echo none;; esac\n' >"$work/later/ompi_info"
chmod +x "$work"/other/* "$work"/later/*
refused "MPICH" 3 "is not Open MPI's" "${user[@]}" sh "$helper" --mpirun "$work/other/mpirun"
refused "another release" 3 "this is Open MPI 4.0.3 ($work/later/mpirun), but VarioPath was built for" \
    "${user[@]}" sh "$helper" --mpirun="$work/later/mpirun"
refused "no mpirun" 3 "there is no mpirun in PATH" "${user[@]}" PATH="$work/bare" /bin/sh "$helper"
refused "an unknown option" 2 "is not an option" "${user[@]}" sh "$helper" --csh
mv "$installed/mca_coll_variopath.so" "$work/"
refused "no component" 3 "there is no component in $installed" "${user[@]}" sh "$helper"
cp /bin/true "$installed/mca_coll_variopath.so"
refused "a component that does not load" 3 "does not load" "${user[@]}" sh "$helper"
finish
