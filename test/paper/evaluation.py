#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every table and figure and writes docs/evaluation.md.

usage: evaluation.py [--fast] [--docs FOLDER] [--work FOLDER] [--variopath PATH]

What a clock measured is marked; same.py compares two pages without it.
"""

import os
import sys
import time

import ablation
import catalogs
import figure1
import figure2
import losses
import moe
import planning
import quality
import random_alltoallv
import robustness
import skew
import synthesizers
import uniform_alltoall
import validation
from figures import argument_parser
from page import after, before, cost
from runner import Runner, own_cpu_s, write_file

PARTS = (
    figure1,
    figure2,
    random_alltoallv,
    uniform_alltoall,
    skew,
    moe,
    ablation,
    quality,
    synthesizers,
    catalogs,
    planning,
    robustness,
    validation,
)
# Those that the head of the page sums up.
FIGURES = (random_alltoallv, uniform_alltoall, skew, moe)


def write(path, text):
    """Whole or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_file(path, text)


def make_part(runner, part, fast):
    """(section, CPU seconds of its answers)."""
    started, cpu_s, asked, kept = time.monotonic(), runner.cpu_s, runner.n_asked, runner.n_kept
    section = part.make(runner, fast)
    print(
        f"{part.__name__}: {time.monotonic() - started:.1f} s, {runner.n_asked - asked} questions "
        f"run and {runner.n_kept - kept} kept, {runner.cpu_s - cpu_s:.1f} CPU s in all",
        file=sys.stderr,
        flush=True,
    )
    return section, runner.cpu_s - cpu_s


def main():
    """Writes the page, its pictures and tables."""
    parser = argument_parser(__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--docs", default="docs", help="where evaluation.md goes [docs]")
    arguments = parser.parse_args()
    runner = Runner(arguments.variopath, arguments.work, arguments.workers)
    made = {part: make_part(runner, part, arguments.fast) for part in PARTS}
    sections = [section for section, _ in made.values()]
    figures = [made[part][0] for part in FIGURES]
    costs = [(section.title, cpu_s) for section, cpu_s in made.values()]
    costs.append(("the scripts", own_cpu_s()))
    headlines = [made[part][0].headline for part in (ablation, synthesizers, validation)]
    lines = before(figures, headlines, runner.loads, arguments.fast)
    lines += [section.text() for section in sections] + after() + cost(costs, runner.loads)
    folder = os.path.join(arguments.docs, "evaluation")
    files = {"slower.csv": losses.csv_file([row for it in figures for row in it.rows])}
    for section in sections:
        files |= section.files
    for name, text in files.items():
        write(os.path.join(folder, name), text)
    write(os.path.join(arguments.docs, "evaluation.md"), "\n".join(lines))


if __name__ == "__main__":
    main()
