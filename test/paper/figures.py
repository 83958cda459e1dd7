# SPDX-License-Identifier: BSD-3-Clause
"""What every script of a table or figure shares: sections, and running one alone."""

import argparse
import os
import sys

from runner import Runner
from tables import table


class Section:
    """A part of the page, with the files that belong to it."""

    def __init__(self, title):
        self.title = title
        self.lines = []
        self.files = {}
        self.rows = []
        self.paper = {}
        self.headline = ""

    def add(self, *lines):
        """Lines of Markdown; a string is one line."""
        for line in lines:
            self.lines.extend(line if isinstance(line, list) else [line])

    def picture(self, name, svg, caption):
        """An SVG beside the page."""
        self.files[name + ".svg"] = svg
        self.add("", f"![{caption}](evaluation/{name}.svg)", "")

    def add_table(self, heads, cells):
        """A table of strings."""
        self.add(*table(heads, cells))

    def text(self):
        """Markdown."""
        return "\n".join(["## " + self.title, "", *self.lines, ""])


def argument_parser(description):
    """Options of all scripts."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--variopath", default=os.environ.get("VARIOPATH", "./variopath"))
    parser.add_argument("--work", default="evaluation-work", help="folder of results [%(default)s]")
    parser.add_argument("--workers", type=int, default=2, help="programs at a time [2]")
    parser.add_argument("--fast", action="store_true", help="few points of each figure")
    return parser


def main(make, description):
    """Prints one section."""
    arguments = argument_parser(description).parse_args()
    runner = Runner(arguments.variopath, arguments.work, arguments.workers)
    sys.stdout.write(make(runner, arguments.fast).text())


def here(*parts):
    """A path beside these scripts."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), *parts)
