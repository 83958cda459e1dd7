/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "test/cuda_emu/conformance.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BIG = 4 << 20, MAPPED = 2 << 20, INNER = 4096 };

/* What the exporter tells. */
typedef struct message {
    CUipcMemHandle big, first, second, inner, freed;
    unsigned long long first_address, second_address;
} message_t;

static void meet(int socket)
{
    char byte = 1;

    if (write(socket, &byte, 1) != 1 || read(socket, &byte, 1) != 1) {
        exit(9); /* the other process is gone */
    }
}

static void send_descriptor(int socket, int descriptor)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(descriptor));
    (void)sendmsg(socket, &message, 0);
}

static int receive_descriptor(int socket)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    int descriptor = -1;

    if (recvmsg(socket, &message, 0) > 0 && CMSG_FIRSTHDR(&message) != NULL) {
        memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(descriptor));
    }
    return descriptor;
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, CUdevice device)
{
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr address = 0;

    WORKS(cuMemAddressReserve(&address, MAPPED, 0, 0, 0));
    WORKS(cuMemMap(address, MAPPED, 0, handle, 0));
    WORKS(cuMemSetAccess(address, MAPPED, &access, 1));
    return address;
}

static void unmap(CUdeviceptr address, CUmemGenericAllocationHandle handle)
{
    WORKS(cuMemUnmap(address, MAPPED));
    WORKS(cuMemAddressFree(address, MAPPED));
    WORKS(cuMemRelease(handle));
}

/* Mapped memory has no legacy handle; its descriptor goes through the socket. */
static CUdeviceptr export_mapped(int socket, CUmemGenericAllocationHandle *handle_p)
{
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUipcMemHandle legacy;
    CUdeviceptr address;
    int descriptor = -1;

    WORKS(cuMemCreate(handle_p, MAPPED, &properties, 0));
    address = map(*handle_p, 0);
    RETURNS(cuIpcGetMemHandle(&legacy, address), CUDA_ERROR_INVALID_VALUE);
    WORKS(cuMemcpyHtoD(address, "vmm", 4));
    WORKS(cuMemExportToShareableHandle(&descriptor, *handle_p,
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    send_descriptor(socket, descriptor);
    (void)close(descriptor);
    return address;
}

void conformance_export(int socket)
{
    CUdeviceptr big, first, second, freed, opened, mapped;
    CUmemGenericAllocationHandle handle;
    message_t message;
    char text[8];

    WORKS(cuInit(0));
    (void)conformance_context(0);
    WORKS(cuMemAlloc(&big, BIG));
    WORKS(cuMemAlloc(&first, 1000));
    WORKS(cuMemAlloc(&second, 3000));
    WORKS(cuMemAlloc(&freed, BIG));
    WORKS(cuMemcpyHtoD(big, "big", 4));
    WORKS(cuMemcpyHtoD(big + INNER, "inner", 6));
    WORKS(cuMemcpyHtoD(first, "one", 4));
    WORKS(cuMemcpyHtoD(second, "two", 4));
    WORKS(cuIpcGetMemHandle(&message.big, big));
    WORKS(cuIpcGetMemHandle(&message.first, first));
    WORKS(cuIpcGetMemHandle(&message.second, second));
    WORKS(cuIpcGetMemHandle(&message.inner, big + INNER));
    WORKS(cuIpcGetMemHandle(&message.freed, freed));
    WORKS(cuMemFree(freed));
    message.first_address = first;
    message.second_address = second;
    /* A process cannot open its own handles. */
    RETURNS(cuIpcOpenMemHandle(&opened, message.big, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
            CUDA_ERROR_INVALID_CONTEXT);
    HOLDS(write(socket, &message, sizeof(message)) == sizeof(message));
    mapped = export_mapped(socket, &handle);
    meet(socket);
    WORKS(cuMemcpyDtoH(text, big + 8, 6));
    HOLDS(strcmp(text, "hello") == 0); /* the importer wrote it */
    meet(socket);
    unmap(mapped, handle);
    WORKS(cuMemFree(big));
    WORKS(cuMemFree(first));
    WORKS(cuMemFree(second));
}

/* A handle opened twice is one mapping, counted; one of an inner pointer means its allocation. */
static CUdeviceptr open_big(const message_t *message)
{
    CUdeviceptr once = 0, again = 0;
    CUipcMemHandle handle;
    char text[8];

    WORKS(cuIpcOpenMemHandle(&once, message->big, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    WORKS(cuIpcOpenMemHandle(&again, message->big, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    HOLDS(once == again);
    WORKS(cuIpcCloseMemHandle(again));
    WORKS(cuMemcpyDtoH(text, once, 4));
    HOLDS(strcmp(text, "big") == 0);
    WORKS(cuIpcOpenMemHandle(&again, message->inner, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    HOLDS(again == once);
    WORKS(cuMemcpyDtoH(text, again + INNER, 6));
    HOLDS(strcmp(text, "inner") == 0);
    WORKS(cuIpcCloseMemHandle(again));
    RETURNS(cuIpcGetMemHandle(&handle, once), CUDA_ERROR_INVALID_VALUE);
    return once;
}

/* Small allocations share a block: their mappings keep their distance. */
static void open_small(const message_t *message)
{
    CUdeviceptr first = 0, second = 0, base = 0;
    size_t n_bytes = 0;
    char text[8];

    WORKS(cuIpcOpenMemHandle(&first, message->first, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    WORKS(cuIpcOpenMemHandle(&second, message->second, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    HOLDS(second - first == message->second_address - message->first_address);
    WORKS(cuMemcpyDtoH(text, second, 4));
    HOLDS(strcmp(text, "two") == 0);
    WORKS(cuMemGetAddressRange(&base, &n_bytes, second + 1));
    HOLDS(base == second && n_bytes == 3000);
    WORKS(cuIpcCloseMemHandle(first));
    WORKS(cuMemcpyDtoH(text, second, 4));
    WORKS(cuIpcCloseMemHandle(second));
}

static void import_mapped(int descriptor, CUdevice device)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    char text[8];

    WORKS(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)descriptor,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    address = map(handle, device);
    WORKS(cuMemcpyDtoH(text, address, 4));
    HOLDS(strcmp(text, "vmm") == 0);
    unmap(address, handle);
    (void)close(descriptor);
}

void conformance_import(int socket)
{
    CUdeviceptr big, nothing;
    message_t message;
    int device, descriptor, ordinal = -1;

    WORKS(cuInit(0));
    device = conformance_devices() > 1 ? 1 : 0;
    (void)conformance_context(device);
    if (read(socket, &message, sizeof(message)) != sizeof(message)) {
        exit(9);
    }
    descriptor = receive_descriptor(socket);
    big = open_big(&message);
    open_small(&message);
    RETURNS(cuIpcOpenMemHandle(&nothing, message.freed, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
            CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuIpcOpenMemHandle(&nothing, message.big, 0), CUDA_ERROR_INVALID_VALUE);
    WORKS(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, big));
    HOLDS(ordinal == 0);
    WORKS(cuMemcpyHtoD(big + 8, "hello", 6));
    import_mapped(descriptor, device);
    meet(socket);
    WORKS(cuIpcCloseMemHandle(big));
    RETURNS(cuIpcCloseMemHandle(big), CUDA_ERROR_INVALID_VALUE);
    meet(socket);
}
