#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# ompi-intree.sh OMPI SOURCE BUILD VERSION FILE...: lay the component out in the Open MPI source
# tree OMPI, as ompi/mca/coll/variopath. FILEs lie in SOURCE or, if they are made, in BUILD.
# `make ompi-intree DIR=OMPI` calls it.
set -eu
tree=$1
source=$2
build=$3
version=$4
shift 4

die()
{
    echo "ompi-intree: $*" >&2
    exit 3
}

[ -f "$tree/ompi/mca/coll/coll.h" ] ||
    die "\"$tree\" is no Open MPI source tree (it has no ompi/mca/coll/coll.h); give DIR=..."
release=$(sed -n 's/^\(major\|minor\|release\)=//p' "$tree/VERSION" | paste -s -d . -)
case $release in
4.1.* | 5.0.*) ;;
*) die "\"$tree\" is Open MPI $release; the component knows 4.1 and 5.0" ;;
esac
there=$tree/ompi/mca/coll/variopath
new=$there.new
rm -rf "$new"
trap 'rm -rf "$new"' EXIT
mkdir -p "$new"

sources=
for file; do
    [ ! -f "$new/$file" ] || continue
    from=$source/$file
    [ -f "$from" ] || from=$build/$file
    mkdir -p "$new/$(dirname "$file")"
    cp "$from" "$new/$file"
    sources="$sources \\
    $file"
done
cp "$source/packaging/ompi-intree/configure.m4" "$source/mca/help-coll-variopath.txt" \
    "$source/LICENSE" "$new/"
printf '#\n# owner/status file\n# owner: institution that is responsible for this package\n' >"$new/owner.txt"
printf '# status: e.g. active, maintenance, unmaintained\n#\nowner: project\nstatus: active\n' >>"$new/owner.txt"
cat >"$new/vp_config.h" <<END
/* What VarioPath's own configure would find out; configure.m4 has made sure of it. */
#define VP_VERSION "$version"
#define VP_HAVE_HWLOC 1
#define VP_HAVE_UCX 1
END

numbers=$(echo "$version" | sed 's/^\([0-9]*\)\.\([0-9]*\)\.\([0-9]*\).*$/-DVP_VERSION_MAJOR=\1 -DVP_VERSION_MINOR=\2 -DVP_VERSION_RELEASE=\3/')
cat >"$new/Makefile.am" <<END
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Written by VarioPath $version; change it there.
#
# \$COPYRIGHT\$
#
# Additional copyrights may follow
#
# \$HEADER\$
#

AM_CPPFLAGS = -I\$(srcdir) \$(coll_variopath_CPPFLAGS) -DVP_HELP_DIR=\\"\$(ompidatadir)\\" \\
    $numbers

dist_ompidata_DATA = help-coll-variopath.txt
EXTRA_DIST = LICENSE

sources = \\
    vp_config.h$sources

# Make the output library in this directory, and name it either
# mca_<type>_<name>.la (for DSO builds) or libmca_<type>_<name>.la
# (for static builds).

if MCA_BUILD_ompi_coll_variopath_DSO
component_noinst =
component_install = mca_coll_variopath.la
else
component_noinst = libmca_coll_variopath.la
component_install =
endif

mcacomponentdir = \$(ompilibdir)
mcacomponent_LTLIBRARIES = \$(component_install)
mca_coll_variopath_la_SOURCES = \$(sources)
mca_coll_variopath_la_LDFLAGS = -module -avoid-version \$(coll_variopath_LDFLAGS)
mca_coll_variopath_la_LIBADD = \$(top_builddir)/ompi/lib@OMPI_LIBMPI_NAME@.la \\
    \$(coll_variopath_LIBS)

noinst_LTLIBRARIES = \$(component_noinst)
libmca_coll_variopath_la_SOURCES = \$(sources)
libmca_coll_variopath_la_LDFLAGS = -module -avoid-version \$(coll_variopath_LDFLAGS)
libmca_coll_variopath_la_LIBADD = \$(coll_variopath_LIBS)
END
rm -rf "$there"
mv "$new" "$there"
trap - EXIT
echo "coll/variopath lies in $there; next, in $tree: ./autogen.pl --force, configure, make"
