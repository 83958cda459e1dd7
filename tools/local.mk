# What the sub-commands share, for their tests too.
noinst_LTLIBRARIES += tools/libvp_tools.la
tools_libvp_tools_la_SOURCES = \
	tools/command.c tools/command.h \
	tools/completion.c \
	tools/doctor/bundle.c \
	tools/doctor/bus.c \
	tools/doctor/calls.c \
	tools/doctor/doctor.h \
	tools/doctor/findings.c \
	tools/doctor/gpus.c \
	tools/doctor/limits.c \
	tools/doctor/ompi.c \
	tools/doctor/outside.c tools/doctor/outside.h \
	tools/doctor/topology.c \
	tools/doctor/ucx.c \
	tools/drawing.c tools/drawing.h \
	tools/manual.c tools/manual.h \
	tools/manual_page.c \
	tools/options.c tools/options.h \
	tools/terminal.c tools/terminal.h \
	tools/trace_read.c tools/trace_read.h \
	tools/trace_report.c tools/trace_report.h \
	tools/trace_svg.c
tools_libvp_tools_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)

bin_PROGRAMS += variopath
variopath_SOURCES = \
	tools/cmd_bound.c \
	tools/cmd_catalog.c \
	tools/cmd_demand.c \
	tools/cmd_doctor.c \
	tools/cmd_import.c tools/cmd_import.h \
	tools/cmd_plan.c \
	tools/cmd_probe.c \
	tools/cmd_simulate.c \
	tools/cmd_topology.c \
	tools/cmd_trace.c \
	tools/demand_file.c tools/demand_file.h \
	tools/exact.c tools/exact.h \
	tools/main.c \
	tools/model_json.c tools/model_json.h \
	tools/plan_svg.c tools/plan_svg.h \
	tools/schedule_file.c tools/schedule_file.h \
	tools/simulate.h \
	tools/simulate_lanes.c \
	tools/simulate_links.c \
	tools/simulate_options.c tools/simulate_options.h \
	tools/simulate_report.c \
	tools/simulate_svg.c \
	tools/simulate_usage.c
variopath_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) -DVP_TOOLS_DATA=\"$(pkgdatadir)\"
# What `variopath bound --exact` runs.
lpbounddir = $(pkgdatadir)
dist_lpbound_DATA = tools/lp_bound.py
variopath_LDADD = \
	tools/libvp_tools.la \
	tools/probe/libvp_probe.la \
	sim/libvp_sim.la \
	scheduler/libvp_scheduler.la \
	catalog/import/libvp_import.la \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS)

# The manual and the completion come from the tables that the program parses by.
variopath_pages = \
	tools/man/variopath.1 \
	tools/man/variopath-bound.1 \
	tools/man/variopath-catalog.1 \
	tools/man/variopath-demand.1 \
	tools/man/variopath-doctor.1 \
	tools/man/variopath-plan.1 \
	tools/man/variopath-probe.1 \
	tools/man/variopath-simulate.1 \
	tools/man/variopath-topology.1 \
	tools/man/variopath-trace.1
nodist_man_MANS = $(variopath_pages)
$(variopath_pages): variopath$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) tools/man && \
	name=`echo "$(@F)" | $(SED) -e 's/^variopath-*//' -e 's/[.]1$$//'` && \
	./variopath --help=man $$name >$@.part && mv $@.part $@
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = tools/completions/variopath
tools/completions/variopath: variopath$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) tools/completions && \
	./variopath --help=bash >$@.part && mv $@.part $@
CLEANFILES += $(variopath_pages) $(nodist_bashcompletion_DATA)
