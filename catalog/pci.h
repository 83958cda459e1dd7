/*
 * PCI addresses: how a GPU or NIC is told apart on its node.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_PCI_H
#define VP_CATALOG_PCI_H

#include <stdbool.h>
#include <stdint.h>

/*
 * An address as one number: domain << 16 | bus << 8 | device << 3 | function.
 * 0 (a root complex, never a GPU or NIC): unknown.
 */
typedef uint64_t vp_pci_t;
#define VP_PCI_UNKNOWN UINT64_C(0)
#define VP_PCI_MAX UINT64_C(0xffffffffffff)

enum { VP_PCI_TEXT_BYTES = 24 };

/* Reads "0000:0c:00.0": a domain of 4 to 8 digits, or none; any case. False: it is none. */
bool vp_pci_parse(const char *text, vp_pci_t *pci_p);

/* Writes it in small letters to text (VP_PCI_TEXT_BYTES); "" for an unknown address. */
void vp_pci_format(vp_pci_t pci, char *text);

#endif
