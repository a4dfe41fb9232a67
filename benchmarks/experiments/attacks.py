"""Attacks on copies and what copies are worth, beside sequential trees.

A fifth of the people is held out; copies are made of the others, with default settings
and with the last column as the target that is known to be attacked. Singling out and
inference are those of Giomi et al. (2023), as the package `anonymeter` has them:
predicates that single out one record of a copy are guesses about the original, and
right where they single out one person there. The package needs an environment of its
own. Boosted trees learn the last column from a copy and are tried on the original.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
from numpy.typing import NDArray

from benchmarks.experiments import attacks_guess
from benchmarks.experiments.files import csv_files
from benchmarks.experiments.mixed_cart import features, mixed_cart
from benchmarks.experiments.pieces import Pieces
from benchmarks.experiments.provenance import Provenance, provenance_now
from benchmarks.experiments.write import markdown_table, write_under_remarks
from evosdc.errors import InputError, MissingExtraError
from evosdc.io import read_records
from evosdc.metrics import evaluate
from evosdc.synth import Synthesiser

_HELD_OUT = 5
_GUESSES = 500
_METRICS = ("jsd_2", "jsd_3", "jsd_4", "dcap_u", "rep_uniques_pct", "disco_pct")
# A column with more levels is no target of a classifier.
_LEVELS = 20
_HEAD = ("copy", "seed", "2-way JS", "3-way", "4-way", "AUC", "AUC held out")
_RISKS = ("DCAP-U", "rep. uniques %", "DiSCO %")
_ATTACKS = (*(f"singling out {k}" for k in attacks_guess.COLUMNS), "inference")


@dataclass(frozen=True)
class Row:
    """What is found of a copy by one metric or attack.

    `chance` is what an attack achieves among people held out; None of a metric.
    """

    file: str
    copy: str
    seed: int
    name: str
    value: float
    chance: float | None = None


def conduct(
    output: Path,
    *,
    data: Path | None,
    python: Path | None,
    seeds: int,
    time_limit: float,
    files: Sequence[str],
    command: str,
    on_row: Callable[[Row], object],
    force: bool = False,
) -> list[Path]:
    """Make copies of every file of a directory, attack them, and write a page.

    Files and seeds that the directory has already are left, but with `force`.
    """
    if python is None:
        raise InputError(
            "there is no --python",
            expected="the Python of an environment with anonymeter",
            hint="python -m venv anon && anon/bin/pip install anonymeter; "
            "then --python anon/bin/python",
        )
    paths = csv_files(data, files)
    pieces = Pieces(
        output / "attacks.csv", Row, lambda r: (r.file, f"{r.seed:09d}"), again=force
    )
    for path in paths:
        table = pa.table(read_records(path).frame)
        for seed in range(1, seeds + 1):
            if (path.stem, f"{seed:09d}") in pieces:
                continue
            rows = list(measure(path.stem, table, python, seed, time_limit))
            pieces.add(rows)
            for row in rows:
                on_row(row)
    rows = pieces.rows
    made = len({(r.file, r.seed) for r in rows})
    return _write(output, rows, provenance_now(command, made))


def measure(
    file: str, table: pa.Table, python: Path, seed: int, time_limit: float
) -> Iterator[Row]:
    """Hold a fifth of the people out, make copies of the others, and look at them."""
    *key, target = table.column_names
    order = np.random.default_rng(seed).permutation(table.num_rows)
    held = table.num_rows // _HELD_OUT
    people = table.take(pa.array(np.sort(order[held:])))
    held_out = table.take(pa.array(np.sort(order[:held])))
    makers: dict[str, Callable[[], Any]] = {
        "evosdc": lambda: Synthesiser(seed=seed, time_limit=time_limit),
        "evosdc, key and target": lambda: Synthesiser(
            key, target, seed=seed, time_limit=time_limit
        ),
    }
    copies = {
        name: pa.table(make().fit_sample(people)) for name, make in makers.items()
    }
    copies["sequential trees"] = mixed_cart(people, seed)
    with tempfile.TemporaryDirectory(prefix="evosdc-attacks-") as folder:
        csv.write_csv(people, Path(folder) / "people.csv")
        csv.write_csv(held_out, Path(folder) / "held_out.csv")
        for name, copy in copies.items():
            found = _worth(people, held_out, copy)
            yield from (Row(file, name, seed, k, v) for k, v in found.items())
            csv.write_csv(copy, Path(folder) / "copy.csv")
            for a in _guesses(python, Path(folder), seed):
                yield Row(
                    file, name, seed, a["attack"], a["right"], a["right_held_out"]
                )


def _worth(people: pa.Table, held_out: pa.Table, copy: pa.Table) -> dict[str, float]:
    """Return metrics of a copy by name, and what classifiers learn from it."""
    target = people.column_names[-1]
    found = evaluate(people, copy, key=None, target=target, metrics=list(_METRICS))
    out = {v.name: v.value for v in found.values if v.name in _METRICS}
    for name, tried in (("auc", people), ("auc_held_out", held_out)):
        auc = boosted_auc(copy, tried)
        if auc is not None:
            out[name] = auc
    return out


def boosted_auc(learnt: pa.Table, tried: pa.Table) -> float | None:
    """Return the AUC of boosted trees on the last column, a mean over its levels.

    Levels count by their people, each against all others. None of a column with many
    levels.
    """
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.metrics import roc_auc_score
    except ImportError:
        raise MissingExtraError("scikit-learn", "bench") from None
    *known, target = tried.column_names
    # Levels must be numbered alike in both files.
    both = pa.concat_tables(
        [t.select(tried.column_names) for t in (learnt, tried)],
        promote_options="permissive",
    )
    x = np.hstack([features(both.column(name)) for name in known])
    y = np.array([str(value) for value in both.column(target).to_pylist()])
    if len(np.unique(y)) > _LEVELS:
        return None
    many = learnt.num_rows
    model = HistGradientBoostingClassifier(random_state=0).fit(x[:many], y[:many])
    chance: NDArray[np.float64] = model.predict_proba(x[many:])
    scores, weights = [], []
    for k, level in enumerate(model.classes_):
        mine = y[many:] == level
        if 0 < mine.sum() < len(mine):
            scores.append(float(roc_auc_score(mine, chance[:, k])))
            weights.append(int(mine.sum()))
    return float(np.average(scores, weights=weights)) if scores else None


def _guesses(python: Path, folder: Path, seed: int) -> list[dict[str, Any]]:
    """Attack a copy in the other environment; whatever it prints besides is left."""
    # Absolute, but not resolved: a link to the Python of an environment is its Python.
    # Isolated, since modules beside the script have names of the standard library.
    words = [str(python.absolute()), "-I", attacks_guess.__file__, str(folder), "copy"]
    done = subprocess.run(
        [*words, str(_GUESSES), str(seed)], capture_output=True, text=True
    )
    if done.returncode:
        raise InputError(
            f"the attack ended with {done.returncode}",
            expected="an environment with anonymeter",
            hint=f"run {python} -I {attacks_guess.__file__} to see why",
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return [json.loads(line) for line in lines]


def _write(output: Path, rows: Sequence[Row], made: Provenance) -> list[Path]:
    table, page = output / "attacks.csv", output / "attacks.md"
    parts = [
        "# Attacks on copies",
        "",
        "A fifth of the people is held out, copies are made of the others: with "
        "default settings, with the last column named as the target and all others as "
        "the key, and by sequential trees that draw values of the file itself. "
        "Distances are those of all tables of so many variables; AUC is that of "
        "boosted trees that learn the last column from the copy, on the original and "
        "on the people held out.",
        "",
        f"Singling out and inference (Giomi et al. 2023, `anonymeter`, {_GUESSES} "
        "guesses or as many as there are people held out): the share of guesses that "
        "was right, by predicates of three, four and five columns and for the last "
        "column; in brackets the share among people held out, which is what holds of "
        "anybody.",
        "",
    ]
    for file in dict.fromkeys(r.file for r in rows):
        mine = [r for r in rows if r.file == file]
        lines = [
            _line(copy, seed, [r for r in mine if (r.copy, r.seed) == (copy, seed)])
            for copy, seed in dict.fromkeys((r.copy, r.seed) for r in mine)
        ]
        head = (*_HEAD, *_RISKS, *_ATTACKS)
        parts += [f"## {file}", "", markdown_table(head, lines), ""]
    parts += [f"Made by `{made.command}` on {made.date}; {made.machine}.", "", ""]
    write_under_remarks(page, "\n".join(parts))
    return [table, page]


def _line(copy: str, seed: int, rows: Sequence[Row]) -> list[str]:
    found = {r.name: r for r in rows}
    out = [copy, str(seed)]
    for name in ("jsd_2", "jsd_3", "jsd_4", "auc", "auc_held_out", *_METRICS[3:]):
        out.append(f"{found[name].value:.4f}" if name in found else "–")
    for name in _ATTACKS:
        row = found[name]
        out.append(f"{row.value:.3f} ({row.chance:.3f})")
    return out
