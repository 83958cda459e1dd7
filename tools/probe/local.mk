# variopath-probe, an MPI program that measures links over the engine's lanes.
if VP_WITH_MPI
if VP_WITH_UCX
bin_PROGRAMS += variopath-probe
endif
endif
noinst_LTLIBRARIES += tools/probe/libvp_probe.la
tools_probe_libvp_probe_la_SOURCES = tools/probe/calibrate.c tools/probe/calibrate.h tools/probe/cases.c tools/probe/cases.h \
	tools/probe/flows.c tools/probe/flows.h \
	tools/probe/gpus.c tools/probe/gpus.h \
	tools/probe/local.c tools/probe/local.h \
	tools/probe/local_json.c \
	tools/probe/local_report.c
tools_probe_libvp_probe_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
variopath_probe_SOURCES = tools/probe/job.c tools/probe/job.h tools/probe/main.c
variopath_probe_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
variopath_probe_LDADD = \
	tools/probe/libvp_probe.la \
	coll_variopath/libvp_engine.la \
	scheduler/libvp_scheduler.la \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(UCX_LIBS) $(JANSSON_LIBS) $(OMPI_LIBS)
