#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One comparison with a wide margin: across switches the component beats the pairwise exchange."""

import sys

from bench import Bench, milliseconds, parse
from system import exit_on_signals, obstacle

PATTERN, WANTED = "cross-switch", 1.5
NAMES = ("VarioPath auto", "tuned pairwise, ob1/tcp")


def main():
    sys.argv += [
        "--patterns",
        PATTERN,
        "--contenders",
        ";".join(NAMES),
        "--repeat",
        "3",
        "--megabytes",
        "2",
    ]
    exit_on_signals()
    reason = obstacle()
    if reason:
        print(reason)
        return 77
    bench = Bench(parse())
    bench.run()
    ours, pairwise = (
        next((row["median"] for row in bench.rows if row["contender"] == name), None)
        for name in NAMES
    )
    is_faster = ours is not None and pairwise is not None and pairwise >= WANTED * ours
    print(
        f"{'ok' if is_faster else 'FAILED'}: {milliseconds(ours)} ms, "
        f"pairwise {milliseconds(pairwise)} ms, wanted {WANTED} times faster"
    )
    print(f"{100 * is_faster}%: Checks: 1, Failures: {int(not is_faster)}, Errors: 0")
    return 0 if is_faster else 1


if __name__ == "__main__":
    sys.exit(main())
