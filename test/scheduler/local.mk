EXTRA_DIST += \
	test/scheduler/data/fig1-6-hot.csv \
	test/scheduler/data/fig1-6-sparse70.csv \
	test/scheduler/data/fig1-6-uniform.csv \
	test/scheduler/data/fig1-6-zipf06.csv \
	test/scheduler/data/r5080-bf3-1-hot.csv \
	test/scheduler/data/r5080-bf3-1-sparse70.csv \
	test/scheduler/data/r5080-bf3-1-uniform.csv \
	test/scheduler/data/r5080-bf3-1-zipf06.csv \
	test/scheduler/data/r5080-bf3-2-hot.csv \
	test/scheduler/data/r5080-bf3-2-sparse70.csv \
	test/scheduler/data/r5080-bf3-2-uniform.csv \
	test/scheduler/data/r5080-bf3-2-zipf06.csv

if VP_WITH_CHECK
# Machines, catalogs and demands that the tests of this room share.
check_LTLIBRARIES += test/scheduler/libvp_test_scheduler.la
test_scheduler_libvp_test_scheduler_la_SOURCES = \
	test/scheduler/demands.c test/scheduler/demands.h \
	test/scheduler/machines.c test/scheduler/machines.h
test_scheduler_libvp_test_scheduler_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DVP_TEST_SCHEDULER_DATA=\"$(abs_top_srcdir)/test/scheduler/data\"

scheduler_tests = \
	test/scheduler/test_alignment \
	test/scheduler/test_assign \
	test/scheduler/test_binding \
	test/scheduler/test_bound \
	test/scheduler/test_colour \
	test/scheduler/test_critical \
	test/scheduler/test_demand \
	test/scheduler/test_flow \
	test/scheduler/test_list \
	test/scheduler/test_paper \
	test/scheduler/test_plan \
	test/scheduler/test_prefix \
	test/scheduler/test_properties \
	test/scheduler/test_rates \
	test/scheduler/test_remaining \
	test/scheduler/test_scores \
	test/scheduler/test_shaper \
	test/scheduler/test_sharing
check_PROGRAMS += $(scheduler_tests)
TESTS += $(scheduler_tests)

scheduler_test_libraries = \
	test/scheduler/libvp_test_scheduler.la \
	scheduler/libvp_scheduler.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(CHECK_LIBS)

test_scheduler_test_assign_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_assign_LDADD = $(scheduler_test_libraries)
test_scheduler_test_binding_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_binding_LDADD = $(scheduler_test_libraries)
test_scheduler_test_bound_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_bound_LDADD = $(scheduler_test_libraries)
test_scheduler_test_demand_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_demand_LDADD = $(scheduler_test_libraries)
test_scheduler_test_paper_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_paper_LDADD = $(scheduler_test_libraries)
test_scheduler_test_plan_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_plan_LDADD = $(scheduler_test_libraries)
test_scheduler_test_rates_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_rates_LDADD = $(scheduler_test_libraries)
test_scheduler_test_remaining_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_remaining_LDADD = $(scheduler_test_libraries)
test_scheduler_test_flow_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_flow_LDADD = $(scheduler_test_libraries)
test_scheduler_test_scores_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_scores_LDADD = $(scheduler_test_libraries)
test_scheduler_test_shaper_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_shaper_LDADD = $(scheduler_test_libraries)
test_scheduler_test_alignment_SOURCES = test/scheduler/test_alignment.c \
	test/scheduler/random_machines.c test/scheduler/random_machines.h
test_scheduler_test_alignment_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_alignment_LDADD = $(scheduler_test_libraries)
test_scheduler_test_colour_SOURCES = test/scheduler/test_colour.c \
	test/scheduler/random_machines.c test/scheduler/random_machines.h
test_scheduler_test_colour_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_colour_LDADD = $(scheduler_test_libraries)
test_scheduler_test_critical_SOURCES = test/scheduler/test_critical.c \
	test/scheduler/random_machines.c test/scheduler/random_machines.h
test_scheduler_test_critical_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_critical_LDADD = $(scheduler_test_libraries)
test_scheduler_test_list_SOURCES = test/scheduler/test_list.c \
	test/scheduler/random_machines.c test/scheduler/random_machines.h
test_scheduler_test_list_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_list_LDADD = $(scheduler_test_libraries)
test_scheduler_test_sharing_SOURCES = test/scheduler/test_sharing.c \
	test/scheduler/random_machines.c test/scheduler/random_machines.h
test_scheduler_test_sharing_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_sharing_LDADD = $(scheduler_test_libraries)
test_scheduler_test_properties_SOURCES = test/scheduler/test_properties.c \
	test/scheduler/random_machines.c test/scheduler/random_machines.h
test_scheduler_test_properties_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_properties_LDADD = $(scheduler_test_libraries)
test_scheduler_test_prefix_SOURCES = test/scheduler/test_prefix.c \
	test/scheduler/random_machines.c test/scheduler/random_machines.h
test_scheduler_test_prefix_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_scheduler_test_prefix_LDADD = $(scheduler_test_libraries)
endif
