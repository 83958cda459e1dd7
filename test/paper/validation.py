#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The simulator against the testbed: what docs/testbed.md measured, over `fluid`.

The page holds, for each pattern and algorithm, the median of measured calls in network
namespaces with rate-limited links, and the simulator's time for the same plan or
algorithm on the same topology file. Any table with the three columns counts; rows under a
heading that says that nothing else ran (QUIET) are told apart, and if there are such rows,
theirs is the error that counts.
"""

import re

from figures import Section, here, main
from tables import median

PAGE = here("..", "..", "docs", "testbed.md")
KINDS = (
    ("our plans, `auto` mode", "VarioPath auto"),
    ("our plans, by dependencies", "VarioPath deps"),
    ("our plans, barrier per activation", "VarioPath barrier"),
    ("our plans, free-running", "VarioPath free"),
    ("Open MPI pairwise, over TCP", "tuned pairwise, ob1"),
    ("Open MPI pairwise, over UCX", "tuned pairwise, pml"),
    ("Open MPI linear", "tuned linear"),
)
COLUMNS = ("algorithm", "median ms", "fluid ms")
QUIET = re.compile(r"nothing else|quiet|idle machine", re.IGNORECASE)
NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
TARGET_PERCENT = 10


def number(cell):
    """The first number of a cell; None: there is none."""
    found = NUMBER.match(cell)
    return float(found.group()) if found else None


def read_rows(lines):
    """[(algorithm, measured ms, fluid ms, is quiet)] of the tables that have all columns."""
    rows, columns, quiet = [], None, False
    for line in lines:
        if line.startswith("#"):
            quiet = QUIET.search(line) is not None
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if all(it in cells for it in COLUMNS):
            columns = [cells.index(it) for it in COLUMNS]
        elif columns is not None and max(columns) < len(cells):
            measured, fluid = number(cells[columns[1]]), number(cells[columns[2]])
            if measured and fluid:
                rows.append((cells[columns[0]], measured, fluid, quiet))
    return rows


def error_of(rows):
    """Median of |measured / simulated - 1|, percent."""
    return 100 * median(abs(measured / fluid - 1) for _, measured, fluid, _ in rows)


def kind_cells(title, rows):
    """A line of the table."""
    ratios = [measured / fluid for _, measured, fluid, _ in rows]
    return [
        title,
        len(rows),
        f"{median(ratios):.2f}",
        f"{min(ratios):.2f}-{max(ratios):.2f}",
        f"{error_of(rows):.1f}%",
    ]


def verdict(quiet, rows):
    """What the errors say."""
    what, part = ("on the quiet machine", quiet) if quiet else ("under load", rows)
    error = error_of(part)
    word = "under" if error < TARGET_PERCENT else "not under"
    text = (
        f"Simulator against testbed {what}, all algorithms: median error {error:.1f}% over "
        f"{len(part)} rows, {word} {TARGET_PERCENT}%."
    )
    if len(part) < len(rows):
        text += (
            f" All rows of that page, those under load too: {error_of(rows):.1f}% over "
            f"{len(rows)}."
        )
    return text


def make(runner, fast):
    """The section."""
    del runner, fast
    section = Section("Validation: the simulator against the testbed")
    with open(PAGE, encoding="utf-8") as file:
        rows = read_rows(file)
    if not rows:
        raise SystemExit(f"{PAGE} has no table with the columns {', '.join(COLUMNS)}")
    quiet = [row for row in rows if row[3]]
    section.headline = verdict(quiet, rows)
    section.add(
        "Measured: medians of real `mpirun` calls on the testbed of docs/testbed.md (network "
        "namespaces with rate-limited links, 8 and 16 ranks, two shared cores), over the "
        "simulator's time for the same plan or algorithm.",
    )
    busy = len(quiet) < len(rows)
    for title, part in (
        ("With nothing else on the machine", quiet),
        ("All rows", rows if busy else []),
    ):
        cells = []
        for name, prefix in KINDS:
            kind = [row for row in part if row[0].startswith(prefix)]
            if kind:
                cells.append(kind_cells(name, kind))
        if part:
            cells.append(kind_cells("all", part))
            section.add("", title + ":", "")
            section.add_table(["what", "rows", "median ratio", "range", "median error"], cells)
    section.add(
        "",
        section.headline,
        "",
        "Linear posts everything at once over TCP connections that both directions of a pair "
        "share, which the simulator does not model; with many ranks on two cores a barrier costs "
        "milliseconds that it does not model either.",
    )
    return section


if __name__ == "__main__":
    main(make, __doc__)
