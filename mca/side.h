/*
 * One side of a call, send or receive, as MPI describes it: a buffer, and per
 * peer a count, a displacement and a datatype. The three shapes of arguments
 * (MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw) become pieces here; nothing
 * else in this room looks at them.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_SIDE_H
#define VP_MCA_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mca/ompi.h"

typedef enum vp_side_shape {
    VP_SIDE_UNIFORM,  /* block i starts at element i * count */
    VP_SIDE_ELEMENTS, /* counts and displacements, in elements of one type */
    VP_SIDE_BYTES     /* a type per block, displacements in bytes */
} vp_side_shape_t;

/* Borrows everything from the caller of the collective. */
typedef struct vp_side {
    vp_side_shape_t shape;
    void *buffer;
    size_t count; /* uniform */
    vp_counts_t counts;
    vp_displs_t displs;
    struct ompi_datatype_t *type;         /* uniform and elements */
    struct ompi_datatype_t *const *types; /* bytes */
} vp_side_t;

/* Block i of a side: `count` elements of `type`, the first one's origin at `address`. */
typedef struct vp_piece {
    uintptr_t address;
    size_t count;
    struct ompi_datatype_t *type;
} vp_piece_t;

/* The bytes of a piece. */
typedef struct vp_extent {
    uint64_t n_bytes; /* of data, without gaps; 0: the rest is 0 too */
    uint64_t begin;   /* touched memory: [begin, end) */
    uint64_t end;
    bool contiguous; /* data bytes lie at begin, one behind the other, in order */
} vp_extent_t;

vp_side_t vp_side_uniform(const void *buffer, size_t count, struct ompi_datatype_t *type);
vp_side_t vp_side_elements(const void *buffer, vp_counts_t counts, vp_displs_t displs,
                           struct ompi_datatype_t *type);
vp_side_t vp_side_bytes(const void *buffer, vp_counts_t counts, vp_displs_t displs,
                        struct ompi_datatype_t *const *types);

/*
 * Of n blocks: copies the handles that two sides with a type per block borrow and lets the sides
 * point to the copies, since bindings may give them in arrays that are gone when the call
 * returns. send NULL: in place. *types_p, to be freed, is NULL where there is nothing to copy.
 * False without memory.
 */
bool vp_side_keep_types(vp_side_t *send, vp_side_t *receive, int n,
                        struct ompi_datatype_t ***types_p);

vp_piece_t vp_side_piece(const vp_side_t *side, int i);
vp_extent_t vp_piece_extent(const vp_piece_t *piece);

/*
 * Between a piece and its data packed back to back, in host memory. n_bytes is
 * the piece's. False when the datatype engine fails, which it does not for
 * committed types.
 */
bool vp_piece_pack(const vp_piece_t *piece, void *packed, uint64_t n_bytes);
bool vp_piece_unpack(const vp_piece_t *piece, const void *packed, uint64_t n_bytes);

#endif
