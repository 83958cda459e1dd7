# SPDX-License-Identifier: BSD-3-Clause
"""Figures that sweep a size or a skew over several machines."""

from plot import plot_rows
from rows import PROFILES, RATES, compare, csv_lines
from tables import (
    FULL_NAMES,
    MIB,
    detail_table,
    folded,
    select,
    size_text,
    speedup_table,
    verdict_table,
)


def sweep(runner, points, rates=RATES):
    """Rows of all (label, topology, demand) at all rates, points at a time."""
    items = [(runner, *point, rate) for rate in rates for point in points]
    return [row for rows in runner.map(compare, items) for row in rows]


def sizes(first_mib, n):
    """Powers of two from first_mib."""
    return [first_mib * MIB << k for k in range(n)]


def show(section, name, rows, paper):
    """Speed-ups, verdicts and the points of a figure, and its rows as CSV."""
    section.rows, section.paper = rows, paper
    for row in rows:
        row.figure = section.title.split(":")[0]
    section.add(*speedup_table(rows, paper))
    section.add("", "How many rows keep the promises (their definitions stand at the head):", "")
    section.add(*verdict_table(rows))
    section.files[name + ".csv"] = "\n".join([*csv_lines(rows), ""])
    section.add("", f"All rows, rates and times: [{name}.csv](evaluation/{name}.csv).")


def details(section, rows, what):
    """The points, folded away."""
    for rates in RATES:
        if any(row.rates == rates for row in rows):
            section.add(*folded(f"{what}, {rates} rates", detail_table(rows, rates)))


def pictures(section, name, rows, machines, sweep_name, places, names):
    """One plot per machine and set of links, nominal rates; `places` is (title, labels)."""
    for machine, key in machines:
        for links in PROFILES:
            part = [
                row for row in select(rows, "nominal", links) if row.label.startswith(machine + " ")
            ]
            if not part or links == "shares-well":
                continue
            title = f"{machine}, {sweep_name}: {FULL_NAMES[links]} links, nominal rates (simulated)"
            suffix = "" if links == "ideal" else "-" + links
            svg = plot_rows(title, places[0], part, places[1][: len(part)], names)
            section.picture(f"{name}-{key}{suffix}", svg, title)


def size_label(topology, n_bytes):
    """r5080-bf3:nodes=4 64 MiB."""
    return f"{topology} {size_text(n_bytes)}"
