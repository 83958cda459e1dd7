# SPDX-License-Identifier: BSD-3-Clause
"""What stands before and after the figures of the page."""

import collections

import runner as run
from tables import speedup_table, verdicts


def losses(rows):
    """Which baselines beat our transfers alone, and where planning loses what they win."""
    names = collections.Counter(row.best[1] for row in rows if row.is_transfer_beaten())
    listed = ", ".join(f"`{name}` ({n} rows)" for name, n in sorted(names.items())) or "none"
    beaten = [row for row in rows if row.is_beaten()]
    planning = sum(not row.is_transfer_beaten() for row in beaten)
    return [
        f"Baselines that are faster than our transfers alone by more than 2% and an exchange: "
        f"{listed}. "
        f"Of the {len(beaten)} rows that are slower when charged, {planning} are so by planning "
        f"and "
        "exchange only: planning takes as long for 1 MiB as for 1 GiB, so small calls pay it in "
        "full "
        "unless their counts come again. In every table a row that is slower says so.",
    ]


def before(sections, fast):
    """Title, rules, and the sum of all figures."""
    rows = [row for section in sections[:6] for row in section.rows]
    small = [row for row in rows if row.bytes_per_rank < 1 << 20]
    lines = [
        "# Evaluation",
        "",
        "Everything on this page is **simulated** (docs/simulator.md), on the shipped topologies, "
        "but "
        "for the validation section, whose times were **measured** on the testbed of "
        "docs/testbed.md: network namespaces with rate-limited links, no GPUs. What the paper "
        "reports was measured on GPUs. Made by `make evaluation`"
        + (" (few points: `--fast`)." if fast else "."),
        "",
        "- *Rates*: `nominal` are what links are sold as, `measured` public measurements of such "
        "links; each figure in a topology file names its origin.",
        "- *Links*: `ideal` share without loss; *contended (shares well)* and *contended "
        "(collapses)* lose total throughput when several GPUs use a link, by tables fixed before "
        "any comparison was run. NIC sharing has no public figure and loses nothing, so between "
        "nodes with one NIC per switch the profiles change little.",
        "- *Ours* is planner `auto`, planning for the links that it is played on. Operations cost "
        "all "
        f"the same: a one-sided put {run.POST_NS} ns; a message that its receiver must answer, or "
        f"a "
        f"lane whose end lets lanes of other ranks start, {run.LANE_NS} ns. *Charged* adds "
        "planning by the pair, as measured (section on planning), and one exchange of all counts: "
        "recursive doubling, "
        f"{run.EXCHANGE_STEP_NS} ns per step and {run.COUNT_BYTES} bytes per pair over one NIC "
        f"({run.exchange_ns(8) / 1e3:.1f} us for 8 ranks, {run.exchange_ns(64) / 1e3:.1f} for 64, "
        f"{run.exchange_ns(256) / 1e3:.1f} for 256). Baselines pay neither. "
        "Counts that come again skip planning in the component; no row here is about those.",
        "- *Bounds*: `fluid` holds for every schedule over the topology's own paths, `LP` for "
        "exclusive "
        "lanes. Both are those of ideal links; under contention the reachable time lies higher. "
        "Systems that forward bytes through other GPUs (`deepep-rail`, `fast`, `msccl`) or leave "
        "through a far NIC (`rails`, `deepep-nic`) use ways that those paths do not contain, and "
        "can "
        "lie below the bound: `deepep-rail` does on skewed demands of two nodes.",
        "- *Slower*: ours, charged, takes longer than the best baseline by more than 2% and by "
        "more "
        "than one exchange.",
        "",
        "## In short",
        "",
        "All rows of figures 7 to 10. Speed-ups are geometric means of the baseline's time over "
        "ours: of the transfer alone, and charged with planning and exchange.",
        "",
        *speedup_table(rows, {}),
        "",
        *verdicts(rows),
        "",
        *losses(rows),
        "",
    ]
    if small:
        lines += [
            f"{len(small)} rows send less than 1 MiB per rank; there the exchange alone can take "
            "longer than the transfer, so the tables show ours with and without.",
            "",
        ]
    return lines


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
        "stock drivers refuse peer-to-peer and GPUDirect RDMA; its baseline may be what we call "
        "`nccl-host`. Compare the columns `nccl` and `nccl-host`, and the rows under `collapses`.",
        "- **`deepep-rail` or `deepep-nic`.** DeepEP without NVLink sends everything over the NIC; "
        "the "
        "paper's text describes forwarding. Both are here.",
        "- **Overheads.** The paper gives neither the overhead of an activation nor that of a "
        "baseline's message. Ours are one table for all, stated above.",
        "- **Planning inside or outside the clock.** The paper reports planning as 0.07% to 4.12% "
        "of "
        "communication and does not say whether its bandwidths contain it. Ours do.",
        "- **Sizes and demands** of the figures are not listed in the paper; ours are stated.",
        "",
    ]
