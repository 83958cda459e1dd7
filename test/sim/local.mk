# The simulator's room: closed forms, plans, baselines, demands.
SIM_TESTS = \
	test/sim/test_baselines \
	test/sim/test_demand_gen \
	test/sim/test_execute \
	test/sim/test_network \
	test/sim/test_reference \
	test/sim/test_steps
sim_shell_tests = \
	test/sim/cli.sh \
	test/sim/nearest_ratio.sh \
	test/sim/synthesizers.sh
EXTRA_DIST += $(sim_shell_tests) \
	test/sim/data/four-switches.json \
	test/sim/data/nearest_ratio.csv \
	test/sim/data/reference/random-8.csv \
	test/sim/data/reference/random-16.csv \
	test/sim/data/reference/random-32.csv \
	test/sim/data/reference/zipf-pairs-8.csv \
	test/sim/data/reference/zipf-pairs-16.csv \
	test/sim/data/reference/zipf-pairs-32.csv \
	test/sim/data/reference/zipf-rows-8.csv \
	test/sim/data/reference/zipf-rows-16.csv \
	test/sim/data/reference/zipf-rows-32.csv \
	test/sim/data/reference/hot-destination-8.csv \
	test/sim/data/reference/hot-destination-16.csv \
	test/sim/data/reference/hot-destination-32.csv \
	test/sim/data/reference/hot-moe-8.csv \
	test/sim/data/reference/hot-moe-16.csv \
	test/sim/data/reference/hot-moe-32.csv \
	test/sim/highs.sh \
	test/sim/nearest_ratio.py \
	test/sim/reference_demands.py \
	test/sim/synthesizers/activations.py \
	test/sim/synthesizers/common.py \
	test/sim/synthesizers/sccl.py \
	test/sim/synthesizers/taccl.py \
	test/sim/synthesizers/teccl.py
TESTS += $(sim_shell_tests)
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
test_sim_test_steps_SOURCES = test/sim/test_steps.c test/sim/models.c test/sim/models.h
test_sim_test_steps_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
test_sim_test_steps_LDADD = $(SIM_TEST_LIBS)
