noinst_LTLIBRARIES += base/libvp_base.la
base_libvp_base_la_SOURCES = \
	base/array.c base/array.h \
	base/buf.c base/buf.h \
	base/file.c base/file.h \
	base/hash.c base/hash.h \
	base/log.c base/log.h \
	base/pool.c base/pool.h \
	base/status.c base/status.h \
	base/units.c base/units.h
