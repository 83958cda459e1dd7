/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void vp_writer_clear(vp_writer_t *writer)
{
    free(writer->data);
    *writer = (vp_writer_t)VP_WRITER_INIT;
}

void vp_write_bytes(vp_writer_t *writer, const void *bytes, size_t n_bytes)
{
    if (writer->failed || n_bytes == 0) {
        return;
    }
    if (n_bytes > SIZE_MAX - writer->n_bytes ||
        !vp_array_reserve(&writer->data, &writer->capacity, writer->n_bytes + n_bytes, 1)) {
        writer->failed = true;
        return;
    }
    memcpy(writer->data + writer->n_bytes, bytes, n_bytes);
    writer->n_bytes += n_bytes;
}

static void write_integer(vp_writer_t *writer, uint64_t value, size_t n_bytes)
{
    uint8_t bytes[8];
    size_t i;

    for (i = 0; i < n_bytes; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    vp_write_bytes(writer, bytes, n_bytes);
}

void vp_write_u8(vp_writer_t *writer, uint8_t value)
{
    write_integer(writer, value, 1);
}

void vp_write_u16(vp_writer_t *writer, uint16_t value)
{
    write_integer(writer, value, 2);
}

void vp_write_u32(vp_writer_t *writer, uint32_t value)
{
    write_integer(writer, value, 4);
}

void vp_write_u64(vp_writer_t *writer, uint64_t value)
{
    write_integer(writer, value, 8);
}

void vp_write_string(vp_writer_t *writer, const char *text)
{
    size_t n_bytes = text == NULL ? 0 : strlen(text);

    if (n_bytes > UINT32_MAX) {
        writer->failed = true;
        return;
    }
    vp_write_u32(writer, (uint32_t)n_bytes);
    vp_write_bytes(writer, text, n_bytes);
}

void vp_reader_init(vp_reader_t *reader, const void *data, size_t n_bytes)
{
    reader->data = data;
    reader->n_bytes = n_bytes;
    reader->position = 0;
    reader->failed = false;
    reader->no_memory = false;
}

size_t vp_reader_left(const vp_reader_t *reader)
{
    return reader->failed ? 0 : reader->n_bytes - reader->position;
}

void vp_read_bytes(vp_reader_t *reader, void *bytes, size_t n_bytes)
{
    if (n_bytes > vp_reader_left(reader)) {
        reader->failed = true;
        memset(bytes, 0, n_bytes);
        return;
    }
    if (n_bytes > 0) {
        memcpy(bytes, reader->data + reader->position, n_bytes);
        reader->position += n_bytes;
    }
}

static uint64_t read_integer(vp_reader_t *reader, size_t n_bytes)
{
    uint8_t bytes[8];
    uint64_t value = 0;
    size_t i;

    vp_read_bytes(reader, bytes, n_bytes);
    for (i = 0; i < n_bytes; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

uint8_t vp_read_u8(vp_reader_t *reader)
{
    return (uint8_t)read_integer(reader, 1);
}

uint16_t vp_read_u16(vp_reader_t *reader)
{
    return (uint16_t)read_integer(reader, 2);
}

uint32_t vp_read_u32(vp_reader_t *reader)
{
    return (uint32_t)read_integer(reader, 4);
}

uint64_t vp_read_u64(vp_reader_t *reader)
{
    return read_integer(reader, 8);
}

char *vp_read_string(vp_reader_t *reader, size_t max_bytes)
{
    uint32_t n_bytes = vp_read_u32(reader);
    char *text;

    if (reader->failed || n_bytes > max_bytes || n_bytes > vp_reader_left(reader)) {
        reader->failed = true;
        return NULL;
    }
    text = malloc((size_t)n_bytes + 1);
    if (text == NULL) {
        reader->failed = true;
        reader->no_memory = true;
        return NULL;
    }
    vp_read_bytes(reader, text, n_bytes);
    text[n_bytes] = '\0';
    if (strlen(text) != n_bytes) {
        reader->failed = true;
        free(text);
        return NULL;
    }
    return text;
}

void vp_read_text(vp_reader_t *reader, char *text, size_t size)
{
    uint32_t n_bytes = vp_read_u32(reader);

    text[0] = '\0';
    if (reader->failed || n_bytes >= size || n_bytes > vp_reader_left(reader)) {
        reader->failed = true;
        return;
    }
    vp_read_bytes(reader, text, n_bytes);
    text[n_bytes] = '\0';
    if (strlen(text) != n_bytes) {
        text[0] = '\0';
        reader->failed = true;
    }
}
