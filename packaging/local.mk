# What brings an installation to its users: the environment it needs, packages, modules.
EXTRA_DIST += packaging/variopath-env.in
CLEANFILES += packaging/variopath-env

# Directories are known in make alone, not in configure.
VP_SUBSTITUTE = $(SED) -e 's|@''prefix@|$(prefix)|g' -e 's|@''bindir@|$(bindir)|g' \
	-e 's|@''componentdir@|$(mcacomponentdir)|g' -e 's|@''UCX_LIBDIR@|$(UCX_LIBDIR)|g' \
	-e 's|@''OMPI_VERSION@|$(OMPI_VERSION)|g' -e 's|@''VERSION@|$(PACKAGE_VERSION)|g'

if VP_WITH_COMPONENT
dist_man1_MANS = packaging/variopath-env.1
bin_SCRIPTS = packaging/variopath-env
endif
packaging/variopath-env: packaging/variopath-env.in Makefile
	$(AM_V_GEN)$(MKDIR_P) packaging && \
	$(VP_SUBSTITUTE) $(srcdir)/packaging/variopath-env.in >$@.tmp && chmod +x $@.tmp && mv -f $@.tmp $@
