/*
 * XML of untrusted origin: bounded, without entities, network or external
 * files; the first mistake with file and line.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_XML_H
#define VP_CATALOG_IMPORT_XML_H

#include <libxml/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { VP_XML_MAX_BYTES = 32 * 1024 * 1024, VP_XML_MAX_DEPTH = 128 };

/*
 * Parses the text and checks the depth. VP_ERR_BAD_INPUT: not well-formed, an
 * entity declared, too deep, or the root element is not `root`. Release with
 * xmlFreeDoc.
 */
vp_status_t vp_xml_parse(const char *where, const char *text, size_t n_bytes, const char *root,
                         xmlDoc **document_p, vp_error_t *error) VP_MUST_CHECK;

bool vp_xml_is(const xmlNode *node, const char *name);
/* The next element at or behind `node` among its siblings, or NULL. */
xmlNode *vp_xml_element(xmlNode *node);

/*
 * The text of an attribute, borrowed from the document; NULL when it is
 * absent, "" when it is empty.
 */
const char *vp_xml_attribute(const xmlNode *node, const char *name);

/* VP_ERR_BAD_INPUT "WHERE: line N: ...". */
vp_status_t vp_xml_mistake(const char *where, const xmlNode *node, vp_error_t *error,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * An attribute that is a decimal number of 0 .. max; *value_p untouched when
 * it is absent.
 */
vp_status_t vp_xml_number(const char *where, const xmlNode *node, const char *name, uint64_t max,
                          uint64_t *value_p, vp_error_t *error) VP_MUST_CHECK;

#endif
