/*
 * A native topology file while it is made from a machine; private to the
 * importers. Texts and lists that cannot be had for want of memory are noticed
 * at the end.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_NATIVE_WRITER_H
#define VP_CATALOG_IMPORT_NATIVE_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "catalog/import/machine.h"

enum { VP_NATIVE_TEXT_BYTES = 256 };

typedef struct vp_native_rate {
    uint64_t bytes_per_s;
    const char *origin;
} vp_native_rate_t;

typedef struct vp_native_writer {
    vp_hardware_t *machine;
    vp_error_t *error;
    json_t *rates; /* of the set "nominal" */
    json_t *links;
    json_t *paths;
    json_t *nics;
    json_t *hardware; /* path classes of the transports "hardware", "emulated" and "local" */
    json_t *emulated;
    json_t *local;
    bool *is_used;   /* [n_objects] has a GPU, or a NIC that some GPU uses, at or below it */
    uint64_t *rails; /* [n_groups] positions of the NICs that serve it among those of their switch,
                        one bit each */
    bool is_rate_assumed;
    bool has_failed; /* memory ran out */
} vp_native_writer_t;

/* Both take over the value. */
void vp_native_append(vp_native_writer_t *writer, json_t *list, json_t *item);
void vp_native_set(vp_native_writer_t *writer, json_t *object, const char *key, json_t *value);

/*
 * Name of an entry of "rates" with this content: KIND, or KIND1, KIND2 ... for
 * further contents. name: VP_HW_NAME_BYTES.
 */
void vp_native_name_rate(vp_native_writer_t *writer, const char *kind, vp_native_rate_t rate,
                         char *name);

/* Object of the first GPU of a group; all of a group are equally near to everything. */
uint32_t vp_native_first_gpu(const vp_hardware_t *machine, uint32_t group);

/*
 * Names of the links from one device to another, in order; *rate becomes the
 * slowest of it and them. A new reference.
 */
json_t *vp_native_way(vp_native_writer_t *writer, uint32_t source, uint32_t destination,
                      vp_native_rate_t *rate);

/* native_nics.c: lists the NICs and whom they serve, fills rails. VP_ERR_NO_MEMORY. */
vp_status_t vp_native_add_nics(vp_native_writer_t *writer) VP_MUST_CHECK;
/* The file's "nic_pairs". */
const char *vp_native_pairing(const vp_native_writer_t *writer);

#endif
