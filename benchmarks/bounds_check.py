"""Hold bounds against the costs of safe patterns, on random tables of all kinds.

    python benchmarks/bounds_check.py --tables 10000 --seed 0 -o results

For each table: the node, row, cut and equation bounds, `evosdc.lower_bound`, and what
`optimal`, `hybrid` and `auto` report after a few evaluations, with parts of the
flagship switched off by turns, contracted or not, must not be above the cost of any
safe pattern that they or a quick method find. With at most 14 free cells all patterns
are tried (tests/property/all_patterns.py), and neither may a bound be above the optimum
nor a pattern below it. Otherwise: exit code 1, and the seed to repeat it
(--seed SEED --tables 1).

With -o: slices of 250 tables are kept as they come in bounds.csv and not checked again;
bounds.md is the page.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "property"))

from bound_twins import ENUMERATED, Outcome, check
from drawn_tables import TWISTS

from benchmarks.experiments.provenance import provenance_now
from benchmarks.experiments.store import Row, Store
from benchmarks.experiments.write import markdown_table, write_under_remarks

_SLICE = 250
_FIGURES = {
    "tables": "tables drawn",
    "nothing_to_protect": "of these with nothing to protect",
    "beyond": "of these with levels beyond any pattern",
    "refused": "of these refused",
    "checked": "checked",
    "bounds": "bounds held against patterns",
    "proven": "costs reported as proven",
    "enumerated": "tables with all patterns tried",
    "needing": "of these that need secondaries",
    "wrong": "tables with a wrong bound or cost",
    "cpu_seconds": "CPU seconds",
}
_COLUMNS = ("first", *_FIGURES, "kinds", "bad", "date")
_SKIPPED = {"nothing to protect": "nothing_to_protect", "beyond any pattern": "beyond"}


def main() -> int:
    """Check so many tables and print what was done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000, help="how many tables")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first one")
    parser.add_argument("--enumerate", type=int, default=ENUMERATED, metavar="CELLS")
    parser.add_argument("-o", "--output", type=Path, help="folder of rows and page")
    options = parser.parse_args()
    last, store = options.seed + options.tables, None
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        store = Store(options.output / "bounds.csv", ("first", "tables"), _COLUMNS)
    rows = []
    for first in range(options.seed, last, _SLICE):
        count = min(_SLICE, last - first)
        row = None if store is None else store.get((first, count))
        if row is None:
            row = _slice(first, count, options.enumerate)
            if store is not None:
                store.add(row)
        rows.append(row)
        print(_told(rows), flush=True)
    if options.output is not None:
        # Others may have added slices meanwhile.
        kept = Store(options.output / "bounds.csv", ("first", "tables"), _COLUMNS)
        _write_page(options.output / "bounds.md", kept.rows, options.enumerate)
    return 1 if _total(rows)["wrong"] else 0


def _slice(first: int, tables: int, enumerate_to: int) -> Row:
    start = time.process_time()
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    bad = []
    for seed in range(first, first + tables):
        outcome = check(seed, enumerate_to)
        _count(counts, kinds, outcome)
        if outcome.bad:
            bad.append(str(seed))
            print(f"BAD {outcome.kind}", *outcome.bad, sep="\n    ", flush=True)
    return {
        "first": first,
        **{name: counts[name] for name in _FIGURES},
        "tables": tables,
        "wrong": len(bad),
        "cpu_seconds": round(time.process_time() - start, 1),
        "kinds": "; ".join(f"{name}: {n}" for name, n in sorted(kinds.items())),
        "bad": " ".join(bad),
        "date": provenance_now("", 0).date,
    }


def _count(counts: Counter[str], kinds: Counter[str], outcome: Outcome) -> None:
    if outcome.skipped:
        counts[_SKIPPED.get(outcome.skipped, "refused")] += 1
        return
    counts["checked"] += 1
    counts["bounds"] += len(outcome.bounds)
    counts["proven"] += outcome.proven
    kinds.update(outcome.kind.partition(";")[0].split(" + "))
    if outcome.optimum is not None:
        counts["enumerated"] += 1
        counts["needing"] += outcome.optimum > 0


def _total(rows: Sequence[Row]) -> dict[str, float]:
    return {name: sum(row[name] for row in rows) for name in _FIGURES}


def _told(rows: Sequence[Row]) -> str:
    found = _total(rows)
    return "; ".join(f"{words} {found[name]:,.0f}" for name, words in _FIGURES.items())


def _write_page(path: Path, rows: Sequence[Row], enumerate_to: int) -> None:
    found, kinds = _total(rows), Counter[str]()
    for row in rows:
        for entry in str(row["kinds"] or "").split("; "):
            name, _, n = entry.partition(": ")
            kinds[name] += int(n or 0)
    made = provenance_now(shlex.join(["python", *sys.argv]), len(rows))
    shapes = [name for name in sorted(kinds) if name and name not in TWISTS]
    firsts = sorted(int(row["first"]) for row in rows)
    last = max(int(row["first"]) + int(row["tables"]) for row in rows) - 1
    lines = [
        "# Bounds held against patterns",
        "",
        "Random tables of all kinds. The node, row, cut and equation bounds, "
        "`evosdc.lower_bound`, and the bounds that `optimal`, `hybrid` and `auto` "
        "report "
        "after 15 evaluations (contracted or not; bridgeless rows, planes, programmes "
        "and tree switched off by turns) are held against the cost of every safe "
        "pattern that any method finds. On tables "
        f"with at most {enumerate_to} free cells all patterns are tried, by a program "
        "that shares no code with the searchers: no bound may be above the optimum, no "
        "pattern below it.",
        "",
        "```",
        f"{made.command}   # {made.date}",
        "```",
        "",
        f"Seeds {firsts[0]} to {last}, {len(rows)} slices, on: {made.machine}.",
        "",
        markdown_table(
            ("", "tables"),
            [(words, f"{found[name]:,.0f}") for name, words in _FIGURES.items()],
        ),
        "",
        "## Kinds, of the tables checked",
        "",
        "A table is of one of the first kinds, and has any of the others with a "
        "probability of 15 % each.",
        "",
        markdown_table(
            ("kind", "tables"), [(n, f"{kinds[n]:,}") for n in (*shapes, *TWISTS)]
        ),
        "",
    ]
    bad = " ".join(str(row["bad"]) for row in rows if row["bad"])
    lines += [f"Seeds of tables with a wrong bound or cost: {bad or 'none'}.", ""]
    write_under_remarks(path, "\n".join([*lines, ""]))


if __name__ == "__main__":
    sys.exit(main())
