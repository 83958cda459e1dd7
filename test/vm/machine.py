# SPDX-License-Identifier: BSD-3-Clause
"""The guest's machine: two sockets, on each a PCIe switch with two stand-in GPUs and two NICs.

The switch is an x3130 upstream port with xio3130 downstream ports, as the kernel and hwloc know
them. A GPU is a disk whose PCI class says 3D controller. All NICs are plugged into one hub, so
every NIC reaches every other.
"""

N_SOCKETS, N_GPUS, N_NICS = 2, 2, 2
MEMORY_MIB = 2048


def nic_address(socket, nic):
    return f"52:54:00:00:{socket:02x}:{nic:02x}"


def arguments():
    """Of QEMU."""
    found = ["-smp", f"{N_SOCKETS},sockets={N_SOCKETS},cores=1,threads=1"]
    for socket in range(N_SOCKETS):
        memory = MEMORY_MIB // N_SOCKETS
        found += ["-object", f"memory-backend-ram,id=memory{socket},size={memory}M"]
        found += ["-numa", f"node,nodeid={socket},cpus={socket},memdev=memory{socket}"]
    for socket in range(N_SOCKETS):
        found += _socket(socket)
    return found


def _device(kind, **properties):
    return ["-device", ",".join([kind, *(f"{name}={it}" for name, it in properties.items())])]


def _socket(socket):
    bridge, root, switch = f"bridge{socket}", f"root{socket}", f"switch{socket}"
    found = _device(
        "pxb-pcie", id=bridge, bus="pcie.0", bus_nr=32 + 64 * socket, numa_node=socket
    )
    found += _device("pcie-root-port", id=root, bus=bridge, chassis=1 + socket, slot=0)
    found += _device("x3130-upstream", id=switch, bus=root)
    for slot in range(N_GPUS + N_NICS):
        port = f"port{socket}{slot}"
        found += _device("xio3130-downstream", id=port, bus=switch, chassis=10 + socket, slot=slot)
        found += _gpu(socket, slot, port) if slot < N_GPUS else _nic(socket, slot - N_GPUS, port)
    return found


def _gpu(socket, gpu, port):
    disk = f"gpu{socket}{gpu}"
    return ["-drive", f"if=none,id={disk},driver=null-co,size=1M"] + _device(
        "virtio-blk-pci", bus=port, drive=disk, **{"class": "0x0302", "disable-legacy": "on"}
    )


def _nic(socket, nic, port):
    plug = f"plug{socket}{nic}"
    return ["-netdev", f"hubport,hubid=0,id={plug}"] + _device(
        "e1000e", bus=port, netdev=plug, mac=nic_address(socket, nic)
    )
