"""A Pareto front in one run, and which points of a table of rivals it dominates.

usage: synth_front.py DATA.csv --target T --rivals RIVALS.csv [--time-limit 60]

RIVALS.csv has the columns name, jsd2, dcap_u, uniques and disco (shares, not per cent).
"""

from __future__ import annotations

import argparse

import pyarrow as pa
import pyarrow.csv as csv

from evosdc.synth import Synthesiser


def main() -> None:
    """Fit, print the front, and judge each rival."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--target", required=True)
    parser.add_argument("--rivals", required=True)
    parser.add_argument("--time-limit", type=float, default=60.0)
    args = parser.parse_args()
    names = csv.read_csv(args.data).column_names
    options = csv.ConvertOptions(
        strings_can_be_null=False, column_types={name: pa.string() for name in names}
    )
    table = csv.read_csv(args.data, convert_options=options)
    model = Synthesiser(
        [n for n in names if n != args.target],
        args.target,
        mode="pareto",
        time_limit=args.time_limit,
    ).fit(table)
    print(f"{model.seconds_:.1f} s, {model.reason_}")
    points = [
        (p.utility, p.risks["dcap-u"], p.risks["uniques"], p.risks["disco"])
        for p in model.front_
    ]
    for point in points:
        print("front", *(f"{x:.5f}" for x in point))
    for rival in csv.read_csv(args.rivals).to_pylist():
        theirs = [rival[c] for c in ("jsd2", "dcap_u", "uniques", "disco")]
        beaten = any(
            all(a <= b for a, b in zip(mine, theirs, strict=True)) and mine != theirs
            for mine in points
        )
        print(rival["name"], "dominated" if beaten else "NOT dominated")


if __name__ == "__main__":
    main()
