noinst_LTLIBRARIES += sim/libvp_sim.la
sim_libvp_sim_la_SOURCES = \
	sim/baselines/all_at_once.c \
	sim/baselines/baselines.h \
	sim/baselines/birkhoff.c sim/baselines/birkhoff.h \
	sim/baselines/deepep_nic.c \
	sim/baselines/deepep_rail.c \
	sim/baselines/fast.c \
	sim/baselines/flexlink.c \
	sim/baselines/mpich_scattered.c \
	sim/baselines/msccl.c \
	sim/baselines/nccl.c \
	sim/baselines/nccl_host.c \
	sim/baselines/nccl_path.c \
	sim/baselines/nccl_schedule.c \
	sim/baselines/nearest.c \
	sim/baselines/nimble.c \
	sim/baselines/openmpi_linear.c \
	sim/baselines/openmpi_pairwise.c \
	sim/baselines/rails.c \
	sim/baselines/stepped.c \
	sim/baselines/table.c \
	sim/baselines/ucc.c \
	sim/demand_gen.c sim/demand_gen.h \
	sim/demand_moe.c sim/demand_moe.h \
	sim/events.c sim/events.h \
	sim/execute.c sim/execute.h \
	sim/fail.c sim/fail.h \
	sim/fill.c \
	sim/machine.c sim/machine.h \
	sim/network.c sim/network.h \
	sim/path.c \
	sim/play_steps.c \
	sim/random.h \
	sim/run.c \
	sim/simulation.c sim/simulation.h \
	sim/state.h \
	sim/steps.c sim/steps.h \
	sim/traffic.c sim/traffic.h \
	sim/usage.c
sim_libvp_sim_la_LIBADD = -lm
