# Programs that a user would write: MPI only, nothing of this project.
if VP_WITH_MPI
noinst_PROGRAMS += examples/alltoallv
endif
examples_alltoallv_SOURCES = examples/alltoallv.c \
	examples/device_memory.c examples/device_memory.h
examples_alltoallv_CPPFLAGS = -I$(top_srcdir) $(OMPI_CPPFLAGS)
examples_alltoallv_LDADD = $(OMPI_LIBS) -lm -ldl
