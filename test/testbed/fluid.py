# SPDX-License-Identifier: BSD-3-Clause
"""Max-min fair sharing of links: what flows of unlimited length should get."""


def max_min(paths, rates):
    """paths: a list of link names per flow; rates: {link: bytes/s}. Bytes/s of each flow."""
    left, live, found = dict(rates), dict(enumerate(paths)), [0.0] * len(paths)
    while live:
        users = {}
        for path in live.values():
            for link in path:
                users[link] = users.get(link, 0) + 1
        narrowest = min(users, key=lambda link: (left[link] / users[link], link))
        share = left[narrowest] / users[narrowest]
        for flow in [flow for flow, path in live.items() if narrowest in path]:
            found[flow] = share
            for link in live.pop(flow):
                left[link] -= share
    return found
