#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""links.py METER TRACE...: bytes that crossed each PCIe link against the plans'.

METER is what meter.c wrote, TRACE the ranks' files of coll_variopath_trace. A
lane crosses the link of its source GPU outwards, that of its destination
inwards, and what it shares with others. The first call is left out on both
sides: paths are checked with a pattern in it. Exit code 1 where the two differ.
"""
import collections
import json
import sys


def planned(names):
    links = collections.Counter()
    for name in names:
        with open(name) as trace:
            for line in trace:
                call = json.loads(line)
                for lane in call["lanes"] if call["call"] > 1 else []:
                    crossed = {f"gpu{lane['source']}:out", f"gpu{lane['destination']}:in"}
                    for link in crossed.union(lane["links"]):
                        links[link] += lane["bytes"]
    return links


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    plans = planned(sys.argv[2:])
    with open(sys.argv[1]) as meter:
        counted = {name: int(count) for name, count in (line.split() for line in meter)}
    print(f"{'PCIe link':<16} {'plans, bytes':>14} {'counted':>14}")
    differing = 0
    for name, count in counted.items():
        differing += count != plans[name]
        print(f"{name:<16} {plans[name]:>14} {count:>14}{'' if count == plans[name] else '  differs'}")
    print(f"{len(counted)} links, {differing} of them differ from the plans")
    return 1 if differing or not any(counted.values()) else 0


sys.exit(main())
