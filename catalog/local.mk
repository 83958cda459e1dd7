# The model and the loader: all that a process needs to use a catalog.
noinst_LTLIBRARIES += catalog/libvp_catalog.la
catalog_libvp_catalog_la_SOURCES = \
	catalog/check.c \
	catalog/check_catalog.c \
	catalog/content.h \
	catalog/content_read.c \
	catalog/content_write.c \
	catalog/diff.c catalog/diff.h \
	catalog/model.c catalog/model.h \
	catalog/nodes.c catalog/nodes.h \
	catalog/nodes_read.c \
	catalog/nodes_write.c \
	catalog/order.h \
	catalog/pci.c catalog/pci.h \
	catalog/avoid.c catalog/avoid.h \
	catalog/rescale.c catalog/rescale.h \
	catalog/restrict.c catalog/restrict.h \
	catalog/store.c catalog/store.h

# What makes catalogs: topology files and the enumeration.
noinst_LTLIBRARIES += catalog/libvp_catalog_build.la
catalog_libvp_catalog_build_la_SOURCES = \
	catalog/advice.c catalog/advice.h \
	catalog/assemble.c catalog/assemble.h \
	catalog/build.c catalog/build.h \
	catalog/draw.c catalog/draw.h \
	catalog/draw_node.c \
	catalog/enumerate.c \
	catalog/families.c catalog/families.h \
	catalog/json_read.c catalog/json_read.h \
	catalog/json_write.c catalog/json_write.h \
	catalog/picture.h \
	catalog/prune_paths.c \
	catalog/shipped.h \
	catalog/svg.c catalog/svg.h \
	catalog/topology.c catalog/topology.h \
	catalog/topology_contention.c \
	catalog/topology_expand.c catalog/topology_expansion.h \
	catalog/topology_host.c \
	catalog/topology_instances.c \
	catalog/topology_json.c \
	catalog/topology_links.c \
	catalog/topology_nics.c \
	catalog/topology_populate.c \
	catalog/topology_switches.c \
	catalog/topology_sets.c \
	catalog/topology_size.c \
	catalog/topology_synthetic.c \
	catalog/topology_spec.h
nodist_catalog_libvp_catalog_build_la_SOURCES = catalog/shipped.c
catalog_libvp_catalog_build_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)

# Shipped topologies: installed as examples, and embedded so that their names always work.
topologiesdir = $(pkgdatadir)/topologies
dist_topologies_DATA = \
	catalog/topologies/fig1-6.json \
	catalog/topologies/r5080-bf3.json \
	catalog/topologies/r5090-bf3.json \
	catalog/topologies/l20-cx7.json \
	catalog/topologies/r5080-cx8.json
EXTRA_DIST += catalog/embed.sh
CLEANFILES += catalog/shipped.c catalog/shipped.c.tmp

catalog/shipped.c: catalog/embed.sh $(dist_topologies_DATA)
	$(AM_V_GEN)$(MKDIR_P) catalog && \
	$(SHELL) $(srcdir)/catalog/embed.sh '$(AWK)' $(srcdir) $(dist_topologies_DATA) \
		> $@.tmp && mv -f $@.tmp $@
