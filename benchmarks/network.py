"""Time the network methods on two-dimensional tables of the published families.

Run: python benchmarks/network.py [--tables N] [--methods sp,castro] [family ...]

Families: real values 0..1000, levels of 10 % (Herrington 2015) as ROWSxCOLUMNS@SHARE,
for example 400x250@0.0025; class II (Almeida et al. 2008, the grand total never
sensitive) as II:ROWSxCOLUMNS. Prints cost, seconds of processor time a run, failures.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from evosdc.errors import ProtectionFailed
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from evosdc.table import Dimension, Hierarchy, Table, build_table

DEFAULT = (
    "100x100@0.005",
    "100x100@0.01",
    "100x100@0.03",
    "400x250@0.0025",
    "400x250@0.005",
    "400x250@0.01",
    "400x250@0.03",
    "II:100x100",
    "II:300x300",
)


def make_table(family: str, seed: int) -> Table:
    """Draw a table of a family."""
    rng = np.random.default_rng(seed)
    second = family.startswith("II:")
    size, _, share = family.removeprefix("II:").partition("@")
    rows, columns = (int(part) for part in size.split("x"))
    full = np.zeros((rows + 1, columns + 1))
    inner = (
        rng.integers(0, 1001, (rows, columns))
        if second
        else np.round(rng.uniform(0, 1000, (rows, columns)), 3)
    )
    full[1:, 1:] = inner
    full[0] = full.sum(axis=0)
    full[:, 0] = full.sum(axis=1)
    full = np.round(full, 3)
    sensitive = np.zeros(full.shape, dtype=bool)
    if second:
        sensitive = rng.random(full.shape) < 0.1
        sensitive[1:, 1:] = rng.random(inner.shape) < 0.2
        sensitive[0, 0] = False
    else:
        chosen = rng.choice(inner.size, round(float(share) * inner.size), replace=False)
        sensitive[1:, 1:].flat[chosen] = True
    sensitive &= full > 0
    level = np.where(
        sensitive, np.ceil(0.15 * full) if second else np.round(0.1 * full, 3), 0.0
    )
    status = np.where(sensitive, "u", np.where(full == 0, "z", "s"))
    dims = [
        Dimension("row", Hierarchy.flat([f"r{i}" for i in range(rows)])),
        Dimension("column", Hierarchy.flat([f"c{j}" for j in range(columns)])),
    ]
    codes = np.stack(np.meshgrid(*map(np.arange, full.shape), indexing="ij"), axis=-1)
    return build_table(
        dims,
        codes.reshape(-1, 2),
        full.ravel(),
        status=status.ravel(),
        upl=level.ravel(),
        lpl=level.ravel(),
    )


def measure(family: str, names: list[str], tables: int) -> None:
    """Run the methods on the tables of a family and print a line for each."""
    problems = [Problem.of(make_table(family, seed)) for seed in range(tables)]
    for name in names:
        method = find_method(name)
        costs: list[float] = []
        seconds: list[float] = []
        for problem in problems:
            start = time.process_time()
            try:
                found = method.run(problem, method.configure({}), Search())
                costs.append(found.cost)
            except ProtectionFailed:
                pass
            seconds.append(time.process_time() - start)
        mean = f"{np.mean(costs):.0f}" if costs else "-"
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{family:16} {name:13} cost {mean:>7}  cpu seconds {np.mean(seconds):.3f} "
            f"most {max(seconds):.3f}  failed {tables - len(costs)}/{tables}  "
            f"peak {memory} MB",
            flush=True,
        )


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=list(DEFAULT))
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--methods", default="sp")
    options = parser.parse_args()
    names = options.methods.split(",")
    warm = Problem.of(make_table("20x20@0.05", 0))
    for name in names:  # compile before anything is timed
        method = find_method(name)
        try:
            method.run(warm, method.configure({}), Search())
        except ProtectionFailed:
            continue
    for family in options.families:
        measure(family, names, options.tables)


if __name__ == "__main__":
    main()
