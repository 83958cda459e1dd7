/*
 * The topologies of catalog/topologies/, embedded when the library is built
 * (catalog/embed.sh writes the tables); private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_SHIPPED_H
#define VP_CATALOG_SHIPPED_H

/* Names, NULL-terminated, and the text of each. */
extern const char *const vp_shipped_names[];
extern const char *const vp_shipped_texts[];

#endif
