#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Token routing of a mixture-of-experts layer through MPI_Alltoallv, from Python.

    mpirun -np 8 --mca coll variopath python3 moe_dispatch.py

The same exchange as moe_dispatch.c: how many rows go where (Alltoall), dispatch and
combine (Alltoallv). It needs mpi4py alone. With --torch the rows are PyTorch tensors,
and with --torch --device cuda they are in GPU memory, which mpi4py takes as they are
(through __cuda_array_interface__). An Open MPI without CUDA support would crash on
them; here they do not reach it, because the component takes the call.
"""
import argparse
import array
import random
import sys
import time

from mpi4py import MPI


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=256, help="tokens of each rank")
    parser.add_argument("--hidden", type=int, default=256, help="float values of a token")
    parser.add_argument("--experts", type=int, default=2, help="experts of each rank")
    parser.add_argument("--top-k", type=int, default=2, help="experts of each token")
    parser.add_argument("--skew", type=float, default=0.8, help="Zipf exponent of popularity")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--torch", action="store_true", help="rows are PyTorch tensors")
    parser.add_argument("--device", default="cpu", help="PyTorch's device: cpu or cuda")
    return parser.parse_args()


class Rows:
    """Floats for MPI: an array of Python's, or a tensor of PyTorch's."""

    def __init__(self, options, values):
        self.torch = None
        if options.torch:
            import torch

            self.torch = torch
            self.buffer = torch.tensor(values, dtype=torch.float32, device=options.device)
        else:
            self.buffer = array.array("f", values)

    def values(self):
        return self.buffer.tolist()

    def wait(self):
        """MPI needs what the GPU still writes, and knows nothing of PyTorch's streams."""
        if self.torch is not None and self.buffer.is_cuda:
            self.torch.cuda.synchronize()


def route(options, rank, n_ranks):
    """The experts of each token; popular ones are the same for all ranks."""
    n_experts = options.experts * n_ranks
    weights = [(1 + i) ** -options.skew for i in range(n_experts)]
    random.Random(options.seed).shuffle(weights)
    draw = random.Random(options.seed * 1000003 + rank)
    chosen = []
    for _ in range(options.tokens):
        experts = []
        while len(experts) < options.top_k:
            expert = draw.choices(range(n_experts), weights)[0]
            if expert not in experts:
                experts.append(expert)
        chosen.append(experts)
    return chosen


def displacements(counts):
    return [sum(counts[:i]) for i in range(len(counts))]


def exchange(comm, sent, send_counts, received, receive_counts):
    """One Alltoallv of floats; its time on the slowest rank."""
    sent.wait()
    received.wait()
    comm.Barrier()
    begin = time.perf_counter()
    comm.Alltoallv([sent.buffer, send_counts, displacements(send_counts), MPI.FLOAT],
                   [received.buffer, receive_counts, displacements(receive_counts), MPI.FLOAT])
    return comm.allreduce(time.perf_counter() - begin, op=MPI.MAX)


def main():
    options = arguments()
    comm = MPI.COMM_WORLD
    rank, n_ranks = comm.Get_rank(), comm.Get_size()
    if not 1 <= options.top_k <= options.experts * n_ranks:
        sys.exit("moe_dispatch.py: --top-k is larger than the number of experts")
    if options.torch and options.device == "cuda":
        import torch

        local = comm.Split_type(MPI.COMM_TYPE_SHARED)
        torch.cuda.set_device(local.Get_rank() % torch.cuda.device_count())
        local.Free()

    # Rows sorted by the rank that has the expert: its number there, then the token.
    chosen = route(options, rank, n_ranks)
    by_rank = [[] for _ in range(n_ranks)]
    for token, experts in enumerate(chosen):
        for k, expert in enumerate(experts):
            by_rank[expert // options.experts].append((token, k, expert))
    row = options.hidden + 1
    send_counts = array.array("i", [len(rows) * row for rows in by_rank])
    receive_counts = array.array("i", [0] * n_ranks)
    comm.Alltoall([send_counts, MPI.INT], [receive_counts, MPI.INT])
    order = [choice for rows in by_rank for choice in rows]
    values = []
    for token, _, expert in order:
        values.append(expert % options.experts)
        values.extend((rank * 5 + token * 7 + i) % 16 for i in range(options.hidden))
    sent = Rows(options, values)
    received = Rows(options, [-1.0] * sum(receive_counts))

    dispatch = exchange(comm, sent, send_counts.tolist(), received, receive_counts.tolist())

    # Expert e multiplies by e + 1, counted over all ranks.
    values = received.values()
    for start in range(0, len(values), row):
        factor = rank * options.experts + values[start] + 1
        values[start + 1:start + row] = [x * factor for x in values[start + 1:start + row]]
    results = Rows(options, values)
    back = Rows(options, [-1.0] * len(order) * row)

    combine = exchange(comm, results, receive_counts.tolist(), back, send_counts.tolist())

    # The router's weight of choice k is k + 1; all numbers are exact in float.
    sums = [[0.0] * options.hidden for _ in chosen]
    values = back.values()
    for place, (token, k, _) in enumerate(order):
        for i, x in enumerate(values[place * row + 1:(place + 1) * row]):
            sums[token][i] += (k + 1) * x
    wrong = 0
    for token, experts in enumerate(chosen):
        factor = sum((k + 1) * (expert + 1) for k, expert in enumerate(experts))
        wrong += sum(sums[token][i] != factor * ((rank * 5 + token * 7 + i) % 16)
                     for i in range(options.hidden))
    wrong = comm.allreduce(wrong)
    if rank == 0:
        print(f"{n_ranks} ranks, {options.tokens} tokens of {options.hidden} values each, "
              f"top {options.top_k}")
        print(f"dispatch: {dispatch * 1e3:.3f} ms, combine: {combine * 1e3:.3f} ms")
        print(f"WRONG: {wrong} values" if wrong else "verified: every token came back right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
