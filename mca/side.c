/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/side.h"

#include <string.h>

#include "base/array.h"

vp_side_t vp_side_uniform(const void *buffer, size_t count, struct ompi_datatype_t *type)
{
    return (vp_side_t){.shape = VP_SIDE_UNIFORM,
                       .buffer = (void *)(uintptr_t)buffer,
                       .count = count,
                       .type = type};
}

vp_side_t vp_side_elements(const void *buffer, vp_counts_t counts, vp_displs_t displs,
                           struct ompi_datatype_t *type)
{
    return (vp_side_t){.shape = VP_SIDE_ELEMENTS,
                       .buffer = (void *)(uintptr_t)buffer,
                       .counts = counts,
                       .displs = displs,
                       .type = type};
}

vp_side_t vp_side_bytes(const void *buffer, vp_counts_t counts, vp_displs_t displs,
                        struct ompi_datatype_t *const *types)
{
    return (vp_side_t){.shape = VP_SIDE_BYTES,
                       .buffer = (void *)(uintptr_t)buffer,
                       .counts = counts,
                       .displs = displs,
                       .types = types};
}

bool vp_side_keep_types(vp_side_t *send, vp_side_t *receive, int n,
                        struct ompi_datatype_t ***types_p)
{
    size_t n_bytes = (size_t)n * sizeof(**types_p);
    struct ompi_datatype_t **types;

    *types_p = NULL;
    if (VP_SIDE_BYTES != receive->shape) {
        return true;
    }
    types = vp_array_new(2 * (size_t)n, sizeof(*types));
    if (NULL == types) {
        return false;
    }
    if (NULL != send) {
        memcpy(types, send->types, n_bytes);
        send->types = types;
    }
    memcpy(types + n, receive->types, n_bytes);
    receive->types = types + n;
    *types_p = types;
    return true;
}

static ptrdiff_t extent_of(struct ompi_datatype_t *type)
{
    ptrdiff_t lower_bound, extent;

    (void)ompi_datatype_get_extent(type, &lower_bound, &extent);
    return extent;
}

vp_piece_t vp_side_piece(const vp_side_t *side, int i)
{
    vp_piece_t piece = {.address = (uintptr_t)side->buffer, .type = side->type};

    switch (side->shape) {
    case VP_SIDE_UNIFORM:
        piece.count = side->count;
        piece.address += (uintptr_t)((ptrdiff_t)i * (ptrdiff_t)side->count * extent_of(side->type));
        break;
    case VP_SIDE_ELEMENTS:
        piece.count = VP_COUNT(side->counts, i);
        piece.address += (uintptr_t)(VP_DISPL(side->displs, i) * extent_of(side->type));
        break;
    case VP_SIDE_BYTES:
        piece.count = VP_COUNT(side->counts, i);
        piece.address += (uintptr_t)VP_DISPL(side->displs, i);
        piece.type = side->types[i];
        break;
    }
    return piece;
}

vp_extent_t vp_piece_extent(const vp_piece_t *piece)
{
    vp_extent_t extent = {0};
    ptrdiff_t true_lower_bound, true_extent, first, last;
    size_t size;

    if (0 == piece->count) {
        return extent; /* the type is not looked at: it may be anything */
    }
    (void)ompi_datatype_type_size(piece->type, &size);
    if (0 == size) {
        return extent;
    }
    (void)ompi_datatype_get_true_extent(piece->type, &true_lower_bound, &true_extent);
    first = (ptrdiff_t)piece->address + true_lower_bound;
    last = first + (ptrdiff_t)(piece->count - 1) * extent_of(piece->type);
    extent.n_bytes = (uint64_t)piece->count * size;
    extent.begin = (uint64_t)(first < last ? first : last);
    extent.end = (uint64_t)((first < last ? last : first) + true_extent);
    /* One element alone never shows the gap behind it. */
    extent.contiguous =
        0 != ompi_datatype_is_contiguous_memory_layout(piece->type, 1 == piece->count ? 1 : 2);
    return extent;
}

typedef int32_t (*convert_t)(opal_convertor_t *, struct iovec *, uint32_t *, size_t *);

static bool convert_all(opal_convertor_t *convertor, convert_t convert, char *packed,
                        uint64_t n_bytes)
{
    uint64_t n_done = 0;

    while (n_done < n_bytes) {
        struct iovec rest = {packed + n_done, (size_t)(n_bytes - n_done)};
        uint32_t n_iovecs = 1;
        size_t n_moved = rest.iov_len;

        if (0 > convert(convertor, &rest, &n_iovecs, &n_moved) || 0 == n_moved) {
            return false;
        }
        n_done += n_moved;
    }
    return true;
}

bool vp_piece_pack(const vp_piece_t *piece, void *packed, uint64_t n_bytes)
{
    opal_convertor_t convertor;
    bool done;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    done = OPAL_SUCCESS == opal_convertor_copy_and_prepare_for_send(
                               ompi_mpi_local_convertor, &piece->type->super, piece->count,
                               (void *)piece->address, 0, &convertor) &&
           convert_all(&convertor, opal_convertor_pack, packed, n_bytes);
    OBJ_DESTRUCT(&convertor);
    return done;
}

bool vp_piece_unpack(const vp_piece_t *piece, const void *packed, uint64_t n_bytes)
{
    opal_convertor_t convertor;
    bool done;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    done = OPAL_SUCCESS == opal_convertor_copy_and_prepare_for_recv(
                               ompi_mpi_local_convertor, &piece->type->super, piece->count,
                               (void *)piece->address, 0, &convertor) &&
           convert_all(&convertor, opal_convertor_unpack, (char *)(uintptr_t)packed, n_bytes);
    OBJ_DESTRUCT(&convertor);
    return done;
}
