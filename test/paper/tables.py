# SPDX-License-Identifier: BSD-3-Clause
"""Markdown tables and the comparisons that every figure shows."""

import math

from rows import KINDS, PROFILES, RATES, TIMED

FULL_NAMES = {
    "ideal": "ideal",
    "shares-well": "contended (shares well)",
    "collapses": "contended (collapses)",
}
SPEEDUPS = ("nccl", "nccl-host", "msccl", "fast", "deepep-rail", "deepep-nic", "nimble", "rails")
MIB = 1 << 20


def geometric_mean(values):
    """Of positive numbers; nan of none."""
    values = list(values)
    if not values:
        return math.nan
    return math.exp(sum(math.log(value) for value in values) / len(values))


def median(values):
    """Of some numbers."""
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def table(heads, cells):
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in cells]
    return lines


def folded(title, lines):
    """Lines that a reader opens."""
    return ["", f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]


def size_text(n_bytes):
    """64 MiB."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n_bytes >= unit * 0.999:
            return f"{n_bytes / unit:.4g} {name}"
    return f"{n_bytes:.0f} B"


def us(time_ns):
    """Microseconds."""
    return f"{time_ns / 1e3:.1f}"


def ratio_text(ratio, digits=2):
    """Small ratios keep two digits that say something."""
    return f"{ratio:.{digits}f}" if ratio >= 0.1 else f"{ratio:.2g}"


def select(rows, rates, profile):
    """The rows of these rates and links."""
    return [row for row in rows if (row.rates, row.links) == (rates, profile)]


def parts_of(rows):
    """(rates, profile, rows) of all that have rows."""
    parts = [(rates, links, select(rows, rates, links)) for rates in RATES for links in PROFILES]
    return [part for part in parts if part[2]]


def speedup_cells(part, kind):
    """One line of means; `kind` is the attribute of a row with our time."""
    means = [
        geometric_mean(row.times[name] / getattr(row, kind) for row in part) for name in SPEEDUPS
    ]
    means.append(geometric_mean(row.best[0] / getattr(row, kind) for row in part))
    bound = geometric_mean(row.fluid_ns / getattr(row, kind) for row in part)
    return [ratio_text(mean) for mean in means] + [ratio_text(bound, 3)]


SPEEDUP_HEADS = [*SPEEDUPS, "best of all", "fluid bound / ours"]


def speedup_table(rows, paper):
    """Geometric-mean speed-ups of ours over each baseline, by rates, profile and charge."""
    cells = []
    for rates, profile, part in parts_of(rows):
        for name, kind in KINDS:
            cells.append([rates, FULL_NAMES[profile], len(part), name] + speedup_cells(part, kind))
    if paper:
        cells.append(["", "the paper, measured on GPUs", "", ""] + paper_cells(paper))
    return table(["rates", "links", "rows", "ours", *SPEEDUP_HEADS], cells)


def paper_cells(paper):
    """The paper's figure per baseline, where it has one."""
    return [paper.get(name, "") for name in SPEEDUPS] + ["", ""]


def detail_table(rows, rates):
    """A line per point and profile, at one set of rates."""
    heads = ["point", "links", "fluid bound us", "LP bound us", "ours us", "with exchange us"]
    heads += [
        "with modelled planning us",
        "charged us" + TIMED,
        "ours GB/s",
        "best baseline",
        "its us",
        "its GB/s",
    ]
    heads += ["best / ours with modelled planning", "best / ours charged" + TIMED]
    cells = []
    for row in rows:
        if row.rates != rates:
            continue
        time_ns, name = row.best
        cause = row.cause(timed=False)
        mark = f" (slower: {cause})" if cause else ""
        late = " (slower)" if row.is_slower() else ""
        cells.append(
            [row.label, row.links, us(row.fluid_ns), us(row.lp_ns), us(row.transfer_ns)]
            + [us(row.exchanged_ns), us(row.modelled_ns), us(row.charged_ns)]
            + [f"{row.rate(row.modelled_ns):.2f}"]
            + [name, us(time_ns), f"{row.rate(time_ns):.2f}"]
            + [f"{ratio_text(time_ns / row.modelled_ns, 3)}{mark}"]
            + [f"{ratio_text(time_ns / row.charged_ns, 3)}{late}"]
        )
    return table(heads, cells)


def counts(part, kind):
    """(rows that are slower, rows with room, those of them where ours is strictly faster)."""
    room = [row for row in part if row.has_room()]
    won = sum(getattr(row, kind) < row.best[0] for row in room)
    return sum(row.is_slower(kind) for row in part), len(room), won


def verdict_table(rows):
    """How many rows keep the two promises, by rates, profile and charge."""
    heads = ["rates", "links", "ours", "rows", "slower than the best baseline", "worst"]
    heads += ["best baseline > 5% above the bound", "there strictly faster"]
    cells = []
    for rates, profile, part in parts_of(rows):
        for name, kind in KINDS:
            slower, room, won = counts(part, kind)
            worst = max(part, key=lambda row, kind=kind: getattr(row, kind) / row.best[0])
            text = (
                ""
                if slower == 0
                else (
                    f"{getattr(worst, kind) / worst.best[0]:.2f} times ({worst.label}, "
                    f"`{worst.best[1]}`)"
                )
            )
            cells.append([rates, FULL_NAMES[profile], name, len(part), slower, text, room, won])
    return table(heads, cells)
