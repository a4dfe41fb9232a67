"""The thesis's crossover experiment on public data of the same shapes.

Chen (2020), section 5.2: three sets of 1,000 records and 10 variables, population 100,
univariate start, tournaments of 2, 100 generations; fitness is the Euclidean
combination of the 2-, 3- and 4-way Jensen-Shannon distances.

The thesis's sets start nearer to the original than a census extract with its filter
questions does, so name ten columns that are not functions of each other.

usage: synth_thesis.py CENSUS.csv [--columns a,b,...] [--trials 2] [--crossover puc]
"""

from __future__ import annotations

import argparse

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from evosdc.synth import Synthesiser

SHAPES = {
    "10 binary": [2] * 10,
    "mixed to 4 levels": [2] * 6 + [3] + [4] * 3,
    "mixed to 11 levels": [2] * 4 + [4] * 2 + [6] * 2 + [9, 11],
}
PUBLISHED = {
    "10 binary": (0.0734, 0.0393),
    "mixed to 4 levels": (0.2176, 0.1450),
    "mixed to 11 levels": (0.2544, 0.2060),
}


def shaped(table: pa.Table, levels: list[int], rng: np.random.Generator) -> pa.Table:
    """Sample 1,000 records; give each of 10 columns its number of levels."""
    rows = rng.permutation(table.num_rows)[:1000]
    columns = sorted(
        table.column_names, key=lambda name: len(table.column(name).unique())
    )[-10:]
    out = {}
    for name, size in zip(columns, levels, strict=True):
        codes = np.unique(table.column(name).to_numpy()[rows], return_inverse=True)[1]
        # The commonest values keep their level; the others share the last one.
        order = np.argsort(-np.bincount(codes), kind="stable")
        place = np.empty(len(order), int)
        place[order] = np.minimum(np.arange(len(order)), size - 1)
        out[name] = place[codes]
    return pa.table(out)


def main() -> None:
    """Run the trials and print published beside measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--columns")
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--crossover", default="puc")
    args = parser.parse_args()
    table = csv.read_csv(args.data)
    if args.columns:
        table = table.select(args.columns.split(","))
    for name, levels in SHAPES.items():
        data = shaped(table, levels, np.random.default_rng(1))
        falls, ends = [], []
        for seed in range(args.trials):
            model = Synthesiser(
                objective="jsd:2,3,4",
                memetic=False,
                population=100,
                generations=100,
                crossover=args.crossover,
                mutation="univariate",
                mutation_rate=0.0001,
                elitism=1,
                noise_floor=False,
                time_limit=None,
                seed=seed,
            ).fit(data)
            first, last = model.record_[0].utility, model.record_[-1].utility
            falls.append(100 * (1 - last / first))
            ends.append((first, last))
        before, after = PUBLISHED[name]
        print(
            f"{name}: {ends[0][0]:.4f} -> {np.mean([e[1] for e in ends]):.4f}, "
            f"falls {np.mean(falls):.1f} %; published {before} -> {after}, "
            f"{100 * (1 - after / before):.1f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
