noinst_LTLIBRARIES += scheduler/libvp_scheduler.la
scheduler_libvp_scheduler_la_SOURCES = \
	scheduler/assign.c scheduler/assign.h \
	scheduler/binding.c scheduler/binding.h \
	scheduler/bound.c scheduler/bound.h \
	scheduler/demand.c scheduler/demand.h \
	scheduler/demand_check.c scheduler/demand_check.h \
	scheduler/dual.c scheduler/dual.h \
	scheduler/fix.c scheduler/fix.h \
	scheduler/flow.c scheduler/flow.h \
	scheduler/fluid.c \
	scheduler/pairwise.c \
	scheduler/paper.c \
	scheduler/plan.c scheduler/plan.h \
	scheduler/plan_check.c \
	scheduler/remaining.c scheduler/remaining.h \
	scheduler/schedule.c scheduler/schedule.h \
	scheduler/scores.c scheduler/scores.h \
	scheduler/shaper.c scheduler/shaper.h \
	scheduler/shaper_network.c
