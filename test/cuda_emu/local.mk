# An emulated CUDA driver for machines without a GPU: libcuda.so.1, libnvidia-ml.so.1
# and a small libcudart.so.13. Made by `make check`, put into LD_LIBRARY_PATH by
# tests, never linked by the product and never installed. README.md says how to use it.
EXTRA_DIST += test/cuda_emu/README.md test/cuda_emu/generate.sh test/cuda_emu/runtime.map \
	test/cuda_emu/conformance.sh test/cuda_emu/environment.sh

if VP_WITH_CUDA
check_LTLIBRARIES += test/cuda_emu/libcuda.la test/cuda_emu/libnvidia-ml.la \
	test/cuda_emu/libcudart.la
check_PROGRAMS += test/cuda_emu/conformance test/cuda_emu/describe
TESTS += test/cuda_emu/conformance.sh
endif

# Entries have CUDA's signatures, used or not; times and rates are floating point here.
# UCX moves the first bytes of entries, so nothing may be put there. Programs without
# sanitizers load these libraries too.
cuda_emu_cppflags = $(AM_CPPFLAGS) $(CUDA_CFLAGS)
cuda_emu_cflags = $(VP_PLAIN_CFLAGS) -fcf-protection=none \
	-Wno-unused-parameter -Wno-conversion -Wno-sign-compare

cuda_emu_driver = \
	test/cuda_emu/context.c \
	test/cuda_emu/copy.c \
	test/cuda_emu/counter.c \
	test/cuda_emu/device.c \
	test/cuda_emu/driver.c \
	test/cuda_emu/engine.c \
	test/cuda_emu/event.c \
	test/cuda_emu/fault.c \
	test/cuda_emu/ipc.c \
	test/cuda_emu/lookup.c \
	test/cuda_emu/memory.c \
	test/cuda_emu/pointer.c \
	test/cuda_emu/pool.c \
	test/cuda_emu/stream.c \
	test/cuda_emu/vmm.c

test_cuda_emu_libcuda_la_SOURCES = $(cuda_emu_driver) \
	test/cuda_emu/counters.h \
	test/cuda_emu/driver.h \
	test/cuda_emu/emu.h \
	test/cuda_emu/fluid.c \
	test/cuda_emu/lookup.h \
	test/cuda_emu/sys.c \
	test/cuda_emu/table.c \
	test/cuda_emu/topology.c
nodist_test_cuda_emu_libcuda_la_SOURCES = test/cuda_emu/generated.c
test_cuda_emu_libcuda_la_CPPFLAGS = $(cuda_emu_cppflags)
test_cuda_emu_libcuda_la_CFLAGS = $(cuda_emu_cflags)
test_cuda_emu_libcuda_la_LDFLAGS = -shared -rpath /nowhere -version-info 1:0:0
test_cuda_emu_libcuda_la_LIBADD = -lpthread -ldl -lm

test/cuda_emu/generated.c: $(cuda_emu_driver) test/cuda_emu/generate.sh
	$(AM_V_GEN)$(MKDIR_P) test/cuda_emu && \
	sh $(srcdir)/test/cuda_emu/generate.sh '$(CC) $(CUDA_CFLAGS)' \
		$(cuda_emu_driver:%=$(srcdir)/%) >$@.new && mv $@.new $@
CLEANFILES += test/cuda_emu/generated.c test/cuda_emu/generated.c.new

test_cuda_emu_libnvidia_ml_la_SOURCES = test/cuda_emu/nvml.c test/cuda_emu/emu.h \
	test/cuda_emu/topology.c
test_cuda_emu_libnvidia_ml_la_CPPFLAGS = $(cuda_emu_cppflags)
test_cuda_emu_libnvidia_ml_la_CFLAGS = $(cuda_emu_cflags) -Wno-missing-prototypes
test_cuda_emu_libnvidia_ml_la_LDFLAGS = -shared -rpath /nowhere -version-info 1:0:0

test_cuda_emu_libcudart_la_SOURCES = test/cuda_emu/runtime.c
test_cuda_emu_libcudart_la_CPPFLAGS = $(cuda_emu_cppflags)
test_cuda_emu_libcudart_la_CFLAGS = $(cuda_emu_cflags)
test_cuda_emu_libcudart_la_LDFLAGS = -shared -rpath /nowhere -version-info 13:0:0 \
	-Wl,--version-script=$(srcdir)/test/cuda_emu/runtime.map
test_cuda_emu_libcudart_la_LIBADD = test/cuda_emu/libcuda.la -lpthread

test_cuda_emu_describe_SOURCES = test/cuda_emu/describe.c
test_cuda_emu_describe_LDADD = catalog/libvp_catalog_build.la catalog/libvp_catalog.la \
	base/libvp_base.la $(JANSSON_LIBS)

test_cuda_emu_conformance_SOURCES = \
	test/cuda_emu/conformance.c test/cuda_emu/conformance.h \
	test/cuda_emu/conformance_copy.c \
	test/cuda_emu/conformance_memory.c \
	test/cuda_emu/conformance_process.c
test_cuda_emu_conformance_CPPFLAGS = $(cuda_emu_cppflags)
test_cuda_emu_conformance_CFLAGS = $(VP_PLAIN_CFLAGS)
# The emulated driver is linked for its name, libcuda.so.1: what the loader finds decides.
test_cuda_emu_conformance_LDADD = test/cuda_emu/libcuda.la -ldl -lpthread
