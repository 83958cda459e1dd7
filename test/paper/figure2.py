#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 2: a transfer bound to one path as a whole, and cut over two paths.

Two ranks under one switch of Figure 1's machine each send to a rank under the other, one
much, one little. Whole transfers: the large one takes the faster path between the switches,
the small one the NIC, and the other path idles at the end, whichever takes which. Cut: the
planner splits.
"""

from figures import Section, main
from tables import table, us

MB = 10**6
LARGE, SMALL = 192 * MB, 64 * MB


def make(runner, fast):
    """The section."""
    del fast
    section = Section("Figure 2: whole transfers and pieces")
    rows = [[0] * 6 for _ in range(6)]
    rows[0][3], rows[1][4] = LARGE, SMALL
    demand = runner.write_demand("figure2", rows)
    where = ["--topology", "fig1-6", "--demand", demand]
    bound = runner.ask("bound", *where)
    whole = min(max(LARGE / 64, SMALL / 50), max(LARGE / 50, SMALL / 64))
    cells = [
        ["whole transfers, the better of both assignments (by hand)", us(whole)],
    ]
    for name in ("paper", "auto"):
        answer = runner.ask("simulate", *where, "--algorithms", name, "--alpha-ns", "0")[0]
        cells.append([f"planner `{name}`, no overhead", us(answer["time_ns"])])
    for name in ("nearest", "nimble"):
        answer = runner.ask("simulate", *where, "--algorithms", name)[0]
        cells.append([f"`{name}`", us(answer["time_ns"])])
    cells.append(["LP bound", us(bound["lp_ns"])])
    section.add(*table(["how", "us"], cells))
    section.add(
        "",
        "The paper draws the case without figures: while the small transfer's path idles, the "
        "large one still runs; cut into pieces it uses both paths.",
    )
    return section


if __name__ == "__main__":
    main(make, __doc__)
