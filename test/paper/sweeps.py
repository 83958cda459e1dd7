# SPDX-License-Identifier: BSD-3-Clause
"""Figures that sweep a size or a skew over several machines."""

import runner as run
from plot import plot_rows
from tables import MIB, csv_lines, detail_table, size_text, speedup_table, verdicts


def sweep(runner, points, rates=run.RATES):
    """Rows of all (label, topology, demand) at all rates, points at a time."""
    items = [(runner, *point, rate) for rate in rates for point in points]
    return [row for rows in runner.map(run.compare, items) for row in rows]


def sizes(first_mib, n):
    """Powers of two from first_mib."""
    return [first_mib * MIB << k for k in range(n)]


def show(section, name, rows, paper):
    """Speed-ups, verdicts and the points of a figure, and its rows as CSV."""
    section.rows = rows
    section.add(*speedup_table(rows, paper))
    section.add("", "What the rows say, ours charged with exchange and planning:", "")
    section.add(*verdicts(rows))
    section.files[name + ".csv"] = "\n".join([*csv_lines(rows), ""])
    section.add("", f"All rows, rates and times: [{name}.csv](evaluation/{name}.csv).")


def details(section, rows, label):
    """The points at nominal rates, folded away."""
    section.add(
        "", f"<details><summary>{label}</summary>", "", *detail_table(rows), "", "</details>"
    )


def pictures(section, name, rows, machines, sweep_name, places, names):
    """One plot per machine, ideal links and nominal rates."""
    for machine, key in machines:
        part = [
            row
            for row in rows
            if (row.rates, row.links) == ("nominal", "ideal")
            and row.label.startswith(machine + " ")
        ]
        title = f"{machine}, {sweep_name}: ideal links, nominal rates (simulated)"
        svg = plot_rows(title, places[0], part, places[1][: len(part)], names, run.OURS)
        section.picture(f"{name}-{key}", svg, title)


def size_label(topology, n_bytes):
    """r5080-bf3:nodes=4 64 MiB."""
    return f"{topology} {size_text(n_bytes)}"
