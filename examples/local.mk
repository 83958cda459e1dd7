# Programs that a user would write: MPI only, nothing of this project.
if VP_WITH_MPI
noinst_PROGRAMS += examples/alltoallv examples/osu_alltoall examples/moe_dispatch examples/fft_transpose
endif
examples_alltoallv_SOURCES = examples/alltoallv.c \
	examples/counters.c examples/counters.h \
	examples/device_memory.c examples/device_memory.h
examples_alltoallv_CPPFLAGS = -I$(top_srcdir) $(OMPI_CPPFLAGS)
examples_alltoallv_LDADD = $(OMPI_LIBS) -lm -ldl
examples_osu_alltoall_SOURCES = examples/osu_alltoall.c \
	examples/device_memory.c examples/device_memory.h
examples_osu_alltoall_CPPFLAGS = $(examples_alltoallv_CPPFLAGS)
examples_osu_alltoall_LDADD = $(examples_alltoallv_LDADD)
examples_moe_dispatch_SOURCES = examples/moe_dispatch.c \
	examples/counters.c examples/counters.h \
	examples/device_memory.c examples/device_memory.h
examples_moe_dispatch_CPPFLAGS = $(examples_alltoallv_CPPFLAGS)
examples_moe_dispatch_LDADD = $(examples_alltoallv_LDADD)
examples_fft_transpose_SOURCES = examples/fft_transpose.c \
	examples/counters.c examples/counters.h
examples_fft_transpose_CPPFLAGS = $(examples_alltoallv_CPPFLAGS)
examples_fft_transpose_LDADD = $(OMPI_LIBS) -lm
EXTRA_DIST += examples/moe_dispatch.py examples/slurm.sbatch examples/openmpi-mca-params.conf
