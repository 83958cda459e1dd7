/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/pcie.h"

#include <string.h>

#include "base/units.h"

enum { PAYLOAD_BYTES = 256, OVERHEAD_BYTES = 24 };

typedef struct speed {
    const char *text;
    uint32_t mega_transfers_per_s;
    uint32_t code_data; /* bits that carry data, of code_line */
    uint32_t code_line;
} speed_t;

static const speed_t speeds[] = {
    {"2.5", 2500, 8, 10},      {"5", 5000, 8, 10},        {"5.0", 5000, 8, 10},
    {"8", 8000, 128, 130},     {"8.0", 8000, 128, 130},   {"16", 16000, 128, 130},
    {"16.0", 16000, 128, 130}, {"32", 32000, 128, 130},   {"32.0", 32000, 128, 130},
    {"64", 64000, 236, 256},   {"64.0", 64000, 236, 256},
};
enum { n_speeds = sizeof(speeds) / sizeof(speeds[0]) };

uint64_t vp_pcie_payload_of_decoded(uint64_t decoded_bytes_per_s)
{
    return vp_muldiv_floor(decoded_bytes_per_s, PAYLOAD_BYTES, PAYLOAD_BYTES + OVERHEAD_BYTES);
}

uint64_t vp_pcie_payload_bytes_per_s(uint32_t mega_transfers_per_s, uint32_t n_lanes)
{
    size_t i;

    for (i = 0; i < n_speeds; i++) {
        if (speeds[i].mega_transfers_per_s == mega_transfers_per_s) {
            uint64_t line = (uint64_t)mega_transfers_per_s * 1000000 / 8 * n_lanes;

            return vp_pcie_payload_of_decoded(
                vp_muldiv_floor(line, speeds[i].code_data, speeds[i].code_line));
        }
    }
    return 0;
}

bool vp_pcie_speed_parse(const char *text, uint32_t *mega_transfers_per_s_p)
{
    size_t i;

    if (text[0] == '\0' || strcmp(text, "Unknown") == 0 || strcmp(text, "Unknown speed") == 0 ||
        strcmp(text, "Unknown GT/s") == 0) {
        *mega_transfers_per_s_p = 0;
        return true;
    }
    for (i = 0; i < n_speeds; i++) {
        size_t n = strlen(speeds[i].text);

        if (strncmp(text, speeds[i].text, n) == 0 &&
            (strcmp(text + n, " GT/s") == 0 || strcmp(text + n, " GT/s PCIe") == 0)) {
            *mega_transfers_per_s_p = speeds[i].mega_transfers_per_s;
            return true;
        }
    }
    return false;
}

bool vp_pcie_is_width(uint64_t n_lanes)
{
    return n_lanes == 12 || (n_lanes <= 32 && (n_lanes & (n_lanes - 1)) == 0);
}
