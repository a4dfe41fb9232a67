"""Singling out by predicates of a few columns, of a copy and of one by trees.

A fifth of the people is held out; copies are made of the others. The attack is that of
Giomi et al. (2023), as the package `anonymeter` has it: predicates that single out one
record of the copy are guesses about the original, and are counted as right where they
single out one person there. Those that do so among the people held out say what chance
alone gives. The package needs an environment of its own.

usage: singling_out.py make DATA.csv DIR [--seed 1] [--time-limit 60]
       ANOTHER_PYTHON singling_out.py attack DIR [--guesses 500] [--seed 1]

prints JSON lines: the copy, columns per predicate, guesses made, the share that was
right, the share among people held out, and the risk with what is due to chance removed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

_HELD_OUT = 5
_COLUMNS = (3, 4, 5)
_COPIES = ("evosdc", "trees")


def make(data: Path, out: Path, seed: int, time_limit: float) -> None:
    """Hold a fifth of the people out, and make copies of the others."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as csv

    # A script of its own finds the package it is part of.
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from benchmarks.experiments.mixed_cart import mixed_cart
    from evosdc.io import read_records
    from evosdc.synth import Synthesiser

    table = pa.table(read_records(data).frame)
    order = np.random.default_rng(seed).permutation(table.num_rows)
    held = table.num_rows // _HELD_OUT
    people = table.take(pa.array(np.sort(order[held:])))
    model = Synthesiser(seed=seed, time_limit=time_limit).fit(people)
    out.mkdir(parents=True, exist_ok=True)
    for name, part in (
        ("people", people),
        ("held_out", table.take(pa.array(np.sort(order[:held])))),
        ("evosdc", model.sample()),
        ("trees", mixed_cart(people, seed)),
    ):
        csv.write_csv(part, out / f"{name}.csv")


def attack(folder: Path, guesses: int, seed: int) -> None:
    """Guess at people of the original from each copy."""
    import pandas as pd
    from anonymeter.evaluators import SinglingOutEvaluator

    def read(name: str) -> Any:
        return pd.read_csv(folder / f"{name}.csv", low_memory=False)

    people, held_out = read("people"), read("held_out")
    for name in _COPIES:
        copy = read(name)
        names = [c for c in people.columns if c in copy.columns]
        for columns in _COLUMNS:
            found = SinglingOutEvaluator(
                ori=people[names],
                syn=copy[names],
                control=held_out[names],
                n_attacks=guesses,
                n_cols=columns,
                seed=seed,
            ).evaluate(mode="multivariate")
            result = found.results()
            risk = result.risk()
            line = {
                "copy": name,
                "columns": columns,
                "guesses": result.n_attacks,
                "right": round(float(result.attack_rate.value), 4),
                "right_held_out": round(float(result.control_rate.value), 4),
                "risk": round(float(risk.value), 4),
                "risk_interval": [round(float(v), 4) for v in risk.ci],
            }
            print(json.dumps(line), flush=True)


def main() -> None:
    """Read the arguments and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    making = verbs.add_parser("make")
    making.add_argument("data", type=Path)
    making.add_argument("folder", type=Path)
    making.add_argument("--time-limit", type=float, default=60.0)
    attacking = verbs.add_parser("attack")
    attacking.add_argument("folder", type=Path)
    attacking.add_argument("--guesses", type=int, default=500)
    for verb in (making, attacking):
        verb.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.verb == "make":
        make(args.data, args.folder, args.seed, args.time_limit)
    else:
        attack(args.folder, args.guesses, args.seed)


if __name__ == "__main__":
    main()
