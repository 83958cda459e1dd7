#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The demands of the reference table of "everything at once", 8, 16 and 32 ranks.

Made with NumPy's default generator (PCG64), seed 3 anew for every demand; what is drawn, in
this order:

random           integers 0 .. 1023 for all n x n cells
zipf-pairs       a permutation of all ordered pairs, row by row; the k-th has k^-0.8
zipf-rows        the same within each row
hot-destination  `random`, then one integer below n: four times as much goes there
hot-moe          64 experts, n / 64 of them on each rank in order, popularity k^-0.5; every
                 rank sends 64 tokens to 8 distinct experts (Gumbel draws, the 8 largest)

The diagonal is 0. The files lie in data/reference/, so that tests need no NumPy.

usage: reference_demands.py FOLDER
"""

import os
import sys

import numpy

SEED = 3
MB = 10**6
EXPERTS, TOKENS, TOP, TOKEN_BYTES = 64, 64, 8, 14336


def generator():
    """A fresh one."""
    return numpy.random.default_rng(SEED)


def random_demand(n):
    """Uniform integers."""
    return generator().integers(0, 1024, (n, n)) * MB


def zipf_pairs(n):
    """Ranks over all pairs."""
    cells = numpy.zeros((n, n))
    cells[~numpy.eye(n, dtype=bool)] = (generator().permutation(n * (n - 1)) + 1.0) ** -0.8
    return numpy.rint(cells * 1000 * MB).astype(int)


def zipf_rows(n):
    """Ranks within rows."""
    draw = generator()
    cells = numpy.zeros((n, n))
    for i in range(n):
        cells[i, numpy.arange(n) != i] = (draw.permutation(n - 1) + 1.0) ** -0.8
    return numpy.rint(cells * 1000 * MB).astype(int)


def hot_destination(n):
    """One column times four."""
    draw = generator()
    cells = draw.integers(0, 1024, (n, n)) * MB
    cells[:, draw.integers(n)] *= 4
    return cells


def hot_moe(n):
    """Tokens to experts."""
    draw = generator()
    popularity = (numpy.arange(EXPERTS) + 1.0) ** -0.5
    home = numpy.arange(EXPERTS) * n // EXPERTS
    cells = numpy.zeros((n, n), dtype=int)
    for i in range(n):
        keys = numpy.log(popularity / popularity.sum()) + draw.gumbel(size=(TOKENS, EXPERTS))
        chosen = numpy.argsort(-keys, axis=1)[:, :TOP]
        cells[i] = numpy.bincount(home[chosen].ravel(), minlength=n) * TOKEN_BYTES
    return cells


DEMANDS = {
    "random": random_demand,
    "zipf-pairs": zipf_pairs,
    "zipf-rows": zipf_rows,
    "hot-destination": hot_destination,
    "hot-moe": hot_moe,
}


def main():
    """Writes all files."""
    for name, make in DEMANDS.items():
        for n in (8, 16, 32):
            cells = make(n)
            numpy.fill_diagonal(cells, 0)
            path = os.path.join(sys.argv[1], f"{name}-{n}.csv")
            numpy.savetxt(path, cells, fmt="%d", delimiter=",")


if __name__ == "__main__":
    main()
