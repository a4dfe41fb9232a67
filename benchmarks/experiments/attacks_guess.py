"""Guesses at people from a copy, by the Python that has `anonymeter` installed.

    PYTHON attacks_guess.py FOLDER COPY GUESSES SEED

The folder has `people.csv`, `held_out.csv` and `COPY.csv`; the last column is the one
to infer. Prints a line of JSON for each attack: what it is, the share of guesses that
was right, the share among people held out, and the risk with what is due to chance
removed. It imports nothing of this project: that need not be installed there.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

COLUMNS = (3, 4, 5)


def main() -> None:
    """Single people out by predicates of some columns, and infer the last column."""
    import numpy as np
    import pandas as pd

    anonymeter = import_module("anonymeter.evaluators")
    folder, name = Path(sys.argv[1]), sys.argv[2]
    guesses, seed = int(sys.argv[3]), int(sys.argv[4])
    copy, people, held_out = (
        pd.read_csv(folder / f"{n}.csv", low_memory=False)
        for n in (name, "people", "held_out")
    )
    names = [c for c in people.columns if c in copy.columns]
    files: dict[str, Any] = {
        "ori": people[names],
        "syn": copy[names],
        "control": held_out[names],
    }
    for columns in COLUMNS:
        found = anonymeter.SinglingOutEvaluator(
            **files, n_attacks=guesses, n_cols=columns, seed=seed
        ).evaluate(mode="multivariate")
        _tell(f"singling out {columns}", found.results())
    # Which people are guessed at is left to the generator of the whole process.
    np.random.seed(seed)  # noqa: NPY002
    *known, secret = names
    found = anonymeter.InferenceEvaluator(
        **files,
        aux_cols=known,
        secret=secret,
        regression=False,
        n_attacks=min(guesses, len(held_out)),
    ).evaluate()
    _tell("inference", found.results())


def _tell(attack: str, result: Any) -> None:
    line = {
        "attack": attack,
        "guesses": int(result.n_attacks_ori),
        "right": float(result.attack_rate.value),
        "right_held_out": float(result.control_rate.value),
        "risk": float(result.risk().value),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
