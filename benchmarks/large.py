"""Protect and judge the large three-way tables; print seconds, cost and memory.

Run: python benchmarks/large.py [method] [seconds] [lines of table VII, else all]
"""

from __future__ import annotations

import resource
import sys
import time

import evosdc
from evosdc.instances import make
from evosdc.instances.published import LARGE


def main(method: str, limit: float, lines: list[int]) -> None:
    """Protect one table after another; the first one compiles."""
    for line in lines:
        table = make("large", 1, table=line)
        wall, cpu = time.perf_counter(), time.process_time()
        result = evosdc.protect(table, method=method, time_limit=limit)
        seconds, busy = time.perf_counter() - wall, time.process_time() - cpu
        print(
            f"{line}: {len(table):,} cells, {len(table.primaries):,} sensitive; "
            f"{result.method} cost {result.cost:,.0f}, "
            f"{'safe' if result.safe else 'EXPOSED'}; "
            f"{seconds:.0f} s, {busy:.0f} s CPU; "
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB",
            flush=True,
        )


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        given[0] if given else "attacker",
        float(given[1]) if len(given) > 1 else 600.0,
        [int(x) for x in given[2:]] or list(LARGE),
    )
