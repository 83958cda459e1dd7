/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/xml.h"

#include <inttypes.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* libxml2 writes to stderr unless somebody else listens; the one error comes from the context. */
static void be_silent(void *context, const char *format, ...)
{
    (void)context;
    (void)format;
}

bool vp_xml_is(const xmlNode *node, const char *name)
{
    return strcmp((const char *)node->name, name) == 0;
}

xmlNode *vp_xml_element(xmlNode *node)
{
    while (node != NULL && node->type != XML_ELEMENT_NODE) {
        node = node->next;
    }
    return node;
}

const char *vp_xml_attribute(const xmlNode *node, const char *name)
{
    const xmlAttr *attribute;

    for (attribute = node->properties; attribute != NULL; attribute = attribute->next) {
        if (strcmp((const char *)attribute->name, name) == 0) {
            return attribute->children != NULL && attribute->children->content != NULL
                       ? (const char *)attribute->children->content
                       : "";
        }
    }
    return NULL;
}

vp_status_t vp_xml_mistake(const char *where, const xmlNode *node, vp_error_t *error,
                           const char *format, ...)
{
    char what[VP_ERROR_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return vp_error_set(error, VP_ERR_BAD_INPUT, "%s: line %ld: <%.32s>: %s", where,
                        xmlGetLineNo(node), (const char *)node->name, what);
}

vp_status_t vp_xml_number(const char *where, const xmlNode *node, const char *name, uint64_t max,
                          uint64_t *value_p, vp_error_t *error)
{
    const char *text = vp_xml_attribute(node, name);
    uint64_t value = 0;
    size_t i;

    if (text == NULL) {
        return VP_OK;
    }
    for (i = 0; text[i] >= '0' && text[i] <= '9' && value <= max; i++) {
        if (value > (UINT64_MAX - 9) / 10) {
            value = UINT64_MAX;
            break;
        }
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    if (i == 0 || text[i] != '\0' || value > max) {
        return vp_xml_mistake(where, node, error,
                              "%s=\"%.32s\" is not a number of 0 to %" PRIu64 "; correct it", name,
                              text, max);
    }
    *value_p = value;
    return VP_OK;
}

static vp_status_t syntax_error(const char *where, xmlParserCtxt *context, vp_error_t *error)
{
    const xmlError *cause = xmlCtxtGetLastError(context);
    char what[256];
    int line = cause != NULL ? cause->line : 0;

    (void)snprintf(what, sizeof(what), "%s",
                   cause != NULL && cause->message != NULL ? cause->message : "not XML");
    what[strcspn(what, "\n")] = '\0';
    if (cause != NULL && cause->code == XML_ERR_NO_MEMORY) {
        return vp_error_no_memory(error, where);
    }
    return vp_error_set(error, VP_ERR_BAD_INPUT,
                        "%s: line %d: not well-formed XML: %s; is the file complete?", where, line,
                        what);
}

/* Depth-first, without recursion: the depth is what is being tested. */
static vp_status_t check_depth(const char *where, xmlNode *root, vp_error_t *error)
{
    xmlNode *node = root;
    int depth = 1;

    while (node != NULL) {
        if (depth > VP_XML_MAX_DEPTH) {
            return vp_xml_mistake(where, node, error, "is nested more than %d deep; no machine is",
                                  VP_XML_MAX_DEPTH);
        }
        if (node->type == XML_ELEMENT_NODE && node->children != NULL) {
            node = node->children;
            depth++;
            continue;
        }
        while (node != root && node->next == NULL) {
            node = node->parent;
            depth--;
        }
        node = node == root ? NULL : node->next;
    }
    return VP_OK;
}

static vp_status_t check_document(const char *where, xmlDoc *document, const char *root_name,
                                  vp_error_t *error)
{
    xmlNode *root = xmlDocGetRootElement(document);

    if (document->intSubset != NULL && document->intSubset->children != NULL) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: the document type declares entities or elements; files of this "
                            "kind never do, remove it",
                            where);
    }
    if (root == NULL || !vp_xml_is(root, root_name)) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: line %ld: the root element is <%.32s>, not <%s>; choose another "
                            "--format or file",
                            where, root == NULL ? 0 : xmlGetLineNo(root),
                            root == NULL ? "" : (const char *)root->name, root_name);
    }
    return check_depth(where, root, error);
}

vp_status_t vp_xml_parse(const char *where, const char *text, size_t n_bytes, const char *root,
                         xmlDoc **document_p, vp_error_t *error)
{
    const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                        XML_PARSE_COMPACT | XML_PARSE_NOCDATA;
    xmlParserCtxt *context;
    xmlDoc *document;
    vp_status_t status;

    if (n_bytes > VP_XML_MAX_BYTES) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: larger than %d bytes; no machine needs "
                            "that much",
                            where, VP_XML_MAX_BYTES);
    }
    xmlSetGenericErrorFunc(NULL, be_silent);
    context = xmlNewParserCtxt();
    if (context == NULL) {
        return vp_error_no_memory(error, where);
    }
    document = xmlCtxtReadMemory(context, text, (int)n_bytes, NULL, NULL, options);
    status = document == NULL ? syntax_error(where, context, error)
                              : check_document(where, document, root, error);
    xmlFreeParserCtxt(context);
    if (status != VP_OK) {
        xmlFreeDoc(document);
        return status;
    }
    *document_p = document;
    return VP_OK;
}
