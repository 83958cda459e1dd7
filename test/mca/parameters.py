#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/parameters.md from what `ompi_info --parsable` says of the component (standard input)."""
import re
import sys

LEVELS = (
    ("For everybody", (1, 2, 3)),
    ("For tuning", (4, 5, 6)),
    ("For developers, and facts", (7, 8, 9)),
)
FACTS = ("compiletime_version", "runtime_version")
HEAD = """# Parameters

Written by `make docs-parameters` from the component's registration table; a test compares this page
with what `ompi_info` lists. Each is set as `mpirun --mca coll_variopath_NAME VALUE`, as
`OMPI_MCA_coll_variopath_NAME` in the environment, or in a parameter file
([sample](../examples/openmpi-mca-params.conf)). All of them are read once, in `MPI_Init`; what decides
verdicts must be the same on all ranks, and ranks that differ pass their calls on with the reason.
Everything here, on the machine itself: `ompi_info --param coll variopath --level 9`.
"""
KEY = re.compile(r"mca:coll:variopath:param:coll_variopath_(\w+):(type|level|help):(.*)")


def read(lines):
    parameters = {}
    for line in lines:
        match = KEY.match(line.rstrip("\n"))
        if match:
            name, key, value = match.groups()
            parameters.setdefault(name, {})[key] = value
    return parameters


def row(name, parameter):
    # Open MPI 5 quotes what contains a colon.
    text = parameter["help"].strip('"').replace("|", "\\|")
    match = re.fullmatch(r"(.*) \(default(?:: (.*)|, (.*))\)", text)
    default = "–"
    if match and match[2] is not None:
        text, default = match[1], match[2]
    return f"| `{name}` | {parameter['type']} | {default} | {text} |"


def page(parameters):
    yield HEAD
    for title, levels in LEVELS:
        names = [n for n, p in parameters.items() if int(p["level"].split()[0]) in levels]
        yield f"## {title}\n"
        yield "| parameter | type | default | meaning |"
        yield "|---|---|---|---|"
        for name in sorted(names, key=lambda n: (n in FACTS, n)):
            yield row(name, parameters[name])
        yield ""


def main():
    parameters = read(sys.stdin)
    if not parameters:
        sys.exit("no parameters of coll_variopath in the input: is the component found?")
    print("\n".join(page(parameters)).rstrip("\n"))


main()
