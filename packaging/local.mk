# What brings an installation to its users: the environment it needs, packages, modules.
EXTRA_DIST += packaging/variopath-env.in packaging/modulefile.in packaging/variopath.spec packaging/spack/package.py
CLEANFILES += packaging/variopath-env packaging/modulefile

# Directories are known in make alone, not in configure.
VP_SUBSTITUTE = $(SED) -e 's|@''prefix@|$(prefix)|g' -e 's|@''bindir@|$(bindir)|g' \
	-e 's|@''componentdir@|$(mcacomponentdir)|g' -e 's|@''UCX_LIBDIR@|$(UCX_LIBDIR)|g' \
	-e 's|@''mandir@|$(mandir)|g' -e 's|@''PMIX_COMPONENT_DIR@|$(PMIX_COMPONENT_DIR)|g' \
	-e 's|@''OMPI_VERSION@|$(OMPI_VERSION)|g' -e 's|@''VERSION@|$(PACKAGE_VERSION)|g'

if VP_WITH_COMPONENT
dist_man1_MANS = packaging/variopath-env.1
bin_SCRIPTS = packaging/variopath-env
nodist_pkgdata_DATA = packaging/modulefile
endif
packaging/variopath-env: packaging/variopath-env.in Makefile
	$(AM_V_GEN)$(MKDIR_P) packaging && \
	$(VP_SUBSTITUTE) $(srcdir)/packaging/variopath-env.in >$@.tmp && chmod +x $@.tmp && mv -f $@.tmp $@
EXTRA_DIST += debian/changelog debian/clean debian/control debian/copyright debian/rules debian/source/format \
	debian/variopath.docs debian/variopath.examples debian/variopath.lintian-overrides
packaging/modulefile: packaging/modulefile.in Makefile
	$(AM_V_GEN)$(MKDIR_P) packaging && \
	$(VP_SUBSTITUTE) $(srcdir)/packaging/modulefile.in >$@.tmp && mv -f $@.tmp $@

# The component inside Open MPI's own source tree, for sites without its development headers.
EXTRA_DIST += packaging/ompi-intree.sh packaging/ompi-intree/configure.m4
ompi-intree: catalog/shipped.c
	@$(SHELL) $(srcdir)/packaging/ompi-intree.sh '$(DIR)' $(srcdir) . $(PACKAGE_VERSION) \
		$(mca_mca_coll_variopath_la_SOURCES) $(coll_variopath_libvp_engine_la_SOURCES) \
		$(scheduler_libvp_scheduler_la_SOURCES) $(catalog_import_libvp_node_la_SOURCES) \
		$(VP_HWLOC_SOURCES) catalog/import/import.h $(catalog_libvp_catalog_build_la_SOURCES) catalog/shipped.c \
		$(catalog_libvp_catalog_la_SOURCES) $(base_libvp_base_la_SOURCES)
.PHONY: ompi-intree
