"""Are events valid for Perfetto, and do the summaries of one run in both formats agree?

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import sys
import xml.etree.ElementTree

work = sys.argv[1]
events = json.loads(open(work + "/all").read().rstrip().rstrip(",") + "]")
names = [e for e in events if e["ph"] == "M"]
assert sorted(e["pid"] for e in names) == [0, 1, 2, 3] and all("name" in e["args"] for e in names)
slices = [e for e in events if e["ph"] == "X"]
assert len(slices) + len(names) == len(events)
rows = {}
for e in slices:
    assert isinstance(e["ts"], (int, float)) and e["dur"] >= 0 and isinstance(e["args"], dict)
    assert isinstance(e["pid"], int) and isinstance(e["tid"], int) and e["name"] and e["cat"]
    rows.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["dur"]))
for row in rows.values():  # slices of a row do not overlap; ts has quarters of a microsecond here
    row.sort()
    assert all(a[0] + a[1] <= b[0] + 0.5 for a, b in zip(row, row[1:])), row

lanes = [e for e in slices if e["cat"] == "lane"]
calls = [e for e in slices if e["cat"] == "call"]
lines, chrome = (json.load(open(f"{work}/{name}.json")) for name in ("lines", "events"))
assert chrome["calls"] == len(calls) == lines["calls"] and chrome["ranks"] == 4
assert sum(c["lanes"] for c in chrome["classes"]) == len(lanes) > 0
assert sum(c["bytes"] for c in chrome["classes"]) == sum(e["args"]["bytes"] for e in lanes)
for key in ("kind", "lanes", "bytes"):
    assert [c[key] for c in chrome["classes"]] == [c[key] for c in lines["classes"]], key
xml.etree.ElementTree.parse(work + "/events.svg")
