#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The packages: built from a copy of this tree, looked at by their distribution's own
# critic, and the Debian one installed into a fresh system of the machine's release
# (VP_PACKAGES_ROOT keeps it), where mpirun finds the component with no path set.
. "${srcdir:?}/test/long/common.sh"
. "$top/test/long/fresh.sh"
root=${VP_PACKAGES_ROOT:-$work/root}

# The sources alone, without what earlier builds left.
mkdir "$work/source"
(cd "$top" && tar -cf - --exclude=./.git --exclude='./build*' --exclude=./autom4te.cache .) |
    tar -xf - -C "$work/source" || exit 99

build_debian() {
    (cd "$work/source" && timeout 1500 dpkg-buildpackage -b -us -uc -j2) >"$work/debian.log" 2>&1 ||
        { tail -n 30 "$work/debian.log"; return 1; }
}

# The package's component lies where this Open MPI looks for its own.
component_place() {
    local place
    place=$("$VP_OMPI_INFO" --parsable --path pkglibdir | sed 's/^path:pkglibdir://')
    dpkg-deb -c "$package" >"$work/contents"
    grep -qF ".$place/mca_coll_variopath.so" "$work/contents" ||
        { echo "no component in $place:"; cat "$work/contents"; return 1; }
}

# Links of README and of doctor's findings are relative to where README lies.
documents_lie_right() {
    local name
    for name in README.md docs/troubleshooting.md docs/pictures/plan-8.svg examples/slurm.sbatch; do
        [ -f "$work/unpacked/usr/share/doc/variopath/$name" ] || { echo "no $name"; return 1; }
    done
}

no_run_path() { ! readelf -d "$1" | grep -E 'RPATH|RUNPATH'; }

# What the package depends on and a launcher, in a system that has nothing else.
system_for_package() {
    local needed
    needed=$(dpkg-deb -f "$package" Depends | sed -e 's/([^)]*)//g' -e 's/|[^,]*//g' -e 's/ //g')
    fresh_system "$root" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "openmpi-bin,$needed"
}

# The literal command line, and nothing in the environment but what lets root run it.
literal_job() {
    cp "$builddir/examples/.libs/alltoallv" "$root/root/alltoallv" 2>/dev/null ||
        cp "$builddir/examples/alltoallv" "$root/root/alltoallv" || return 1
    inside "$root" 120 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 \
        mpirun -np 4 --mca coll variopath /root/alltoallv --bytes 1000 --counters >"$work/job.log" 2>&1
    cat "$work/job.log"
    grep -qF 'verified: every byte of every call is right' "$work/job.log"
}

carried_job() {
    inside "$root" 120 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 \
        mpirun -np 8 --mca coll variopath --mca coll_variopath_host 1 \
        --mca coll_variopath_topology r5080-bf3:transports=local \
        /root/alltoallv --bytes 1000 --counters >"$work/job.log" 2>&1
    cat "$work/job.log"
    grep -qF 'coll_variopath_carried = 48' "$work/job.log"
}

debian() {
    command -v dpkg-buildpackage >/dev/null && dpkg-query -W debhelper >/dev/null 2>&1 ||
        { echo "not tried: dpkg-dev and debhelper are not installed"; return; }
    one "Debian: builds" build_debian || return
    package=$(echo "$work"/variopath_*.deb)
    one "Debian: the component is Open MPI's neighbour" component_place
    dpkg-deb -x "$package" "$work/unpacked"
    one "Debian: documents find each other" documents_lie_right
    one "Debian: no run path" no_run_path "$(find "$work/unpacked" -name mca_coll_variopath.so)"
    if command -v lintian >/dev/null; then
        one "Debian: lintian has neither errors nor warnings" lintian --allow-root \
            --fail-on error,warning "$package"
    fi
    can_be_fresh && system_for_package || { echo "not tried: no fresh system can be made here"; return; }
    cp "$package" "$root/root/variopath.deb"
    one "Debian: installs" inside "$root" 120 dpkg -i /root/variopath.deb
    one "Debian: nothing has to be set" inside "$root" 60 sh -c 'variopath-env | grep "nothing has to be set"'
    one "Debian: mpirun --mca coll variopath" literal_job
    one "Debian: calls are carried" carried_job
    one "Debian: goes without a trace" inside "$root" 120 sh -c \
        'dpkg -P variopath && [ -z "$(find / -xdev -name "*coll_variopath*")" ]'
}

# The archive of a release, and the RPM from it: without its dependencies' RPMs, which a machine of
# another distribution has in other packages.
build_rpm() {
    local log=$work/rpm.log
    (cd "$builddir" && make -s dist) >"$log" 2>&1 || { tail -n 20 "$log"; return 1; }
    mkdir -p "$work/rpm/SOURCES" && mv "$builddir"/variopath-*.tar.xz "$work/rpm/SOURCES/" || return 1
    timeout 1500 rpmbuild -bb --nodeps --define "_topdir $work/rpm" --define "_smp_build_ncpus 2" \
        "$top/packaging/variopath.spec" >>"$log" 2>&1 || { tail -n 30 "$log"; return 1; }
}

rpm_package() {
    command -v rpmbuild >/dev/null || { echo "not tried: rpm is not installed"; return; }
    if command -v rpmlint >/dev/null; then
        one "RPM: rpmlint has no errors in the specification" rpmlint "$top/packaging/variopath.spec"
    fi
    one "RPM: builds" build_rpm || return
    local package
    package=$(find "$work/rpm/RPMS" -name 'variopath-0*.rpm')
    rpm -qlp "$package" >"$work/contents"
    one "RPM: has the component" grep -qF "/mca_coll_variopath.so" "$work/contents"
    one "RPM: has the manual" grep -q 'man1/variopath-env\.1' "$work/contents"
}

spack_recipe() {
    one "Spack: the recipe is Python" python3 -c \
        "import ast, sys; ast.parse(open(sys.argv[1]).read())" "$top/packaging/spack/package.py"
}

# module TOOL COMMAND...: COMMAND prints what a shell evaluates to load the module.
module() {
    local tool=$1
    shift
    env -i PATH=/usr/bin:/bin HOME="$work" MODULEPATH="$work/modules" "$@" >"$work/loaded" 2>"$work/module.err"
    one "module: $tool" grep -q 'OMPI_MCA_mca_base_component_path.*/openmpi:SYS_DEFAULT:USER_DEFAULT' "$work/loaded" ||
        cat "$work/module.err"
}

modules() {
    local environment_modules lmod
    mkdir -p "$work/modules/variopath"
    cp "$builddir/packaging/modulefile" "$work/modules/variopath/test"
    environment_modules=$(find /usr/lib /usr/share/modules -name modulecmd.tcl 2>/dev/null | head -n 1)
    lmod=$(find /usr/share/lmod -path '*/libexec/lmod' 2>/dev/null | head -n 1)
    if [ -n "$environment_modules" ]; then
        module "Environment Modules" "$environment_modules" sh load variopath/test
    fi
    if [ -n "$lmod" ]; then
        module "Lmod" "$lmod" sh load variopath/test
    fi
    [ -n "$environment_modules$lmod" ] || echo "not tried: no module command is installed"
}

builddir=$PWD
modules
spack_recipe
rpm_package
debian
finish
