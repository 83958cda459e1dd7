# Device buffers, with whatever driver is there: the emulated one under `make check`,
# a real one in run.sh.
EXTRA_DIST += test/gpu/run.sh test/gpu/staging.sh test/gpu/carried.sh test/gpu/four.json \
	test/gpu/relay.sh test/gpu/links.py test/gpu/demo.sh test/gpu/matrix.sh test/gpu/places.sh
if VP_WITH_CUDA
if VP_WITH_COMPONENT
check_PROGRAMS += test/gpu/bandwidth test/gpu/buffers test/gpu/early test/gpu/relay
check_LTLIBRARIES += test/gpu/meter.la
TESTS += test/gpu/carried.sh test/gpu/places.sh test/gpu/demo.sh test/gpu/staging.sh test/gpu/relay.sh
endif
endif
test_gpu_buffers_SOURCES = test/gpu/buffers.c test/gpu/gpu.c test/gpu/gpu.h \
	test/mca/cases.h test/mca/harness.c
test_gpu_buffers_CPPFLAGS = -I$(top_srcdir) $(OMPI_CPPFLAGS) $(CUDA_CFLAGS)
test_gpu_early_SOURCES = test/gpu/early.c test/gpu/gpu.c test/gpu/gpu.h \
	test/mca/cases.h test/mca/harness.c
test_gpu_early_CPPFLAGS = $(test_gpu_buffers_CPPFLAGS)
test_gpu_early_LDADD = $(OMPI_LIBS) -ldl
test_gpu_relay_SOURCES = test/gpu/relay.c test/gpu/gpu.c test/gpu/gpu.h \
	test/mca/cases.h test/mca/harness.c
test_gpu_relay_CPPFLAGS = $(test_gpu_buffers_CPPFLAGS)
test_gpu_relay_LDADD = $(OMPI_LIBS) -ldl
test_gpu_bandwidth_SOURCES = test/gpu/bandwidth.c test/gpu/gpu.c test/gpu/gpu.h
test_gpu_bandwidth_CPPFLAGS = $(test_gpu_buffers_CPPFLAGS)
test_gpu_bandwidth_LDADD = $(OMPI_LIBS) -ldl
test_gpu_buffers_LDADD = $(OMPI_LIBS) -ldl

test_gpu_meter_la_SOURCES = test/gpu/meter.c test/cuda_emu/counters.h
test_gpu_meter_la_CPPFLAGS = -I$(top_srcdir) $(OMPI_CPPFLAGS)
test_gpu_meter_la_CFLAGS = $(VP_PLAIN_CFLAGS)
test_gpu_meter_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
test_gpu_meter_la_LIBADD = -ldl
