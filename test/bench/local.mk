# Benches: built and run on demand, never by make check.
bench_programs = \
	test/bench/bench_forms \
	test/bench/bench_planning \
	test/bench/bench_quality
if VP_WITH_COMPONENT
bench_programs += test/bench/bench_idle test/bench/bench_repeated
endif
if VP_WITH_CHECK
if VP_WITH_UCX
bench_programs += test/bench/bench_exchange
endif
endif
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)

bench_sources = \
	test/bench/demands.c test/bench/demands.h \
	test/bench/measure.c test/bench/measure.h
bench_cppflags = $(AM_CPPFLAGS) -DVP_BENCH_DATA=\"$(abs_top_srcdir)/test/bench\"
bench_libraries = \
	scheduler/libvp_scheduler.la \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) -lm

test_bench_bench_planning_SOURCES = test/bench/bench_planning.c $(bench_sources)
test_bench_bench_planning_CPPFLAGS = $(bench_cppflags)
test_bench_bench_planning_LDADD = $(bench_libraries)
test_bench_bench_quality_SOURCES = test/bench/bench_quality.c $(bench_sources)
test_bench_bench_quality_CPPFLAGS = $(bench_cppflags)
test_bench_bench_quality_LDADD = $(bench_libraries)

test_bench_bench_repeated_SOURCES = test/bench/bench_repeated.c
test_bench_bench_repeated_CPPFLAGS = $(OMPI_CPPFLAGS)
test_bench_bench_repeated_LDADD = $(OMPI_LIBS)

test_bench_bench_idle_SOURCES = test/bench/bench_idle.c
test_bench_bench_idle_CPPFLAGS = $(OMPI_CPPFLAGS)
test_bench_bench_idle_LDADD = $(OMPI_LIBS)

test_bench_bench_forms_SOURCES = test/bench/bench_forms.c \
	test/bench/demands.c test/bench/demands.h
test_bench_bench_forms_CPPFLAGS = $(bench_cppflags)
test_bench_bench_forms_LDADD = sim/libvp_sim.la $(bench_libraries)

test_bench_bench_exchange_SOURCES = test/bench/bench_exchange.c $(engine_test_meter)
test_bench_bench_exchange_CPPFLAGS = $(engine_test_cppflags)
test_bench_bench_exchange_LDADD = $(engine_test_ldadd) $(CHECK_LIBS)

.PHONY: bench-exchange bench-idle bench-paced bench-planning bench-quality bench-repeated
bench-paced: all
	$(MAKE) $(AM_MAKEFLAGS) test/cuda_emu/libcuda.la test/cuda_emu/libnvidia-ml.la \
		test/cuda_emu/libcudart.la test/cuda_emu/describe
	$(TESTBED_ENVIRONMENT) $(srcdir)/test/bench/paced.sh
	VP_PACED_P2P=0 $(TESTBED_ENVIRONMENT) $(srcdir)/test/bench/paced.sh
bench-exchange: test/bench/bench_exchange
	test/bench/bench_exchange
bench-idle: all test/bench/bench_idle
	$(TESTBED_ENVIRONMENT) $(srcdir)/test/bench/idle.sh
bench-repeated: all test/bench/bench_repeated
	$(TESTBED_ENVIRONMENT) $(srcdir)/test/bench/repeated.sh
bench-planning: test/bench/bench_planning
	test/bench/bench_planning
bench-quality: test/bench/bench_quality test/bench/bench_forms
	test/bench/bench_quality
	test/bench/bench_forms

EXTRA_DIST += \
	test/bench/four-groups.json \
	test/bench/idle.sh \
	test/bench/two-nics.json \
	test/bench/paced.sh \
	test/bench/protocol50 \
	test/bench/repeated.sh
