# The engine without MPI: ranks are forked processes with a communicator in
# shared memory. Lanes are real UCX ones (shared memory, TCP on the loopback) but in
# the tests with lanes_fake.c.
if VP_WITH_CHECK
if VP_WITH_UCX
engine_tests = \
	test/engine/test_device_verdict \
	test/engine/test_engine \
	test/engine/test_engine_dump \
	test/engine/test_engine_exchange \
	test/engine/test_engine_fake \
	test/engine/test_engine_faults \
	test/engine/test_engine_kills \
	test/engine/test_engine_learn \
	test/engine/test_engine_kills_fake \
	test/engine/test_engine_threads \
	test/engine/test_engine_together \
	test/engine/test_engine_trace \
	test/engine/test_engine_wire \
	test/engine/test_fiber \
	test/engine/test_lanes \
	test/engine/test_leaders \
	test/engine/test_place \
	test/engine/test_record \
	test/engine/test_waits
check_PROGRAMS += $(engine_tests)
TESTS += $(engine_tests)
endif
endif
if VP_WITH_CHECK
if VP_WITH_UCX
if VP_WITH_CUDA
check_PROGRAMS += test/engine/test_device test/engine/test_device_lanes
TESTS += test/engine/test_device test/engine/test_device_lanes
endif
endif
endif
engine_test_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/test/engine $(CHECK_CFLAGS)
engine_test_ldadd = coll_variopath/libvp_engine.la catalog/libvp_catalog_build.la \
	scheduler/libvp_scheduler.la catalog/libvp_catalog.la base/libvp_base.la
engine_test_helpers = \
	test/engine/engine_rank.c test/engine/engine_rank.h \
	test/engine/planner.h \
	test/engine/ranks.c test/engine/ranks.h \
	test/engine/small_model.c test/engine/small_model.h
engine_test_rotations = test/engine/planner_fake.c test/engine/planner_fake.h
engine_test_lanes = test/engine/lanes_fake.c test/engine/lanes_fake.h

test_engine_test_place_SOURCES = test/engine/test_place.c test/engine/small_model.c \
	test/engine/small_model.h
test_engine_test_place_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_place_LDADD = $(engine_test_ldadd) $(UCX_LIBS) $(CHECK_LIBS)

test_engine_test_lanes_SOURCES = test/engine/test_lanes.c test/engine/ranks.c test/engine/ranks.h
test_engine_test_lanes_CPPFLAGS = $(engine_test_cppflags)
# UCX sends by the test's own send().
test_engine_test_lanes_LDFLAGS = -export-dynamic
test_engine_test_lanes_LDADD = $(engine_test_ldadd) $(UCX_LIBS) $(CHECK_LIBS)

test_engine_test_engine_SOURCES = test/engine/test_engine.c $(engine_test_helpers) \
	test/engine/planner_real.c
test_engine_test_engine_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_LDADD = $(engine_test_ldadd) $(UCX_LIBS) $(CHECK_LIBS)

test_engine_test_engine_threads_SOURCES = test/engine/test_engine_threads.c $(engine_test_helpers) \
	test/engine/planner_real.c
test_engine_test_engine_threads_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_threads_LDADD = $(engine_test_ldadd) $(UCX_LIBS) $(CHECK_LIBS)

test_engine_test_engine_fake_SOURCES = test/engine/test_engine.c $(engine_test_helpers) \
	$(engine_test_rotations) $(engine_test_lanes)
test_engine_test_engine_fake_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_fake_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_engine_faults_SOURCES = test/engine/test_engine_faults.c $(engine_test_helpers) \
	$(engine_test_rotations) $(engine_test_lanes)
test_engine_test_engine_faults_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_faults_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_engine_together_SOURCES = test/engine/test_engine_together.c \
	$(engine_test_helpers) $(engine_test_rotations) $(engine_test_lanes)
test_engine_test_engine_together_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_together_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

# Ranks as threads on a network that counts; also what make bench-exchange runs.
engine_test_meter = \
	test/engine/meter.c test/engine/meter.h \
	test/engine/node_model.c test/engine/node_model.h \
	test/engine/ranks.c test/engine/ranks.h \
	test/engine/small_model.c test/engine/small_model.h \
	test/engine/wire.c test/engine/wire.h \
	$(engine_test_rotations) test/engine/planner.h $(engine_test_lanes)
test_engine_test_engine_wire_SOURCES = test/engine/test_engine_wire.c $(engine_test_meter)
test_engine_test_engine_wire_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_wire_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_leaders_SOURCES = test/engine/test_leaders.c \
	test/engine/node_model.c test/engine/node_model.h \
	test/engine/ranks.c test/engine/ranks.h test/engine/wire.c test/engine/wire.h
test_engine_test_leaders_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_leaders_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

# The component's fibers know nothing of Open MPI.
test_engine_test_fiber_SOURCES = test/engine/test_fiber.c mca/fiber.c mca/fiber.h
test_engine_test_fiber_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_fiber_LDADD = $(CHECK_LIBS)

test_engine_test_engine_exchange_SOURCES = test/engine/test_engine_exchange.c \
	$(engine_test_helpers) $(engine_test_rotations) $(engine_test_lanes)
test_engine_test_engine_exchange_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_exchange_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_engine_dump_SOURCES = test/engine/test_engine_dump.c \
	$(engine_test_helpers) $(engine_test_rotations) $(engine_test_lanes)
test_engine_test_engine_dump_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_dump_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_engine_learn_SOURCES = test/engine/test_engine_learn.c \
	$(engine_test_helpers) test/engine/planner_real.c $(engine_test_lanes)
test_engine_test_engine_learn_CPPFLAGS = $(engine_test_cppflags) $(UCX_CFLAGS)
test_engine_test_engine_learn_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_engine_kills_SOURCES = test/engine/test_engine_kills.c $(engine_test_helpers) \
	test/engine/planner_real.c
test_engine_test_engine_kills_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_kills_LDADD = $(engine_test_ldadd) $(UCX_LIBS) $(CHECK_LIBS)

test_engine_test_engine_kills_fake_SOURCES = test/engine/test_engine_kills.c \
	$(engine_test_helpers) $(engine_test_rotations) $(engine_test_lanes)
test_engine_test_engine_kills_fake_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_engine_kills_fake_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_engine_trace_SOURCES = test/engine/test_engine_trace.c $(engine_test_helpers) \
	$(engine_test_rotations) $(engine_test_lanes)
test_engine_test_engine_trace_CPPFLAGS = $(engine_test_cppflags) $(JANSSON_CFLAGS)
test_engine_test_engine_trace_LDADD = $(engine_test_ldadd) $(JANSSON_LIBS) $(CHECK_LIBS)

test_engine_test_record_SOURCES = test/engine/test_record.c
test_engine_test_record_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_record_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_waits_SOURCES = test/engine/test_waits.c test/engine/ranks.h \
	test/engine/small_model.c test/engine/small_model.h
test_engine_test_waits_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_waits_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_device_verdict_SOURCES = test/engine/test_device_verdict.c \
	$(engine_test_helpers) $(engine_test_rotations) $(engine_test_lanes)
test_engine_test_device_verdict_CPPFLAGS = $(engine_test_cppflags)
test_engine_test_device_verdict_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

test_engine_test_device_SOURCES = test/engine/test_device.c test/gpu/gpu.c test/gpu/gpu.h
test_engine_test_device_CPPFLAGS = $(engine_test_cppflags) $(CUDA_CFLAGS) \
	-DVP_EMULATED_DRIVER=\"$(abs_top_builddir)/test/cuda_emu/.libs/libcuda.so.1\"
test_engine_test_device_LDADD = coll_variopath/libvp_engine.la base/libvp_base.la $(CHECK_LIBS) -ldl

test_engine_test_device_lanes_SOURCES = test/engine/test_device_lanes.c test/engine/ranks.c \
	test/engine/ranks.h test/gpu/gpu.c test/gpu/gpu.h
test_engine_test_device_lanes_CPPFLAGS = $(engine_test_cppflags) $(CUDA_CFLAGS) \
	-DVP_EMULATED_LIBRARIES=\"$(abs_top_builddir)/test/cuda_emu/.libs\"
test_engine_test_device_lanes_LDADD = coll_variopath/libvp_engine.la base/libvp_base.la $(UCX_LIBS) \
	$(CHECK_LIBS) -ldl
