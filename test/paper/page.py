# SPDX-License-Identifier: BSD-3-Clause
"""What stands before and after the figures of the page."""

import losses
from rows import (
    BASELINES,
    COUNT_BYTES,
    EXCHANGE_STEP_NS,
    KINDS,
    LANE_NS,
    POST_NS,
    PROFILES,
    TIMED,
    exchange_ns,
)
from tables import (
    FULL_NAMES,
    SPEEDUP_HEADS,
    counts,
    median,
    paper_cells,
    select,
    speedup_cells,
    table,
    verdict_table,
)


def rules(fast):
    """Title, what is simulated, and how everything is charged."""
    return [
        "# Evaluation",
        "",
        "Everything on this page is **simulated** (docs/simulator.md), on the shipped topologies, "
        "but for three things that were **measured**: planning (CPU time on one of two shared "
        f"cores; columns and lines marked{TIMED}), the making of catalogs (likewise), and the "
        "testbed's times in the section on validation (docs/testbed.md: network namespaces with "
        "rate-limited links, no GPUs). What the paper reports was measured on GPUs. Made by "
        "`make evaluation`" + (" (few points: `--fast`)." if fast else "."),
        "",
        "- *Rates*: `nominal` are what links are sold as, `measured` public measurements of such "
        "links; each figure in a topology file names its origin.",
        "- *Links*: `ideal` share without loss; *contended (shares well)* and *contended "
        "(collapses)* lose total throughput when several GPUs use a link, by tables fixed before "
        "any comparison was run. NIC sharing has no public figure and loses nothing, so between "
        "nodes with one NIC per switch the profiles change little.",
        "- *Ours* is planner `auto`, planning for the links that it is played on, over all NICs "
        "of a node: topologies with `:nics=all` (docs/topology-format.md), where a lane to a far "
        "NIC takes the links to it as well. `rails`, `deepep-rail` and `deepep-nic` use such ways, "
        "too. The paper's model has near NICs only; one line below says how ours does with these, "
        "and each CSV file has the times. Operations cost "
        f"all the same: a one-sided put {POST_NS} ns; a message that its receiver must answer, or "
        f"a lane whose end lets lanes of other ranks start, {LANE_NS} ns. *With exchange* adds one "
        f"exchange of all counts: recursive doubling, {EXCHANGE_STEP_NS} ns per step and "
        f"{COUNT_BYTES} bytes per pair over one NIC ({exchange_ns(8) / 1e3:.1f} us for 8 ranks, "
        f"{exchange_ns(64) / 1e3:.1f} for 64, {exchange_ns(256) / 1e3:.1f} for 256). *With "
        "modelled planning* adds what the planner itself counts planning at (scheduler/cost.h: "
        "integers, so that all ranks agree; plans that need sums over rows only are counted as "
        "free, because the exchange can carry the sums). *Charged* adds instead what the whole of "
        "this very plan took, measured, as if every rank planned everything by itself and no byte "
        "moved before the end of that. Baselines pay nothing. What depends on machine and "
        "links only (how equal blocks are split) a communicator keeps between calls; it is not "
        "charged. Counts that come again skip "
        "exchange and planning in the component; no row is about those.",
        "- *Bounds*: `fluid` holds for every schedule over the topology's own paths, `LP` for "
        "exclusive lanes. Both are those of ideal links; under contention the reachable time lies "
        "higher. Paths are those that ours may take, over all NICs. Systems that forward bytes "
        "through other GPUs (`deepep-rail`, `fast`, `msccl`, `nimble`) use ways that those paths "
        "do not contain, and can lie below the bound.",
        "- *Slower*: ours takes longer than the best baseline by more than 2% and by more than one "
        f"exchange. The best baseline is the fastest of {len(BASELINES)} in that very row; "
        "synthesizers have a section of their own.",
    ]


def promise(rows):
    """The two promises, counted."""
    lines = []
    for name, kind in KINDS:
        slower, room, won = counts(rows, kind)
        bold = f"**{len(rows) - slower} of {len(rows)}**"
        lines.append(
            f"- {name}: not slower than the best baseline by more than 2% or one count exchange in "
            f"{bold} rows, strictly faster in **{won} of {room}** rows where the best baseline is "
            "more than 5% above the fluid bound."
        )
    near = sum(row.near_ns > row.limit_ns for row in rows)
    ahead = sum(row.modelled_ns > row.near_ns * 1.01 for row in rows)
    lines.append(
        "- over near NICs only, the paper's model, with modelled planning: not slower in "
        f"{len(rows) - near} of {len(rows)} rows. With all NICs ours is more than 1% slower than "
        f"with near ones in {ahead} of them."
    )
    small = [row for row in rows if row.bytes_per_rank < 1 << 20]
    for name, kind in KINDS if small else ():
        lines.append(
            f"- of the {len(small)} rows below 1 MiB per rank, {name}: "
            f"{len(small) - counts(small, kind)[0]} not slower."
        )
    return lines


def means_table(figures):
    """Geometric means per figure and profile, beside the paper's."""
    cells = []
    for section in figures:
        title = section.title.split(":")[0]
        for links in PROFILES:
            part = select(section.rows, "nominal", links)
            for name, kind in KINDS:
                if part:
                    cells.append([title, FULL_NAMES[links], name] + speedup_cells(part, kind))
        cells.append([title, "the paper, measured on GPUs", ""] + paper_cells(section.paper))
    return table(["figure", "links", "ours", *SPEEDUP_HEADS], cells)


def load_text(loads):
    """At which load planning was timed."""
    return (
        f"Planning was timed at 1-minute loads of {min(loads):.0f} to {max(loads):.0f}, median "
        f"{median(loads):.0f}, of which 2 to 3 are this very evaluation, on two cores; work beside "
        f"it makes that time several times as long as on a quiet machine.{TIMED}"
    )


def before(figures, headlines, loads, fast):
    """Title, rules, and the sum of all figures."""
    rows = [row for section in figures for row in section.rows]
    return [
        *rules(fast),
        "",
        "## In short",
        "",
        f"All {len(rows)} rows of figures 7 to 10: each point at nominal and measured rates under "
        "three sets of links.",
        "",
        *promise(rows),
        *[f"- {headline}" for headline in headlines],
        f"- {load_text(loads)}",
        "",
        *verdict_table(rows),
        "",
        *losses.section(rows),
        "",
        "Geometric means of the baseline's time over ours at nominal rates (each figure has the "
        "measured rates as well). The last column is what any schedule could still have gained: at "
        "1.0 ours is the bound, and a smaller speed-up than the paper's is all that there is.",
        "",
        *means_table(figures),
        "",
    ]


def after():
    """Why our figures are not the paper's."""
    return [
        "## Where our figures differ from the paper, and why",
        "",
        "- **Ideal sharing leaves little to win between nodes.** Where the NIC is the bottleneck, "
        "everything at once on nearest paths takes 1.00 to 1.05 times the LP bound "
        "(docs/simulator.md), so no schedule can be 3.7 times as fast as a windowed rotation that "
        "keeps the NIC busy. The bound in each row says what any schedule could have reached.",
        "- **The paper's gains over several nodes need links that lose throughput when shared, or "
        "baselines that bounce through host memory.** Its testbed is GeForce boards, where "
        "stock drivers refuse peer-to-peer and GPUDirect RDMA; its `NCCL` may be what we call "
        "`nccl-host`. Compare the columns `nccl` and `nccl-host`, and the rows under `collapses`: "
        "the paper's 3.73 to 10.61 is of the size of `nccl-host` there, not of `nccl`.",
        "- **`deepep-rail` or `deepep-nic`.** DeepEP without NVLink sends everything over the NIC; "
        "the paper's text describes forwarding. Both are here, its figure stands beside both.",
        "- **`fast` is granted what its description leaves open**: no global barrier between "
        "stages, and a stage's redistribution ordered at its sender only (docs/simulator.md).",
        "- **Ports may be shared in hardware.** The paper's channels are exclusive lanes; flows "
        "that share a GPU link reach the fluid bound, up to 20% below the LP bound where two NICs "
        "serve two GPUs. Baselines that start everything at once use that, and so does `auto`.",
        "- **Overheads.** The paper gives neither the overhead of an activation nor that of a "
        "baseline's message. Ours are one table for all, stated above.",
        "- **Planning inside or outside the clock.** The paper reports planning as 0.07% to 4.12% "
        "of communication at 1 GiB per source and does not say whether its bandwidths contain it. "
        "Ours are shown without and with it; at 1 MiB per rank the same plan costs a thousand "
        "times the share.",
        "- **Catalogs.** Complete lists of families explode with the number of switches; the "
        "paper's counts for up to 256 GPUs must be lists of something less. Ours are generated "
        "beyond 16 GPUs.",
        "- **Sizes and demands** of the figures are not listed in the paper; ours are stated. Its "
        "layouts of R5090-BF3, L20-CX7 and R5080-CX8 are derived, not given.",
        "",
    ]


def cost(costs, loads):
    """What making the page took."""
    cells = [[title, f"{cpu_s:.1f}"] for title, cpu_s in costs]
    cells.append(["all", f"{sum(cpu_s for _, cpu_s in costs):.1f}"])
    return [
        "## What this page cost",
        "",
        "CPU seconds of all programs that it took, two at a time; what is kept from an earlier run "
        "counts with what it took then.",
        load_text(loads),
        "",
        *table(["part", "CPU s" + TIMED], cells),
        "",
    ]
