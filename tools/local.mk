bin_PROGRAMS += variopath
variopath_SOURCES = \
	tools/command.h \
	tools/cmd_bound.c \
	tools/cmd_catalog.c \
	tools/cmd_demand.c \
	tools/cmd_import.c tools/cmd_import.h \
	tools/cmd_plan.c \
	tools/cmd_probe.c \
	tools/cmd_simulate.c \
	tools/cmd_topology.c \
	tools/demand_file.c tools/demand_file.h \
	tools/drawing.c tools/drawing.h \
	tools/exact.c tools/exact.h \
	tools/main.c \
	tools/model_json.c tools/model_json.h \
	tools/schedule_file.c tools/schedule_file.h \
	tools/simulate.h \
	tools/simulate_lanes.c \
	tools/simulate_options.c tools/simulate_options.h \
	tools/simulate_report.c \
	tools/simulate_svg.c \
	tools/simulate_usage.c
variopath_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) -DVP_TOOLS_DATA=\"$(pkgdatadir)\"
# What `variopath bound --exact` runs.
lpbounddir = $(pkgdatadir)
dist_lpbound_DATA = tools/lp_bound.py
variopath_LDADD = \
	tools/probe/libvp_probe.la \
	sim/libvp_sim.la \
	scheduler/libvp_scheduler.la \
	catalog/import/libvp_import.la \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS)
