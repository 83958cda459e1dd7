#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The simulator against the testbed: what docs/testbed.md measured, over `fluid`.

The page holds, for each pattern and algorithm, the median of measured calls in network
namespaces with rate-limited links, and the simulator's time for the same plan or
algorithm on the same topology file.
"""

from figures import Section, here, main
from tables import table

PAGE = here("..", "..", "docs", "testbed.md")
KINDS = (
    ("our plans, barrier per activation", "VarioPath barrier"),
    ("our plans, free-running", "VarioPath free"),
    ("our plans, `auto` mode", "VarioPath auto"),
    ("Open MPI pairwise, over TCP", "tuned pairwise, ob1"),
    ("Open MPI pairwise, over UCX", "tuned pairwise, pml"),
    ("Open MPI linear", "tuned linear"),
)
COLUMNS = ("algorithm", "median ms", "fluid ms")


def read_rows():
    """(algorithm, measured ms, fluid ms) of the tables that have both."""
    rows, columns = [], None
    with open(PAGE, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("|"):
                columns = None
                continue
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if all(it in cells for it in COLUMNS):
                columns = [cells.index(it) for it in COLUMNS]
            elif columns is not None and not cells[0].startswith("---"):
                name, measured, fluid = (cells[index] for index in columns)
                rows.append((name, float(measured), float(fluid)))
    return rows


def median(values):
    """Of some numbers."""
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def make(runner, fast):
    """The section."""
    del runner, fast
    section = Section("Validation: the simulator against the testbed")
    rows = read_rows()
    cells = []
    for title, prefix in KINDS:
        ratios = [m / f for name, m, f in rows if name.startswith(prefix)]
        if ratios:
            error = median(abs(ratio - 1) for ratio in ratios)
            cells.append(
                [
                    title,
                    len(ratios),
                    f"{median(ratios):.2f}",
                    f"{min(ratios):.2f}-{max(ratios):.2f}",
                ]
                + [f"{100 * error:.1f}%"]
            )
    errors = [abs(m / f - 1) for _, m, f in rows]
    cells.append(["all", len(rows), f"{median(m / f for _, m, f in rows):.2f}", ""])
    cells[-1].append(f"{100 * median(errors):.1f}%")
    section.add(
        "Measured: medians of real `mpirun` calls on the testbed of docs/testbed.md (network "
        "namespaces with rate-limited links, 8 and 16 ranks, two shared cores), over the "
        "simulator's "
        "time for the same plan or algorithm.",
        "",
        *table(["what", "rows", "median ratio", "range", "median error"], cells),
        "",
        "Linear posts everything at once over TCP connections that both directions of a pair "
        "share, "
        "which the simulator does not model; with many ranks on two cores a barrier costs "
        "milliseconds that it does not model either.",
    )
    return section


if __name__ == "__main__":
    main(make, __doc__)
