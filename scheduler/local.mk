noinst_LTLIBRARIES += scheduler/libvp_scheduler.la
scheduler_libvp_scheduler_la_SOURCES = \
	scheduler/alignment.c scheduler/alignment.h \
	scheduler/alignment_cuts.c scheduler/alignment_cuts.h \
	scheduler/assign.c scheduler/assign.h \
	scheduler/auto.c \
	scheduler/binding.c scheduler/binding.h \
	scheduler/bound.c scheduler/bound.h \
	scheduler/colour.c scheduler/colour.h \
	scheduler/colour_fit.c scheduler/colour_fit.h \
	scheduler/colour_improve.c scheduler/colour_improve.h \
	scheduler/colour_kempe.c scheduler/colour_kempe.h \
	scheduler/colour_quantum.c scheduler/colour_quantum.h \
	scheduler/colour_trim.c scheduler/colour_trim.h \
	scheduler/colouring.c scheduler/colouring.h \
	scheduler/colouring_plan.c \
	scheduler/concurrent.c scheduler/concurrent.h \
	scheduler/cost.h \
	scheduler/critical.c scheduler/critical.h \
	scheduler/critical_channel.c scheduler/critical_channel.h \
	scheduler/critical_greedy.c scheduler/critical_greedy.h \
	scheduler/critical_lanes.c scheduler/critical_lanes.h \
	scheduler/critical_split.c \
	scheduler/demand.c scheduler/demand.h \
	scheduler/demand_check.c scheduler/demand_check.h \
	scheduler/dual.c scheduler/dual.h \
	scheduler/fix.c scheduler/fix.h \
	scheduler/flow.c scheduler/flow.h \
	scheduler/fluid.c \
	scheduler/jobs.c scheduler/jobs.h \
	scheduler/jobs_cut.c \
	scheduler/list.c \
	scheduler/list_order.c scheduler/list_order.h \
	scheduler/pairwise.c \
	scheduler/paper.c \
	scheduler/plan.c scheduler/plan.h \
	scheduler/plan_check.c \
	scheduler/plan_time.c \
	scheduler/prefix.c \
	scheduler/remaining.c scheduler/remaining.h \
	scheduler/schedule.c scheduler/schedule.h \
	scheduler/scores.c scheduler/scores.h \
	scheduler/shaper.c scheduler/shaper.h \
	scheduler/shaper_network.c \
	scheduler/split.c scheduler/split.h \
	scheduler/spread.c scheduler/spread.h \
	scheduler/standing.c scheduler/standing.h
