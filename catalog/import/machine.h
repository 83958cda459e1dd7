/*
 * One node's hardware as the importers read it: a tree
 *
 *   system > package > host bridge > switch > ... > GPU or NIC
 *
 * in which a level may be absent (NCCL files know no packages). Every source
 * format becomes this tree; grouping, path kinds, nearest NICs and the native
 * topology file are derived from it and from nothing else.
 *
 * Rates are payload rates, not line rates; 0 means that the source does not
 * tell. Format and rules: docs/importers.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_MACHINE_H
#define VP_CATALOG_IMPORT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    VP_HW_MAX_NODES = 65536,
    VP_HW_MAX_GPUS = 256, /* of one node */
    VP_HW_MAX_NICS = 512, /* all ports, usable or not */
    VP_HW_MAX_NOTES = 4096,
    VP_HW_NAME_BYTES = 64,
    VP_HW_ORIGIN_BYTES = 96,
    VP_HW_TEXT_BYTES = 256
};

#define VP_HW_NONE UINT32_MAX /* no object, no index */

typedef enum vp_hw_kind {
    VP_HW_SYSTEM,
    VP_HW_PACKAGE,     /* a socket */
    VP_HW_HOST_BRIDGE, /* a PCIe root complex */
    VP_HW_SWITCH,      /* a PCIe switch: upstream port and all its downstream ports */
    VP_HW_GPU,
    VP_HW_NIC,
    VP_HW_GONE /* taken out of the tree */
} vp_hw_kind_t;

/* How two devices reach each other: the columns of `nvidia-smi topo -m`, nearest first. */
typedef enum vp_hw_class {
    VP_HW_SELF,
    VP_HW_PIX,
    VP_HW_PXB,
    VP_HW_PHB,
    VP_HW_NODE,
    VP_HW_SYS,
    VP_HW_N_CLASSES
} vp_hw_class_t;

typedef struct vp_hw_pci {
    uint32_t domain;
    uint8_t bus;
    uint8_t device;
    uint8_t function;
    bool is_known;
} vp_hw_pci_t;

typedef struct vp_hw_object {
    vp_hw_kind_t kind;
    uint32_t parent; /* a smaller index; VP_HW_NONE: the system */
    vp_hw_pci_t pci;
    char name[VP_HW_NAME_BYTES];
    bool is_certain;           /* switch: there even if it holds a single card */
    uint32_t numa;             /* NUMA node; VP_HW_NONE: unknown */
    uint64_t link_bytes_per_s; /* of the link towards the parent, one direction */
    char link_origin[VP_HW_ORIGIN_BYTES];
    uint32_t ordinal;  /* GPU: its number in the source; VP_HW_NONE: order of appearance */
    bool is_rdma;      /* NIC: has an RDMA device, or the source cannot tell */
    uint64_t card_key; /* NIC without address: equal keys are one card; 0: cannot be told */
    uint64_t port_bytes_per_s;
    uint32_t card; /* NIC, set by finish: object of the first port of the same card */
} vp_hw_object_t;

/* Something of the source that the import does not use. */
typedef struct vp_hw_note {
    char what[VP_HW_NAME_BYTES];
    char why[VP_HW_TEXT_BYTES];
} vp_hw_note_t;

typedef struct vp_machine {
    const char *format; /* "hwloc", "nccl", "nvidia-smi"; static storage */
    uint32_t n_objects;
    uint32_t n_gpus;
    uint32_t n_nics;
    uint32_t n_groups;
    uint32_t n_notes;
    size_t object_capacity;
    size_t note_capacity;
    vp_hw_object_t *objects; /* objects[0] is the system */
    vp_hw_note_t *notes;
    uint32_t *gpus;      /* [n_gpus] objects, in GPU order */
    uint32_t *gpu_group; /* [n_gpus] */
    uint32_t *nics;      /* [n_nics] objects of the usable NIC ports, in order of appearance */
} vp_hardware_t;

/* An empty machine (only the system), or NULL when memory is out. */
vp_hardware_t *vp_hardware_create(const char *format);
void vp_hardware_destroy(vp_hardware_t *machine);

/*
 * Appends an object below `parent`; the pointer is valid until the next
 * append. VP_ERR_LIMIT beyond VP_HW_MAX_NODES, with `where` in the message.
 */
vp_status_t vp_hardware_add(vp_hardware_t *machine, vp_hw_kind_t kind, uint32_t parent,
                            const char *where, vp_hw_object_t **object_p,
                            vp_error_t *error) VP_MUST_CHECK;

/* Records what is not used and why. Notes beyond VP_HW_MAX_NOTES are dropped. */
vp_status_t vp_hardware_note(vp_hardware_t *machine, vp_error_t *error, const char *what,
                             const char *format, ...)
    __attribute__((format(printf, 4, 5))) VP_MUST_CHECK;

/*
 * Completes a machine whose objects are all there: takes private bridges out,
 * joins the ports of a card, puts GPUs and NICs in order, groups GPUs by
 * their lowest common switch. `where` names the source in messages.
 * VP_ERR_BAD_INPUT: no GPU; two devices at one address, two GPUs of one number,
 * two NICs of one name.
 * VP_ERR_LIMIT; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_hardware_finish(vp_hardware_t *machine, const char *where,
                               vp_error_t *error) VP_MUST_CHECK;

/* How two objects of a finished machine reach each other, and over how many tree edges. */
vp_hw_class_t vp_hardware_class(const vp_hardware_t *machine, uint32_t a, uint32_t b);
uint32_t vp_hardware_hops(const vp_hardware_t *machine, uint32_t a, uint32_t b);
uint32_t vp_hardware_common(const vp_hardware_t *machine, uint32_t a, uint32_t b);

/*
 * Makes a name of the source printable ASCII, in place: it goes to terminals
 * and into JSON, and may have been cut inside a character.
 */
void vp_hw_name_clean(char *name);

/* "PIX"; static storage. */
const char *vp_hw_class_text(vp_hw_class_t class);

/* Is the NIC (index into nics) among the nearest of the GPU (index into gpus)? */
bool vp_hardware_is_nearest(const vp_hardware_t *machine, uint32_t gpu_idx, uint32_t nic_idx);

/*
 * Reads "0000:0c:00.0" (domain of 4 to 8 digits, or none; any case), or
 * writes it to text (at least VP_HW_NAME_BYTES): "" for an unknown address.
 */
bool vp_hw_pci_parse(const char *text, vp_hw_pci_t *pci_p);
void vp_hw_pci_format(const vp_hw_pci_t *pci, char *text);
/* Can it be the address of a GPU or NIC? "0000:00:00.0" is that of the host bridge. */
bool vp_hw_pci_is_device(const vp_hw_pci_t *pci);

#endif
