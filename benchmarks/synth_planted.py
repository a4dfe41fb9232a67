"""People planted in random files: is any of them in a default copy?

    python benchmarks/synth_planted.py                 # 50 files, guarded
    python benchmarks/synth_planted.py --least 0       # the same without the guard
    python benchmarks/synth_planted.py --replaced      # in and out, see below

Prints one line per file that shows something, and totals: how many of the thirteen
people with a job of their own are in the copies with all their values and with all but
one, beside what chance alone would show. Exit code 1 where anything planted is found.
`--replaced` makes copies of each file with a quarter of the thirteen replaced by others
who have that job, each quarter in turn, and looks for all thirteen: those who were in
the file, and those who were not. A copy that shows the former more often knows them,
and not only what values go together. (Incomes and identifiers are left out: the fewer
columns, the nearer is a search.)
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from evosdc.synth import Synthesiser

# A script of its own finds the package it is part of.
sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.experiments.planted import (
    IDENTIFIERS,
    KEY,
    TARGET,
    Planted,
    count_again,
    look,
    plant,
    replaced,
)

_PARTS = 4


def main() -> int:
    """Synthesise and look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="First seed.")
    parser.add_argument("--least", type=int, default=5)
    parser.add_argument("--scenario", action="store_true", help="With key and target.")
    parser.add_argument("--moves", type=int, default=None)
    parser.add_argument("--replaced", action="store_true", help="In and out.")
    options = parser.parse_args()
    if options.replaced:
        return in_and_out(options)
    totals, bad = np.zeros(4), 0
    for seed in range(options.first, options.first + options.files):
        planted = plant(seed)
        attack = (list(KEY), TARGET) if options.scenario else (None, None)
        model = Synthesiser(
            *attack,
            least=options.least,
            moves=options.moves,
            time_limit=None,
            seed=seed,
        ).fit(planted.table)
        found = look(planted, model.sample())
        totals += (
            found.whole,
            found.nearly,
            found.chance_whole,
            found.chance_nearly,
        )
        bad += bool(found.problems)
        for problem in found.problems:
            print(f"file {seed}: {problem}", flush=True)
    whole, nearly, chance_whole, chance_nearly = totals
    print(f"{options.files} files, least {options.least}: {bad} show something planted")
    print(f"whole: {whole:.0f} people, by chance {chance_whole:.1f}")
    print(f"all but one value: {nearly:.0f} people, by chance {chance_nearly:.1f}")
    return 1 if bad else 0


def in_and_out(options: argparse.Namespace) -> int:
    """Look for people in copies of files that they are in, and that they are not in."""
    totals, people = {"in": np.zeros(4), "out": np.zeros(4)}, {"in": 0, "out": 0}
    for seed in range(options.first, options.first + options.files):
        planted = plant(seed)
        plain = planted.table.drop_columns([*IDENTIFIERS, "income"])
        file, some = Planted(plain, planted.people), planted.people["some"]
        for part in range(_PARTS):
            gone = some[part::_PARTS]
            there = np.setdiff1d(some, gone)
            model = Synthesiser(
                least=options.least, moves=options.moves, time_limit=None, seed=seed
            )
            copy = model.fit(replaced(file, gone, seed).table).sample()
            for name, who in (("in", there), ("out", gone)):
                totals[name] += count_again(file, copy, who)
                people[name] += len(who)
    for name, (whole, nearly, chance, chance_nearly) in totals.items():
        print(
            f"{name}: of {people[name]} people {whole:.0f} whole (independent columns "
            f"{chance:.1f}), {nearly:.0f} but for one value ({chance_nearly:.1f})"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
