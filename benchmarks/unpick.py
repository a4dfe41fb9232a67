"""Time unpicking: sensitive cells that follow without a solver, on a big cube.

Run: python benchmarks/unpick.py [side]   (side 99: 100 x 100 x 100 cells with totals)
"""

from __future__ import annotations

import sys
import time

from evosdc.instances import make
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.unpick import unpick


def main(side: int) -> None:
    """Unpick a small table to compile, then a cube of counts."""
    unpick(Problem.of(make("frequency", 1, shape=(5, 5, 5))))
    start = time.perf_counter()
    table = make("frequency", 1, shape=(side, side, side), mean=3.0, spread=4.0)
    problem = Problem.of(table)
    made = time.perf_counter()
    found = unpick(problem)
    seconds = time.perf_counter() - made
    share = 1 - found.exposed.sum() / max(1, len(table.primaries))
    print(f"{len(table):,} cells, {len(table.primaries):,} sensitive")
    print(f"made in {made - start:.1f} s, unpicked in {seconds:.2f} s")
    print(f"K_u {found.follows.sum():,}, by bounds {found.narrow.sum():,}")
    print(f"need no work of their own: {100 * share:.1f} %")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 99)
