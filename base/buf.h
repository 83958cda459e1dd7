/*
 * A growing little-endian writer and a bounded little-endian reader for the
 * formats that go to disk or over the wire. Integers have fixed widths; no
 * structure is ever written raw.
 *
 * The reader distrusts its input: a read past the end returns zeroes and sets
 * `failed`, which callers test once after a group of reads and before using
 * any count that they have read.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_BASE_BUF_H
#define VP_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vp_writer {
    uint8_t *data; /* owned; free with vp_writer_clear or take it over */
    size_t n_bytes;
    size_t capacity;
    bool failed; /* memory ran out: contents are incomplete */
} vp_writer_t;

typedef struct vp_reader {
    const uint8_t *data; /* borrowed */
    size_t n_bytes;
    size_t position;
    bool failed;    /* something was read past the end, or does not fit its limits */
    bool no_memory; /* failed, but not for what was read */
} vp_reader_t;

#define VP_WRITER_INIT                                                                             \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

void vp_writer_clear(vp_writer_t *writer);
void vp_write_bytes(vp_writer_t *writer, const void *bytes, size_t n_bytes);
void vp_write_u8(vp_writer_t *writer, uint8_t value);
void vp_write_u16(vp_writer_t *writer, uint16_t value);
void vp_write_u32(vp_writer_t *writer, uint32_t value);
void vp_write_u64(vp_writer_t *writer, uint64_t value);
/* 32-bit length, then the characters without the terminating zero. NULL is written as "". */
void vp_write_string(vp_writer_t *writer, const char *text);

void vp_reader_init(vp_reader_t *reader, const void *data, size_t n_bytes);
size_t vp_reader_left(const vp_reader_t *reader);
void vp_read_bytes(vp_reader_t *reader, void *bytes, size_t n_bytes);
uint8_t vp_read_u8(vp_reader_t *reader);
uint16_t vp_read_u16(vp_reader_t *reader);
uint32_t vp_read_u32(vp_reader_t *reader);
uint64_t vp_read_u64(vp_reader_t *reader);
/*
 * A string of at most max_bytes characters, in new memory that the caller
 * frees. NULL with `failed` set when it is longer, does not fit, holds a zero
 * byte, or (no_memory) memory is out.
 */
char *vp_read_string(vp_reader_t *reader, size_t max_bytes);
/*
 * The same into an array of `size` bytes, zero byte included. With `failed` it
 * holds nothing.
 */
void vp_read_text(vp_reader_t *reader, char *text, size_t size);

#endif
