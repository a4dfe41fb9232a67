"""A Pareto front in one run, and by which measures it dominates a table of rivals.

usage: synth_front.py DATA.csv --target T --rivals RIVALS.csv [--objective auto]
       [--initial auto] [--time-limit 60] [--seed 0]

A point marked "closer" is nearer to the original than a fresh sample would be.
RIVALS.csv has a column "name" and one for each measure, named as `evosdc evaluate`
names it: jsd_2, dcap_u, rep_uniques_pct, disco_pct, jsd_full, roe_2 and so on.
"""

from __future__ import annotations

import argparse
import time

import pyarrow.csv as csv

from evosdc.io import read_records
from evosdc.metrics import evaluate
from evosdc.synth import Synthesiser


def main() -> None:
    """Fit, print the front, and judge each rival."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--target", required=True)
    parser.add_argument("--rivals", required=True)
    parser.add_argument("--objective", default="auto")
    parser.add_argument("--initial", default="auto")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rivals = csv.read_csv(args.rivals).to_pylist()
    measures = [name for name in rivals[0] if name != "name"]
    frame = read_records(args.data).frame
    key = [n for n in frame.column_names if n != args.target]
    wall, used = time.perf_counter(), time.process_time()
    model = Synthesiser(
        key,
        args.target,
        objective=args.objective,
        mode="pareto",
        initial=args.initial,
        time_limit=args.time_limit,
        seed=args.seed,
        least=0,
    ).fit(frame)
    wall, used = time.perf_counter() - wall, time.process_time() - used
    print(f"{wall:.1f} s, {used:.1f} CPU s, {model.reason_}")
    points, signs = [], {}
    for point, copy in zip(model.front_, model.samples(), strict=True):
        found = evaluate(frame, copy, key=key, target=args.target, metrics=measures)
        named = {v.name: v for v in found.values}
        signs = {m: -1 if named[m].goal == "maximise" else 1 for m in measures}
        points.append({m: named[m].value for m in measures})
        mark = "closer" if point.closer_than_fresh else "front"
        print(mark, *(f"{m} {x:.4g}" for m, x in points[-1].items()))
    for rival in rivals:
        worse = [
            [m for m in measures if signs[m] * values[m] > signs[m] * rival[m]]
            for values in points
        ]
        best = min(range(len(points)), key=lambda k: len(worse[k]))
        lost = ", ".join(worse[best]) or "nothing"
        print(f"{rival['name']}: point {best + 1} is worse in {lost}")


if __name__ == "__main__":
    main()
