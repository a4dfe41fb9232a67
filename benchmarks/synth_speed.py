"""Generations a second of the plain genetic algorithm.

usage: synth_speed.py DATA.csv --target T [--objective jsd:2,3,4] [--generations 60]
"""

from __future__ import annotations

import argparse
import time

import pyarrow as pa
import pyarrow.csv as csv

from evosdc.synth import Synthesiser


def speed(args: argparse.Namespace) -> None:
    """Time the plain GA with whole-case crossover and a population of 100."""
    options = csv.ConvertOptions(strings_can_be_null=False)
    names = csv.read_csv(args.data).column_names
    options.column_types = {name: pa.string() for name in names}
    table = csv.read_csv(args.data, convert_options=options)
    clock: list[float] = []
    model = Synthesiser(
        [n for n in names if n != args.target],
        args.target,
        objective=args.objective,
        crossover=args.crossover,
        mode="weighted",
        risk_weight=0.0,
        memetic=False,
        least=0,
        population=100,
        generations=args.generations,
        time_limit=None,
        noise_floor=False,
        workers=args.workers,
        listener=lambda _: clock.append(time.process_time()),
    ).fit(table)
    first, last = model.record_[0], model.record_[-1]
    wall = last.generation / (last.seconds - first.seconds)
    cpu = last.generation / (clock[-1] - clock[0])
    print(f"{wall:.1f} generations a second, {cpu:.1f} a CPU second")
    fall = 100 * (1 - last.utility / first.utility)
    print(f"best fitness {first.utility:.4f} -> {last.utility:.4f} ({fall:.1f} % less)")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--target", required=True)
    parser.add_argument("--objective", default="jsd:2,3,4")
    parser.add_argument("--crossover", default="whole-cpc")
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--workers", type=int, default=2)
    speed(parser.parse_args())


if __name__ == "__main__":
    main()
