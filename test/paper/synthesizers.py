#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Schedules that LP and MILP solvers made for the one demand, beside ours.

A synthesizer takes seconds to minutes for 16 ranks, far too long for a call, so it is no
baseline: it says what a schedule could reach. Solvers that stop by the clock do not repeat
themselves; the times that `simulate` played lie in synthesizers.csv, which

    synthesizers.py --synthesize --python "$(test/sim/highs.sh)"

makes anew (test/sim/synthesizers/, HiGHS).
"""

import csv
import functools
import json
import os
import sys

from figures import Section, argument_parser, here
from figures import main as print_section
from rows import BASELINES, NEAR_NICS, PROFILES, TIMED, compare
from runner import Runner, run_program, write_file
from tables import FULL_NAMES, geometric_mean, table, us

NAMES = ("taccl", "teccl", "sccl")
SMALL = ("r5080-bf3", "l20-cx7", "r5080-cx8")
ZIPF = "zipf --over pairs --bytes-per-rank 67108864 --exponent "
POINTS = [
    (machine, 8, name, options)
    for machine in SMALL
    for name, options in (
        ("uniform", "uniform --bytes-per-rank 67108864"),
        ("Zipf 0.4", ZIPF + "0.4"),
        ("Zipf 0.8", ZIPF + "0.8"),
    )
] + [(machine + ":nodes=2", 16, "Zipf 0.6", ZIPF + "0.6") for machine in SMALL]
TABLE = here("synthesizers.csv")
TIME_LIMIT_S = "60"


def play(runner, python, name, point):
    """[CSV cells] per profile of a synthesizer's schedule of a point."""
    topology, ranks, demand_name, options = point
    demand = runner.demand(ranks, options)
    key = f"{name}-{topology}-{demand_name}".replace(":", "-").replace(" ", "-")
    path = os.path.join(runner.folder, key + ".json")
    script = here("..", "sim", "synthesizers", name + ".py")
    words = [python, script, topology, demand, "-o", path, "--time-limit", TIME_LIMIT_S]
    try:
        run_program([*words, "--variopath", runner.variopath])
    except SystemExit as error:
        print(f"{key}: {error}", file=sys.stderr)
        return []
    words = ["simulate", "--topology", topology, "--demand", demand, "--schedule", path]
    played = json.loads(runner.call(*words, "--links", ",".join(PROFILES), "--json")[0])
    return [
        [name, topology, demand_name, it["links"], it["time_ns"], it["synthesis_ms"]]
        for it in played
    ]


def synthesize(runner, python):
    """Writes synthesizers.csv; a line as soon as it is known goes to standard error."""
    lines = ["synthesizer,topology,demand,links,time_ns,synthesis_ms"]
    items = [(runner, python, name, point) for point in POINTS for name in NAMES]
    for cells in runner.map(play, items):
        lines += [",".join(map(str, cell)) for cell in cells]
    write_file(TABLE, "\n".join([*lines, ""]))


def read_table():
    """{(synthesizer, topology, demand, links): (ns, ms)}."""
    with open(TABLE, encoding="utf-8") as file:
        return {
            tuple(row[key] for key in ("synthesizer", "topology", "demand", "links")): (
                int(row["time_ns"]),
                int(row["synthesis_ms"]),
            )
            for row in csv.DictReader(file)
        }


def cells_of(row, name, known):
    """A line of the table."""
    topology, demand = name
    found = [known.get((it, topology, demand, row.links)) for it in NAMES]
    texts = [f"{us(it[0])} ({it[1] / 1e3:.1f} s)" if it else "none" for it in found]
    times = [it[0] for it in found if it]
    return [topology, demand, FULL_NAMES[row.links], us(row.fluid_ns), us(row.transfer_ns)] + [
        us(row.modelled_ns),
        us(row.charged_ns),
        *texts,
        f"{us(row.best[0])} (`{row.best[1]}`)",
        f"{min(times) / row.transfer_ns:.3f}" if times else "",
    ]


def make(runner, fast):
    """The section."""
    section = Section("Synthesizers: schedules made offline for the one demand")
    known = read_table()
    points = POINTS[:2] if fast else POINTS
    items = [
        (runner, f"{topology} {name}", topology, runner.demand(ranks, options))
        for topology, ranks, name, options in points
    ]
    near = functools.partial(compare, nics=NEAR_NICS)
    cells, ratios = [], {links: [] for links in PROFILES}
    for (topology, _, name, _), rows in zip(points, runner.map(near, items)):
        for row in rows:
            cells.append(cells_of(row, (topology, name), known))
            if cells[-1][-1]:
                ratios[row.links].append(float(cells[-1][-1]))
    means = ", ".join(
        f"{FULL_NAMES[links]} {geometric_mean(part):.2f}" for links, part in ratios.items() if part
    )
    section.headline = (
        f"Best synthesizer (offline, up to 16 ranks) over our transfer, geometric mean: {means}."
    )
    heads = ["machine", "demand", "links", "fluid bound us", "ours us"]
    heads += ["with modelled planning us", "charged us" + TIMED]
    heads += [f"`{name}` us (made in)" for name in NAMES]
    section.add(
        "`taccl`, `teccl` and `sccl` are the ideas of TACCL, TE-CCL and SCCL as LPs and MILPs "
        f"(docs/simulator.md), solved by HiGHS within {TIME_LIMIT_S} s for each program, on shared "
        "cores, for ideal links and near NICs, as ours here, 64 MiB per rank, up to 16 ranks, which is as far as they get. "
        "Their making is not charged: a call cannot wait for it. Schedules were made and played "
        "once (`test/paper/synthesizers.csv`); *none*: no schedule in time. "
        f"The best of the {len(BASELINES)} baselines stands beside them.",
        "",
        *table([*heads, "best baseline us", "best synthesizer / ours"], cells),
        "",
        section.headline,
    )
    return section


def main():
    """Prints the section, or makes the table."""
    if "--synthesize" not in sys.argv:
        print_section(make, __doc__)
        return
    sys.argv.remove("--synthesize")
    parser = argument_parser(__doc__)
    parser.add_argument("--python", default=sys.executable, help="one that has highspy")
    given = parser.parse_args()
    synthesize(Runner(given.variopath, given.work, given.workers), given.python)


if __name__ == "__main__":
    main()
