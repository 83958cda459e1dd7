# A QEMU guest with RDMA devices and a PCIe tree, see docs/rdma-guest.md.
VM_PARTS = test/vm/guest.json test/vm/guest.py test/vm/init test/vm/job.sh test/vm/machine.py \
	test/vm/rdma.py
EXTRA_DIST += $(VM_PARTS)
LONG_TESTS += test/vm/vm.sh

# Unpacked packages and the kernel, made by the test and kept between its runs.
clean-local: clean-vm
clean-vm:
	rm -rf vm-guest
.PHONY: clean-vm
