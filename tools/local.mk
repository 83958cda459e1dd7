bin_PROGRAMS += variopath
variopath_SOURCES = \
	tools/command.h \
	tools/cmd_catalog.c \
	tools/cmd_plan.c \
	tools/cmd_topology.c \
	tools/main.c
variopath_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
variopath_LDADD = \
	scheduler/libvp_scheduler.la \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(JANSSON_LIBS)
