# The engine and its lanes; each lane is a UCX put.
if VP_WITH_UCX
noinst_LTLIBRARIES += coll_variopath/libvp_engine.la
endif
coll_variopath_libvp_engine_la_SOURCES = \
	coll_variopath/agree.c \
	coll_variopath/cache.c \
	coll_variopath/clock.h \
	coll_variopath/device.c coll_variopath/device.h \
	coll_variopath/device_copy.c coll_variopath/device_driver.h \
	coll_variopath/device_place.c coll_variopath/device_place.h \
	coll_variopath/dump.c coll_variopath/dump.h \
	coll_variopath/engine.c coll_variopath/engine.h \
	coll_variopath/engine_private.h \
	coll_variopath/exchange.c \
	coll_variopath/execute.c \
	coll_variopath/lanes.c coll_variopath/lanes.h \
	coll_variopath/lanes_endpoint.c \
	coll_variopath/lanes_inbox.c \
	coll_variopath/lanes_memory.c \
	coll_variopath/lanes_operation.c \
	coll_variopath/lanes_outbox.c \
	coll_variopath/lanes_private.h \
	coll_variopath/lanes_stage.h \
	coll_variopath/learn.c coll_variopath/learn.h \
	coll_variopath/leaders.c coll_variopath/leaders.h \
	coll_variopath/losses.c \
	coll_variopath/place.c \
	coll_variopath/program.c \
	coll_variopath/record.c coll_variopath/record.h \
	coll_variopath/run.h \
	coll_variopath/regions.c \
	coll_variopath/setup.c \
	coll_variopath/signals.c \
	coll_variopath/surroundings.h \
	coll_variopath/trace.c coll_variopath/trace.h \
	coll_variopath/trace_chrome.c \
	coll_variopath/trust.c \
	coll_variopath/verdict.c \
	coll_variopath/waits.c coll_variopath/waits.h \
	coll_variopath/windows.c
coll_variopath_libvp_engine_la_CPPFLAGS = $(AM_CPPFLAGS) $(UCX_CFLAGS)
