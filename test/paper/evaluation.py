#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every table and figure and writes docs/evaluation.md.

usage: evaluation.py [--fast] [--docs FOLDER] [--work FOLDER] [--variopath PATH]

Equal programs write equal pages; what a clock measured goes to
evaluation/timings.md, which differs from run to run.
"""

import os
import sys
import time

import ablation
import catalogs
import figure1
import figure2
import moe
import planning
import quality
import random_alltoallv
import robustness
import skew
import uniform_alltoall
import validation
from figures import argument_parser
from page import after, before
from runner import Runner

PARTS = (
    figure1,
    figure2,
    random_alltoallv,
    uniform_alltoall,
    skew,
    moe,
    ablation,
    quality,
    catalogs,
    planning,
    robustness,
    validation,
)


def write(path, text):
    """Whole or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)


def main():
    """Writes the page, its pictures and tables."""
    parser = argument_parser(__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--docs", default="docs", help="where evaluation.md goes [docs]")
    arguments = parser.parse_args()
    runner = Runner(arguments.variopath, arguments.work, arguments.workers)
    sections = []
    for part in PARTS:
        started = time.monotonic()
        sections.append(part.make(runner, arguments.fast))
        print(f"{part.__name__}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    folder = os.path.join(arguments.docs, "evaluation")
    lines = before(sections, arguments.fast) + [it.text() for it in sections] + after()
    timings = ["# Timings", "", "Measured with a clock, on whatever else the machine did.", ""]
    for section in sections:
        for name, text in section.files.items():
            write(os.path.join(folder, name), text)
        timings += getattr(section, "timings", [])
    write(os.path.join(folder, "timings.md"), "\n".join(timings))
    write(os.path.join(arguments.docs, "evaluation.md"), "\n".join(lines))


if __name__ == "__main__":
    main()
