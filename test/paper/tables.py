# SPDX-License-Identifier: BSD-3-Clause
"""Markdown tables and the comparisons that every figure shows."""

import math

from runner import BASELINES, OURS, PROFILES, RATES, exchange_ns

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


def table(heads, rows):
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return lines


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


def speedup_cells(part, kind):
    """One line of means; `kind` is the attribute of a row with our time."""
    means = [
        geometric_mean(row.times[name] / getattr(row, kind) for row in part) for name in SPEEDUPS
    ]
    means.append(geometric_mean(row.best[0] / getattr(row, kind) for row in part))
    bound = geometric_mean(row.fluid_ns / getattr(row, kind) for row in part)
    return [ratio_text(mean) for mean in means] + [ratio_text(bound, 3)]


def speedup_table(rows, paper):
    """Geometric-mean speed-ups of ours over each baseline, by rates, profile and charge."""
    heads = ["rates", "links", "rows", "ours", *SPEEDUPS, "best of all baselines", "bound / ours"]
    cells = []
    for rates in RATES:
        for profile in PROFILES:
            part = [row for row in rows if (row.rates, row.links) == (rates, profile)]
            for kind, name in (("transfer_ns", "transfer"), ("charged_ns", "charged")):
                if part:
                    line = [rates, FULL_NAMES[profile], len(part), name]
                    cells.append(line + speedup_cells(part, kind))
    if paper:
        line = ["", "the paper, measured on GPUs", "", ""]
        cells.append(line + [paper.get(name, "") for name in SPEEDUPS] + ["", ""])
    return table(heads, cells)


def detail_table(rows, rates="nominal"):
    """A line per point and profile, at one set of rates."""
    heads = [
        "point",
        "links",
        "fluid bound us",
        "LP bound us",
        "ours us",
        "with exchange and planning us",
    ]
    heads += ["GB/s", "best baseline", "its us", "its GB/s", "best / ours"]
    cells = []
    for row in rows:
        if row.rates != rates:
            continue
        time_ns, name = row.best
        mark = " (slower)" if row.is_beaten() else ""
        cells.append(
            [row.label, row.links, us(row.fluid_ns), us(row.lp_ns), us(row.times[OURS])]
            + [us(row.charged_ns), f"{row.rate(row.charged_ns):.2f}", name, us(time_ns)]
            + [f"{row.rate(time_ns):.2f}", f"{time_ns / row.charged_ns:.3f}{mark}"]
        )
    return table(heads, cells)


def verdicts(rows):
    """What the rows say about the two promises; plain lines."""
    lines = []
    for rates in RATES:
        for profile in PROFILES:
            part = [row for row in rows if (row.rates, row.links) == (rates, profile)]
            if part:
                lines.append(verdict_line(part, rates, profile))
    return lines


def verdict_line(part, rates, profile):
    """One line of verdicts."""
    beaten = [row for row in part if row.is_beaten()]
    bare = [row for row in part if row.is_transfer_beaten()]
    room = [row for row in part if row.has_room()]
    won = [row for row in room if row.charged_ns < row.best[0]]
    won_bare = [row for row in room if row.transfer_ns < row.best[0]]
    text = (
        f"- {rates}, {FULL_NAMES[profile]}: slower in {len(beaten)} of {len(part)} rows "
        f"({len(bare)} without exchange and planning)"
    )
    for part_beaten, kind in ((beaten, "charged_ns"), (bare, "transfer_ns")):
        if part_beaten:
            worst = max(part_beaten, key=lambda row, kind=kind: getattr(row, kind) / row.best[0])
            ratio = getattr(worst, kind) / worst.best[0]
            what = "charged" if kind == "charged_ns" else "transfer only"
            text += (
                f"; at worst, {what}, {ratio:.2f} times ({worst.label}, against {worst.best[1]})"
            )
    return text + (
        f"; faster in {len(won)} ({len(won_bare)} without) of the {len(room)} rows where the best "
        "baseline is more than 5% above the fluid bound."
    )


def csv_lines(rows):
    """All rows with all times."""
    names = [OURS, *BASELINES]
    lines = [
        "point,rates,links,ranks,total_bytes,fluid_ns,lp_ns,pairs,lanes,execution,planning_ns,"
        "exchange_ns," + ",".join(name.replace("-", "_") + "_ns" for name in names)
    ]
    for row in rows:
        lines.append(
            f"{row.label},{row.rates},{row.links},{row.ranks},{row.total_bytes},{row.fluid_ns},"
            f"{row.lp_ns},{row.pairs},{row.lanes},{row.execution},{row.planning_ns},"
            f"{exchange_ns(row.ranks)}," + ",".join(str(row.times.get(name, "")) for name in names)
        )
    return lines
