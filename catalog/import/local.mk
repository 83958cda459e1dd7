# What a node is: the hardware tree, live discovery by hwloc, the native topology of it. All that a
# process needs to find its own node. Without hwloc no machine is discovered, and it says so.
noinst_LTLIBRARIES += catalog/import/libvp_node.la
catalog_import_libvp_node_la_SOURCES = \
	catalog/import/classify.c catalog/import/classify.h \
	catalog/import/contention.h \
	catalog/import/discover.c catalog/import/discover.h \
	catalog/import/facts.c catalog/import/facts.h \
	catalog/import/finish.c \
	catalog/import/hwloc_tree.c catalog/import/hwloc_tree.h \
	catalog/import/job.c catalog/import/job.h \
	catalog/import/live.c \
	catalog/import/machine.c catalog/import/machine.h \
	catalog/import/native.c catalog/import/native.h \
	catalog/import/native_nics.c \
	catalog/import/native_writer.h \
	catalog/import/nic_place.c catalog/import/nic_place.h \
	catalog/import/pcie.c catalog/import/pcie.h
VP_HWLOC_SOURCES = catalog/import/hwloc_live.c
if VP_WITH_HWLOC
catalog_import_libvp_node_la_SOURCES += $(VP_HWLOC_SOURCES)
endif
catalog_import_libvp_node_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(HWLOC_CFLAGS)
catalog_import_libvp_node_la_LIBADD = $(HWLOC_LIBS)

# Importers of files: hwloc, NCCL, nvidia-smi. Without libxml2 no XML is read, and it says so.
noinst_LTLIBRARIES += catalog/import/libvp_import.la
catalog_import_libvp_import_la_SOURCES = \
	catalog/import/import.c catalog/import/import.h \
	catalog/import/model_report.c catalog/import/model_report.h \
	catalog/import/report.c \
	catalog/import/smi.c catalog/import/smi.h \
	catalog/import/smi_mirror.c \
	catalog/import/smi_tree.c \
	catalog/import/unsupported.c \
	catalog/import/xml.h
if VP_WITH_LIBXML2
catalog_import_libvp_import_la_SOURCES += \
	catalog/import/hwloc_xml.c \
	catalog/import/nccl.c \
	catalog/import/xml.c
endif
catalog_import_libvp_import_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(HWLOC_CFLAGS) \
	$(LIBXML2_CFLAGS)
catalog_import_libvp_import_la_LIBADD = catalog/import/libvp_node.la $(LIBXML2_LIBS)
