#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Are two pages equal but for what a clock measured?

usage: same.py FOLDER FOLDER

Each folder holds evaluation.md and evaluation/. Left out are columns whose head ends with the
mark and lines that hold it (pages), columns whose name ends with `_timed` (CSV), and elements
of class "timed" (SVG). Ends with 1 and the first difference if anything else differs.
"""

import os
import sys

from rows import TIMED, TIMED_SUFFIX

MARK = TIMED.strip()


def cells_of(line):
    """Cells of a line of a Markdown table."""
    return line.strip().strip("|").split("|")


def page_lines(text):
    """What must be equal of a page."""
    kept, left_out, is_table = [], set(), False
    for line in text.split("\n"):
        if not line.startswith("|"):
            is_table = False
            if MARK not in line:
                kept.append(line)
            continue
        cells = cells_of(line)
        if not is_table:
            is_table = True
            left_out = {k for k, cell in enumerate(cells) if cell.strip().endswith(MARK)}
        rest = "|".join(cell for k, cell in enumerate(cells) if k not in left_out)
        if MARK not in rest:
            kept.append(rest)
    return kept


def csv_lines(text):
    """What must be equal of a CSV file."""
    lines = [line.split(",") for line in text.split("\n")]
    timed = {k for k, name in enumerate(lines[0]) if name.endswith(TIMED_SUFFIX)}
    return [",".join(cell for k, cell in enumerate(line) if k not in timed) for line in lines]


def svg_lines(text):
    """What must be equal of a picture."""
    return [line for line in text.split("\n") if 'class="timed"' not in line]


READERS = {".md": page_lines, ".csv": csv_lines, ".svg": svg_lines}


def files_of(folder):
    """Names of the page's files that are there."""
    names = os.listdir(os.path.join(folder, "evaluation"))
    return sorted(["evaluation.md"] + [os.path.join("evaluation", name) for name in names])


def difference(first, second):
    """A sentence on the first difference; None: there is none."""
    if files_of(first) != files_of(second):
        names = sorted(set(files_of(first)) ^ set(files_of(second)))
        return f"only one of the folders has {', '.join(names)}"
    for name in files_of(first):
        read = READERS[os.path.splitext(name)[1]]
        texts = []
        for folder in (first, second):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append(read(file.read()))
        for one, two in zip(*texts):
            if one != two:
                return f"{name}:\n{one}\n{two}"
        if len(texts[0]) != len(texts[1]):
            return f"{name}: {len(texts[0])} and {len(texts[1])} lines"
    return None


def main():
    """Exit code of the comparison."""
    if len(sys.argv) != 3:
        raise SystemExit(__doc__.split("\n")[2])
    found = difference(*sys.argv[1:])
    if found is not None:
        raise SystemExit(f"differs: {found}")
    print(f"{len(files_of(sys.argv[1]))} files are equal but for what is timed")


if __name__ == "__main__":
    main()
