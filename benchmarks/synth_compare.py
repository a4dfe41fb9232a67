"""Compare synthesisers on the same data and the same metrics; prints Markdown.

evosdc as it comes, the plain genetic algorithm of the thesis, sequential trees (CART,
needs scikit-learn), independent margins and a bootstrap of the original.

usage: synth_compare.py DATA.csv --key a,b,c --target t [--seeds 3] [--time-limit 60]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evosdc.io import read_records
from evosdc.metrics import evaluate
from evosdc.synth import Synthesiser

# A script of its own finds the package it is part of.
sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.experiments.thesis_rivals import RIVALS
from benchmarks.experiments.write import markdown_table, number

METRICS = {
    "jsd_full": "full JS",
    "jsd_2": "2-way JS",
    "pmse_main_ratio": "pMSE ratio",
    "roe_2": "ROE 2-way",
    "dcap_u": "DCAP-U",
    "rep_uniques_pct": "rep. uniques %",
    "disco_pct": "DiSCO %",
    "identical_records_pct": "identical %",
}

Maker = Callable[[Any, int], Any]


def evolved(args: argparse.Namespace, **options: Any) -> Maker:
    """Return a synthesiser of this package with some options."""

    def make(frame: Any, seed: int) -> Any:
        # What the search itself is worth: small groups are guarded at a price.
        options.setdefault("least", 0)
        model = Synthesiser(
            args.key, args.target, seed=seed, time_limit=args.time_limit, **options
        )
        return model.fit_sample(frame)

    return make


def line(name: str, make: Maker, frame: Any, args: argparse.Namespace) -> list[str]:
    """Run one synthesiser with all seeds and measure its copies."""
    values: dict[str, list[float]] = {metric: [] for metric in METRICS}
    seconds, cpu = [], []
    for seed in range(1, args.seeds + 1):
        wall, used = time.perf_counter(), time.process_time()
        copy = make(frame, seed)
        seconds.append(time.perf_counter() - wall)
        cpu.append(time.process_time() - used)
        found = evaluate(
            frame, copy, key=args.key, target=args.target, metrics=list(METRICS)
        )
        for value in found.values:
            if value.name in values:
                values[value.name].append(value.value)
    means = [number(float(np.mean(v)) if v else None) for v in values.values()]
    return [name, *means, number(float(np.mean(seconds))), number(float(np.mean(cpu)))]


def main() -> None:
    """Read the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--key", required=True, type=lambda text: text.split(","))
    parser.add_argument("--target", required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=60.0)
    args = parser.parse_args()
    frame = read_records(args.data).frame
    makers: dict[str, Maker] = {
        "evosdc default": evolved(args),
        "evosdc, no risk term": evolved(args, mode="weighted", risk_weight=0.0),
        "plain GA": evolved(
            args, memetic=False, noise_floor=False, mode="weighted", risk="dcap-u"
        ),
        **RIVALS,
    }
    lines = [line(name, make, frame, args) for name, make in makers.items()]
    print(markdown_table(["synthesiser", *METRICS.values(), "s", "CPU s"], lines))


if __name__ == "__main__":
    main()
