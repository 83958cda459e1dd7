/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/pci.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Hexadecimal digits up to `stop`; false unless there are 1 .. max_digits of them. */
static bool parse_hex(const char **text, char stop, size_t max_digits, uint32_t max,
                      uint32_t *value_p)
{
    const char *end = strchr(*text, stop);
    size_t n = end == NULL ? 0 : (size_t)(end - *text);
    uint32_t value = 0;
    size_t i;

    if (end == NULL || n == 0 || n > max_digits || strspn(*text, "0123456789abcdefABCDEF") < n) {
        return false;
    }
    for (i = 0; i < n; i++) {
        char digit = (*text)[i];

        value = value * 16 + (uint32_t)(digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
    }
    if (value > max) {
        return false;
    }
    *text = stop == '\0' ? end : end + 1;
    *value_p = value;
    return true;
}

bool vp_pci_parse(const char *text, vp_pci_t *pci_p)
{
    const char *colon = strchr(text, ':');
    uint32_t domain = 0;
    uint32_t bus;
    uint32_t device;
    uint32_t function;

    if (colon != NULL && strchr(colon + 1, ':') != NULL &&
        !parse_hex(&text, ':', 8, UINT32_MAX, &domain)) {
        return false;
    }
    if (!parse_hex(&text, ':', 2, 0xff, &bus) || !parse_hex(&text, '.', 2, 0x1f, &device) ||
        !parse_hex(&text, '\0', 1, 7, &function)) {
        return false;
    }
    *pci_p = (vp_pci_t)domain << 16 | bus << 8 | device << 3 | function;
    return true;
}

void vp_pci_format(vp_pci_t pci, char *text)
{
    text[0] = '\0';
    if (pci != VP_PCI_UNKNOWN) {
        (void)snprintf(text, VP_PCI_TEXT_BYTES, "%04" PRIx64 ":%02x:%02x.%x", pci >> 16,
                       (unsigned)(pci >> 8 & 0xff), (unsigned)(pci >> 3 & 0x1f),
                       (unsigned)(pci & 7));
    }
}
