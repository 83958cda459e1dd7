# The simulator's room: closed forms, plans, baselines, demands.
SIM_TESTS = \
	test/sim/test_baselines \
	test/sim/test_demand_gen \
	test/sim/test_execute \
	test/sim/test_network \
	test/sim/test_reference
EXTRA_DIST += test/sim/cli.sh
TESTS += test/sim/cli.sh
if VP_WITH_CHECK
check_PROGRAMS += $(SIM_TESTS)
TESTS += $(SIM_TESTS)
endif

SIM_TEST_LIBS = \
	sim/libvp_sim.la \
	scheduler/libvp_scheduler.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(CHECK_LIBS)

test_sim_test_baselines_SOURCES = test/sim/test_baselines.c test/sim/models.c test/sim/models.h
test_sim_test_baselines_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_sim_test_baselines_LDADD = $(SIM_TEST_LIBS)
test_sim_test_demand_gen_SOURCES = test/sim/test_demand_gen.c
test_sim_test_demand_gen_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_sim_test_demand_gen_LDADD = $(SIM_TEST_LIBS) -lm
test_sim_test_execute_SOURCES = test/sim/test_execute.c test/sim/models.c test/sim/models.h
test_sim_test_execute_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_sim_test_execute_LDADD = $(SIM_TEST_LIBS)
test_sim_test_network_SOURCES = test/sim/test_network.c
test_sim_test_network_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_sim_test_network_LDADD = $(SIM_TEST_LIBS)
test_sim_test_reference_SOURCES = test/sim/test_reference.c
test_sim_test_reference_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_sim_test_reference_LDADD = $(SIM_TEST_LIBS) -lm
