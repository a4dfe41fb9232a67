"""Time the judge on the two tables of its bars.

    python benchmarks/judge.py [--seed 0] [--only two|three] [--workers 1]

Class II: 300 x 300 with margins, whole numbers 0..1000, 20 % of inner and 10 % of
marginal cells sensitive, levels 15 % both ways, zeros fixed; with nothing and with
everything else hidden. Three dimensions: 100 x 27 x 18 with totals, contributors drawn
from a Poisson distribution, contributions -1/log r, sensitive by the p % rule.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from evosdc.attack import judge
from evosdc.parallel import Workers
from evosdc.table import Dimension, Hierarchy, Table, build_table


def grid(sizes: tuple[int, ...]) -> tuple[tuple[Dimension, ...], np.ndarray]:
    """Flat dimensions and the codes of all inner cells."""
    dims = tuple(
        Dimension(f"d{k}", Hierarchy.flat([str(i) for i in range(size)]))
        for k, size in enumerate(sizes)
    )
    axes = [np.arange(1, size + 1) for size in sizes]
    codes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return dims, codes.reshape(-1, len(sizes))


def class_two(size: int, seed: int) -> Table:
    """A class II table, zeros fixed."""
    rng = np.random.default_rng(seed)
    dims, codes = grid((size, size))
    table = build_table(dims, codes, rng.integers(0, 1001, size * size).astype(float))
    inner = (table.codes > 0).all(axis=1)
    status = table.status.copy()
    for cells, share in ((np.flatnonzero(inner), 0.2), (np.flatnonzero(~inner), 0.1)):
        free = cells[table.value[cells] > 0]
        status[rng.choice(free, int(share * len(cells)), replace=False)] = "u"
    level = np.where(status == "u", np.ceil(0.15 * table.value), 0.0)
    return table.replace(status=status, lpl=level, upl=level)


def contributors(sizes: tuple[int, ...], seed: int, mean: float, p: float) -> Table:
    """A magnitude table with the two largest contributions of every cell."""
    rng = np.random.default_rng(seed)
    dims, codes = grid(sizes)
    count = rng.poisson(mean, len(codes))
    owner = np.repeat(np.arange(len(codes)), count)
    worth = np.ceil(-1.0 / np.log(rng.random(len(owner))))
    values = np.bincount(owner, weights=worth, minlength=len(codes))
    table = build_table(dims, codes, values)
    number = {tuple(c): i for i, c in enumerate(table.codes.tolist())}
    first, second = np.zeros(len(table)), np.zeros(len(table))
    for corner in range(2 ** len(sizes)):
        keep = np.array([corner >> k & 1 for k in range(len(sizes))])
        place = np.array([number[tuple(c)] for c in (codes * keep).tolist()])[owner]
        order = np.lexsort((-worth, place))
        place, sizes_in = place[order], worth[order]
        head = np.r_[True, place[1:] != place[:-1]]
        first[place[head]] = sizes_in[head]
        after = np.r_[False, head[:-1]] & ~head
        second[place[after]] = sizes_in[after]
    level = p / 100 * first - (table.value - first - second)
    sensitive = (level > 0) & (table.value > 0)
    status = np.where(sensitive, "u", table.status)
    level = np.where(sensitive, np.ceil(level), 0.0)
    return table.replace(
        status=status, upl=level, lpl=np.minimum(level, np.floor(table.value))
    )


def hide(table: Table, share: float, seed: int) -> Table:
    """Hide a share of the cells that may be hidden."""
    rng = np.random.default_rng(seed)
    chosen = (rng.random(len(table)) < share) & (table.status == "s")
    return table.with_pattern(chosen | (table.status == "u"))


def report(name: str, table: Table, workers: int, **options: Any) -> None:
    """Judge a table and print what it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    verdict, certificate = judge(table, workers=Workers(workers), **options)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"{name}: {len(table)} cells, {verdict.judged} judged, "
        f"{int(table.hidden.sum())} hidden, safe={verdict.safe} "
        f"exposed={len(verdict.exposed)} exact={verdict.exact} "
        f"wall={wall:.2f}s cpu={cpu:.2f}s witnesses={len(certificate.cells)} "
        f"entries={len(certificate.indices)} proofs={dict(verdict.proofs)}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("two", "three"))
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()
    many = args.workers
    report("warm-up 2-D", hide(class_two(10, args.seed), 0.5, 1), many)
    warm = hide(contributors((4, 4, 4), args.seed, 2.0, 15), 0.5, 1)
    report("warm-up 3-D", warm, many)
    if args.only != "three":
        table = class_two(300, args.seed)
        report("class II, nothing more hidden", table, many)
        report("class II, everything hidden", hide(table, 1.0, 1), many)
        report("class II, strict", table, many, strict=True)
    if args.only != "two":
        table = contributors((99, 26, 17), args.seed, 4.0, 15)
        report("3-D, everything hidden", hide(table, 1.0, 1), many)
        report("3-D, 60 % hidden", hide(table, 0.6, 1), many)


if __name__ == "__main__":
    main()
