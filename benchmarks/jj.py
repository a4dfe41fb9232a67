"""Time and memory of reading and writing a large three-dimensional JJ file.

Run: python benchmarks/jj.py [--side 100] [--decimals 0] [--gzip]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from evosdc.io.argus.jj import read_jj, write_jj
from evosdc.table import Dimension, Hierarchy, Table, build_table


def cube(side: int, decimals: int) -> Table:
    """A cube of `side` codes each way, totals included, 3 % of inner cells primary."""
    rng = np.random.default_rng(0)
    inner = side - 1
    tree = Hierarchy.flat([f"c{k}" for k in range(inner)])
    dims = [Dimension(name, tree) for name in "abc"]
    codes = np.stack(np.meshgrid(*[np.arange(1, side)] * 3, indexing="ij"), axis=-1)
    value = np.round(rng.lognormal(4, 2, inner**3) + 1, decimals)
    primary = rng.random(inner**3) < 0.03
    level = np.where(primary, np.round(value / 10, decimals), 0.0)
    return build_table(
        dims,
        codes.reshape(-1, 3),
        value,
        status=np.where(primary, "u", "s"),
        lpl=level,
        upl=level,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=100)
    parser.add_argument("--decimals", type=int, default=0)
    parser.add_argument("--gzip", action="store_true")
    options = parser.parse_args()
    table = cube(options.side, options.decimals)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("table.jj.gz" if options.gzip else "table.jj")
        clock, cpu = time.perf_counter(), time.process_time()
        write_jj(path, table)
        print(f"cells {len(table)}, equations {table.matrix.shape[0]}")
        print(f"terms {table.matrix.nnz}, file {path.stat().st_size / 1e6:.0f} MB")
        print(
            f"write {time.perf_counter() - clock:.2f} s, "
            f"CPU {time.process_time() - cpu:.2f} s"
        )
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        clock, cpu = time.perf_counter(), time.process_time()
        again = read_jj(path)
        print(
            f"read  {time.perf_counter() - clock:.2f} s, "
            f"CPU {time.process_time() - cpu:.2f} s"
        )
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"peak memory {after / 1024:.0f} MB (before reading {before / 1024:.0f})")
        assert np.array_equal(again.value, table.value)


if __name__ == "__main__":
    main()
