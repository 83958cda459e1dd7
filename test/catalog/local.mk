# The base room and the catalog room. Each test links only what its room may use.
if VP_WITH_CHECK
check_PROGRAMS += \
	test/unit/test_base \
	test/catalog/test_assemble \
	test/catalog/test_avoid \
	test/catalog/test_rescale \
	test/catalog/test_build \
	test/catalog/test_host \
	test/catalog/test_model \
	test/catalog/test_restrict \
	test/catalog/test_store \
	test/catalog/test_topology \
	test/catalog/test_view
TESTS += \
	test/unit/test_base \
	test/catalog/test_assemble \
	test/catalog/test_avoid \
	test/catalog/test_rescale \
	test/catalog/test_build \
	test/catalog/test_host \
	test/catalog/test_model \
	test/catalog/test_restrict \
	test/catalog/test_store \
	test/catalog/test_topology \
	test/catalog/test_view
endif

test_unit_test_base_SOURCES = test/unit/test_base.c
test_unit_test_base_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_unit_test_base_LDADD = base/libvp_base.la $(CHECK_LIBS)

test_catalog_test_assemble_SOURCES = test/catalog/test_assemble.c
test_catalog_test_assemble_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_assemble_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)

test_catalog_test_build_SOURCES = \
	test/catalog/brute_force.c test/catalog/brute_force.h \
	test/catalog/machines.c test/catalog/machines.h \
	test/catalog/test_build.c
test_catalog_test_build_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_build_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)

test_catalog_test_model_SOURCES = \
	test/catalog/machines.c test/catalog/machines.h \
	test/catalog/test_model.c
test_catalog_test_model_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_model_LDADD = \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(CHECK_LIBS)

test_catalog_test_store_SOURCES = \
	test/catalog/machines.c test/catalog/machines.h \
	test/catalog/test_store.c
test_catalog_test_store_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_store_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)

test_catalog_test_topology_SOURCES = test/catalog/test_topology.c
test_catalog_test_topology_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_topology_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)

test_catalog_test_rescale_SOURCES = test/catalog/test_rescale.c
test_catalog_test_rescale_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_rescale_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)

test_catalog_test_avoid_SOURCES = test/catalog/test_avoid.c
test_catalog_test_avoid_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_avoid_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)

test_catalog_test_restrict_SOURCES = \
	test/catalog/machines.c test/catalog/machines.h \
	test/catalog/test_restrict.c
test_catalog_test_restrict_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_restrict_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)

test_catalog_test_view_SOURCES = test/catalog/test_view.c
test_catalog_test_view_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_view_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)

test_catalog_test_host_SOURCES = test/catalog/test_host.c
test_catalog_test_host_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_catalog_test_host_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS) $(CHECK_LIBS)

# Not part of `make check`: minutes of measurement, prints a table.
EXTRA_PROGRAMS += test/bench/bench_catalog
test_bench_bench_catalog_SOURCES = test/bench/bench_catalog.c
test_bench_bench_catalog_LDADD = \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS)

.PHONY: bench-catalog
bench-catalog: test/bench/bench_catalog$(EXEEXT)
	./test/bench/bench_catalog$(EXEEXT)
