"""Generations a second of the plain genetic algorithm, and the cost of a big run.

usage: synth_speed.py DATA.csv --target T [--objective jsd:2,3,4] [--generations 60]
       synth_speed.py --big 1000000 --columns 12 [--time-limit 300]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
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


def big(args: argparse.Namespace) -> None:
    """Synthesise many records with correlated columns of 2 to 12 levels."""
    rng = np.random.default_rng(1)
    latent = rng.normal(size=(args.big, 2))
    columns = {}
    for j in range(args.columns):
        x = latent @ rng.normal(size=2) + rng.normal(size=args.big)
        levels = int(rng.integers(2, 13))
        edges = np.quantile(x, np.linspace(0, 1, levels + 1)[1:-1] ** 1.5)
        columns[f"v{j}"] = np.searchsorted(edges, x)
    table = pa.table(columns)
    start = time.perf_counter()
    model = Synthesiser(
        list(columns)[:-1], list(columns)[-1], time_limit=args.time_limit
    ).fit(table)
    model.sample()
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    cpu = time.process_time()
    print(f"{seconds:.0f} s wall, {cpu:.0f} s CPU, {memory:.2f} GB")
    print(model.utility_, model.risk_, model.risk_met_, model.reason_, model.floor_)


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?")
    parser.add_argument("--target")
    parser.add_argument("--objective", default="jsd:2,3,4")
    parser.add_argument("--crossover", default="whole-cpc")
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--big", type=int)
    parser.add_argument("--columns", type=int, default=12)
    parser.add_argument("--time-limit", type=float, default=300.0)
    args = parser.parse_args()
    if args.big:
        big(args)
    else:
        speed(args)


if __name__ == "__main__":
    main()
