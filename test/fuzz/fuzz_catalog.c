/*
 * The loader of catalog files. Its checksum would stop nearly every input, so
 * length and checksum are made right first, and the fingerprint for inputs
 * whose build time is odd: that reaches the checks behind both.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "catalog/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Offsets of docs/catalog-format.md. */
enum { AT_LENGTH = 12, AT_CHECKSUM = 20, AT_FINGERPRINT = 28, AT_BUILD_TIME = 36, AT_CONTENT = 52 };

static void write_u64(uint8_t *at, uint64_t value)
{
    int i;

    for (i = 0; i < 8; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void reseal(uint8_t *data, size_t n_bytes)
{
    if ((data[AT_BUILD_TIME] & 1) != 0) {
        write_u64(data + AT_FINGERPRINT, vp_hash64(data + AT_CONTENT, n_bytes - AT_CONTENT));
    }
    write_u64(data + AT_LENGTH, n_bytes);
    write_u64(data + AT_CHECKSUM, vp_hash64(data + AT_FINGERPRINT, n_bytes - AT_FINGERPRINT));
}

/* What is accepted must be encoded to the same contents again. */
static void check_round_trip(const vp_catalog_t *catalog, const uint8_t *data, size_t n_bytes)
{
    uint8_t *again = NULL;
    size_t n_again = 0;

    if (vp_catalog_encode(catalog, &again, &n_again, NULL) == VP_OK &&
        (n_again != n_bytes || memcmp(again, data, n_bytes) != 0)) {
        abort();
    }
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    vp_error_t error;
    vp_catalog_t *catalog = NULL;
    uint8_t *copy = malloc(n_bytes + 1);

    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, data, n_bytes);
    if (n_bytes > AT_CONTENT) {
        reseal(copy, n_bytes);
    }
    if (vp_catalog_decode(copy, n_bytes, "fuzz", &catalog, &error) == VP_OK) {
        check_round_trip(catalog, copy, n_bytes);
    } else if (error.text[0] == '\0' || error.status == VP_OK) {
        abort();
    }
    vp_catalog_destroy(catalog);
    free(copy);
    return 0;
}
