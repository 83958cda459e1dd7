# SPDX-License-Identifier: BSD-3-Clause
#
# For a Spack repository of one's own (docs/packages.md).

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass  # Spack before 1.0: the line below has it.
from spack.package import *


class Variopath(AutotoolsPackage):
    """All-to-all communication for GPU servers without NVLink: an Open MPI component
    that plans each MPI_Alltoallv for the PCIe tree and NICs of the machine."""

    homepage = "https://arxiv.org/abs/2609.34340"
    # There is no place to fetch from: put the archive that `make dist` writes into a
    # mirror, or build a clone with `spack develop`.
    manual_download = True

    license("BSD-3-Clause")

    version("0.1.0")
    version("main")

    variant("tools", default=True, description="Import hwloc and NCCL XML files")

    depends_on("c", type="build")
    depends_on("autoconf", type="build", when="@main")
    depends_on("automake@1.16:", type="build", when="@main")
    depends_on("libtool", type="build", when="@main")
    depends_on("pkgconfig", type="build")

    # One that was configured --with-devel-headers: the component reads its internal
    # structures. Spack has no variant for that; name an external one (docs/packages.md).
    depends_on("openmpi@4.1:5.0", type=("build", "link", "run"))
    depends_on("ucx@1.13.1:", type=("build", "link", "run"))
    depends_on("hwloc@2:")
    depends_on("jansson")
    depends_on("xxhash", type="build")
    depends_on("libxml2", when="+tools")

    def url_for_version(self, version):
        return f"file://variopath-{version}.tar.xz"

    def configure_args(self):
        spec = self.spec
        args = [
            f"--with-ompi={spec['openmpi'].prefix}",
            f"--with-ucx={spec['ucx'].prefix}",
            f"--with-hwloc={spec['hwloc'].prefix}",
            f"--with-jansson={spec['jansson'].prefix}",
            f"--with-xxhash={spec['xxhash'].prefix}",
            "--without-check",
            "--without-cuda",
            "--disable-werror",
        ]
        if spec.satisfies("+tools"):
            args.append(f"--with-libxml2={spec['libxml2'].prefix}")
        else:
            args.append("--without-libxml2")
        return args

    def setup_run_environment(self, env):
        env.prepend_path(
            "OMPI_MCA_mca_base_component_path",
            f"{self.prefix.lib.openmpi}:SYS_DEFAULT:USER_DEFAULT",
        )
        # A process has one libucp, the first that is loaded.
        env.prepend_path("LD_LIBRARY_PATH", self.spec["ucx"].prefix.lib)
        # From Open MPI 5.0 on PMIx takes that path for its own, unless it has one.
        if self.spec.satisfies("^openmpi@5:"):
            env.set("PMIX_MCA_mca_base_component_path", self.spec["pmix"].prefix.lib.pmix)
