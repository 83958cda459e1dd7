# The Open MPI component. vp_config.h must not meet ompi_config.h, so what the
# glue needs from configure comes by -D.
if VP_WITH_COMPONENT
mcacomponent_LTLIBRARIES = mca/mca_coll_variopath.la
dist_pkgdata_DATA = mca/help-coll-variopath.txt
endif
mca_mca_coll_variopath_la_SOURCES = \
	mca/alltoallv.c \
	mca/below.c \
	mca/component.c mca/component.h \
	mca/counters.c \
	mca/discover.c mca/discover.h \
	mca/fiber.c mca/fiber.h \
	mca/help.c \
	mca/messages.c \
	mca/modex.c mca/modex.h \
	mca/module.c \
	mca/nonblocking.c \
	mca/ompi.h \
	mca/params.c \
	mca/peers.c \
	mca/process.c \
	mca/relay.c mca/relay.h mca/relay_request.c \
	mca/request.c mca/request.h \
	mca/rounds.c mca/rounds.h \
	mca/side.c mca/side.h \
	mca/stage.c \
	mca/transfer.c mca/transfer.h \
	mca/version.c \
	mca/watch.c \
	mca/widen.c
mca_mca_coll_variopath_la_CPPFLAGS = -I$(top_srcdir) -I$(top_builddir) $(OMPI_CPPFLAGS) \
	-DVP_HELP_DIR=\"$(pkgdatadir)\" \
	-DVP_VERSION_MAJOR=$(VP_VERSION_MAJOR) -DVP_VERSION_MINOR=$(VP_VERSION_MINOR) \
	-DVP_VERSION_RELEASE=$(VP_VERSION_RELEASE)
mca_mca_coll_variopath_la_LDFLAGS = -module -avoid-version -shared \
	-export-symbols-regex '^mca_coll_variopath_component$$' -Wl,--no-undefined -Wl,--as-needed
mca_mca_coll_variopath_la_LIBADD = \
	coll_variopath/libvp_engine.la \
	scheduler/libvp_scheduler.la \
	catalog/import/libvp_node.la \
	catalog/libvp_catalog_build.la \
	catalog/libvp_catalog.la \
	base/libvp_base.la \
	$(UCX_LIBS) $(JANSSON_LIBS) $(OMPI_LIBS)
EXTRA_DIST += mca/help-coll-variopath.txt mca/compat

# Open MPI's libraries scan every file of a component directory: leave only the DSO there.
if VP_WITH_COMPONENT
install-data-hook:
	rm -f $(DESTDIR)$(mcacomponentdir)/mca_coll_variopath.la
uninstall-hook:
	rm -f $(DESTDIR)$(mcacomponentdir)/mca_coll_variopath.so
endif
