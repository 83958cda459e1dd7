# The base room and the catalog room. Each test links only what its room may use.
if VP_WITH_CHECK
check_PROGRAMS += \
	test/unit/test_base \
	test/catalog/test_build \
	test/catalog/test_model \
	test/catalog/test_store \
	test/catalog/test_topology
TESTS += \
	test/unit/test_base \
	test/catalog/test_build \
	test/catalog/test_model \
	test/catalog/test_store \
	test/catalog/test_topology
endif

test_unit_test_base_SOURCES = test/unit/test_base.c
test_unit_test_base_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_unit_test_base_LDADD = base/libvp_base.la $(CHECK_LIBS)

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
