# SPDX-License-Identifier: BSD-3-Clause
"""The rows that break a promise, by cause."""

import collections

from rows import BASELINES, CAUSE_TEXTS, CAUSES, TIMED, TIMED_SUFFIX
from tables import FULL_NAMES, folded, table, us


LATE_HEADS = (
    "with exchange us",
    "with modelled planning us",
    "best baseline",
    "its us",
    "best / ours",
)


def losing(rows, cause):
    """The rows of a cause, worst first."""
    part = [row for row in rows if row.cause() == cause]
    return sorted(part, key=lambda row: (-row.modelled_ns / row.best[0], row.key))


def machine_of(row):
    """Machine and demand of a label, without its point."""
    return row.figure + ": " + (row.label.split(" ")[0] if " " in row.label else "M = 1 to 128")


def cause_table(rows):
    """How many rows each cause loses."""
    cells = []
    for cause in reversed(CAUSES):
        part = losing(rows, cause)
        mark = TIMED if cause == "clock" else ""
        names = collections.Counter(row.best[1] for row in part)
        listed = ", ".join(f"`{name}` {n}" for name, n in sorted(names.items()))
        cells.append([CAUSE_TEXTS[cause] + mark, len(part), listed])
    return table(["cause", "rows", "best baseline in them"], cells)


def plan_losses(rows):
    """Every row that loses whatever the clock says."""
    cells = []
    for cause in ("plan", "ways", "exchange", "planning"):
        for row in losing(rows, cause):
            time_ns, name = row.best
            cells.append(
                [cause, row.figure, row.label, row.rates, FULL_NAMES[row.links]]
                + [us(row.fluid_ns), us(row.transfer_ns), us(row.exchanged_ns), us(row.modelled_ns)]
                + [f"`{name}`", us(time_ns), f"{time_ns / row.modelled_ns:.3f}"]
            )
    heads = ["cause", "figure", "point", "rates", "links", "fluid bound us", "ours us"]
    return table([*heads, *LATE_HEADS], cells)


def clock_losses(rows):
    """Rows that lose by measured planning, by machine: which points, how much."""
    groups = collections.OrderedDict()
    for row in rows:
        if row.cause() == "clock":
            groups.setdefault((machine_of(row), row.rates, row.links), []).append(row)
    cells = []
    for (machine, rates, links), part in groups.items():
        points = ", ".join(row.label.split(" ", 1)[-1] for row in part)
        worst = max(row.charged_ns / row.best[0] for row in part)
        cells.append([machine, rates, FULL_NAMES[links] + TIMED, points, f"{worst:.2f}"])
    return table(["figure, machine", "rates", "links", "points", "worst, times the best"], cells)


def missed_room(rows):
    """Rows with room where ours with modelled planning is not strictly faster."""
    part = [row for row in rows if row.has_room() and row.modelled_ns >= row.best[0]]
    names = collections.Counter()
    for row in part:
        over = row.transfer_ns < row.best[0]
        names["exchange and planning alone" if over else f"`{row.best[1]}` as fast or faster"] += 1
    return part, "; ".join(f"{name} ({n} rows)" for name, n in sorted(names.items())) or "none"


def csv_file(rows):
    """slower.csv: all rows that lose, with their cause."""
    lines = [
        "cause,figure,point,rates,links,best,best_ns,fluid_ns,transfer_ns,exchanged_ns,modelled_ns"
    ]
    for row in rows:
        cause = row.cause(timed=False)
        if cause:
            time_ns, name = row.best
            cells = [cause, row.figure, *row.key, name, time_ns, row.fluid_ns]
            lines.append(
                ",".join(map(str, [*cells, row.transfer_ns, row.exchanged_ns, row.modelled_ns]))
            )
    return "\n".join([*lines, ""])


def section(rows):
    """Lines for the head of the page."""
    missed, text = missed_room(rows)
    room = sum(row.has_room() for row in rows)
    return [
        "Rows where ours, charged, is slower by more than 2% and more than one exchange, by cause "
        "(the first that applies, from the bottom of this list up):",
        "",
        *cause_table(rows),
        "",
        f"Of {room} rows where the best baseline is more than 5% above the fluid bound, "
        f"{room - len(missed)} are strictly faster with exchange and modelled "
        f"planning. The others: {text}.",
        *folded("Rows that lose whatever the clock says", plan_losses(rows)),
        *folded("Rows that lose by measured planning" + TIMED, clock_losses(rows)),
        "",
        "The first list as a file: [slower.csv](evaluation/slower.csv). The file of each figure "
        f"has all {len(BASELINES)} baselines; columns that end with `{TIMED_SUFFIX}` are timed.",
    ]
