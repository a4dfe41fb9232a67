"""Attack the whole chain on random microdata, from what is published alone.

    python benchmarks/trust.py --sets 2000 --seed 0 --workers 2

Each set goes through tabulate, protect and publish with options drawn at random; an
attacker that shares no code with the package (tests/trust/independent_attack.py) then
tries every sensitive cell, also with what lone respondents know. Then the pattern is
made worse, and audit and attacker must agree on it. A cell called SAFE that the
attacker opens, an audit that the attack contradicts, a rule that marks other cells or
levels than the naive tabulator, or a crash: exit code 1, and the seed to repeat it
(--only SEED).
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "trust"))

from chain import Outcome, run
from random_cases import Case, draw

_WORDS = {True: "SAFE", False: "EXPOSED", None: "NOT JUDGED"}


@dataclass
class Line:
    """What came of one set, ready to be counted and printed."""

    seed: int
    kinds: list[str]
    verdict: str
    bad: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sensitive: int = 0
    seconds: float = 0.0


def one(seed: int) -> Line:
    """Draw, run and attack one set."""
    case = draw(seed)
    start = time.monotonic()
    try:
        outcome = run(case)
    except Exception:
        crash = traceback.format_exc(limit=-4)
        return Line(seed, case.kinds, "CRASHED", [crash], [_told(case)])
    line = _line(case, outcome)
    line.seconds = time.monotonic() - start
    return line


def _line(case: Case, outcome: Outcome) -> Line:
    verdict = "REFUSED" if outcome.refused else _WORDS[outcome.safe]
    line = Line(case.seed, case.kinds, verdict)
    line.sensitive = sum(cell.sensitive for cell in outcome.cells.values())
    line.bad += [f"marks: {words}" for words in outcome.marks[:5]]
    if outcome.contradicted:
        line.bad += [f"called SAFE: {found}" for found in outcome.findings[:5]]
    line.bad += outcome.audits
    if line.bad:
        line.notes.append(_told(case))
    if outcome.refused:
        line.notes.append(outcome.refused)
    elif outcome.safe is not True and not outcome.findings:
        line.verdict += ", nothing found"
        line.notes += outcome.said[:3]
    if outcome.alarms:
        line.kinds = [*line.kinds, "alarms of audits"]
        line.notes += [f"only the audit: {words}" for words in outcome.alarms]
    return line


def _told(case: Case) -> str:
    return (
        f"spans {case.design.spans}, rules {case.design.rules}, {case.options}, "
        f"{len(case.records)} records, earlier {case.earlier}, hide {case.hide}"
    )


def lines(seeds: list[int], workers: int) -> Iterator[Line]:
    """Run the sets, in as many processes as asked."""
    if workers == 1:
        yield from map(one, seeds)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(one, seeds, chunksize=4)


def main() -> int:
    """Run, count, print; 1 where anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="of the first set")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, help="one set, by its seed")
    given = parser.parse_args()
    first, last = given.seed, given.seed + given.sets
    seeds = [given.only] if given.only is not None else list(range(first, last))
    verdicts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    wrong, sensitive, start = 0, 0, time.monotonic()
    for line in lines(seeds, given.workers):
        verdicts[line.verdict] += 1
        kinds.update(line.kinds)
        sensitive += line.sensitive
        wrong += bool(line.bad)
        if line.bad or line.notes:
            print(f"seed {line.seed}: {line.verdict} ({', '.join(line.kinds)})")
            for words in (*line.bad, *line.notes):
                print(f"    {words}")
            sys.stdout.flush()
    print(f"\n{len(seeds)} sets in {time.monotonic() - start:.0f} s, {sensitive} cells")
    for title, counted in (("verdicts", verdicts), ("options", kinds)):
        print(f"{title}: " + ", ".join(f"{k} {n}" for k, n in counted.most_common()))
    print(f"wrong: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
