"""Hold bounds against the costs of safe patterns, on random tables of all kinds.

    python benchmarks/bounds_check.py --tables 10000 --seed 0

For each table: the node, row, cut and equation bounds and what `optimal` and `hybrid`
report after a few evaluations, one of them contracted, must not be above the cost of
any safe pattern that a quick method finds. With at most 14 free cells all patterns are
tried (tests/property/bound_twins.py), and neither may a bound be above the optimum nor
a pattern below it. Otherwise: exit code 1, and the seed to repeat it
(--seed SEED --tables 1).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "property"))

from bound_twins import ENUMERATED, Outcome, check


def main() -> int:
    """Check so many tables and print what was done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000, help="how many tables")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first one")
    parser.add_argument("--enumerate", type=int, default=ENUMERATED, metavar="CELLS")
    options = parser.parse_args()
    start, wrong = time.process_time(), 0
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.tables):
        outcome = check(seed, options.enumerate)
        _count(counts, outcome)
        if outcome.bad:
            wrong += 1
            print(f"BAD {outcome.kind}", *outcome.bad, sep="\n    ", flush=True)
        if (seed - options.seed + 1) % 500 == 0:
            _show(counts, wrong, time.process_time() - start)
    _show(counts, wrong, time.process_time() - start)
    return 1 if wrong else 0


def _count(counts: Counter[str], outcome: Outcome) -> None:
    counts["tables"] += 1
    if outcome.skipped:
        counts[f"left out: {outcome.skipped}"] += 1
        return
    counts["checked"] += 1
    counts[f"kind {outcome.kind.split(' + ')[0].split(';')[0]}"] += 1
    counts["bounds"] += len(outcome.bounds)
    counts["reported as proven"] += outcome.proven
    if outcome.optimum is not None:
        counts["all patterns tried"] += 1
        counts["of these needing secondaries"] += outcome.optimum > 0


def _show(counts: Counter[str], wrong: int, seconds: float) -> None:
    told = "; ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    print(f"{told}; WRONG {wrong}; {seconds:.0f} CPU s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
