"""What a newcomer waits for: commands and verbs with nothing compiled yet.

    python benchmarks/cold.py                     # all parts, one after the other
    python benchmarks/cold.py --only demo 2d      # some of them
    python benchmarks/cold.py --kernels 20        # and the kernels that take longest

Each part is a process of its own with an empty folder of compiled kernels. It is
measured in CPU seconds as well as in seconds, since other work on the machine slows the
one down much more than the other. Exit code 1 where a part misses its bar.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

# CPU seconds of compiling at most, and seconds until a first pattern.
_COMPILING = {"small": 0.0, "2d": 35.0, "3d": 35.0, "synthesise": 25.0}
_FIRST = {"demo": 15.0}
_PARTS = ("demo", "small", "2d", "3d", "synthesise")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS)
    parser.add_argument("--kernels", type=int, default=0, metavar="N")
    parser.add_argument("--part", choices=_PARTS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        print(json.dumps(_measured(given.part)))
        return 0
    found = {part: _in_a_process(part, given.kernels) for part in given.only}
    print(
        f"{'part':<12}{'compilations':>13}{'twice':>7}{'compiling':>11}{'all CPU':>9}"
        f"{'seconds':>9}{'first':>8}  bar"
    )
    missed = 0
    for part, row in found.items():
        words = _missed(part, row)
        missed += bool(words)
        first = "" if row["first"] is None else f"{row['first']:.1f}"
        print(
            f"{part:<12}{row['compilations']:>13}{len(row['twice']):>7}"
            f"{row['compiling']:>11.1f}{row['cpu']:>9.1f}{row['seconds']:>9.1f}"
            f"{first:>8}  {words or 'met'}"
        )
        for name in row["twice"]:
            print(f"{'':<12}twice: {name}")
    return 1 if missed else 0


def _in_a_process(part: str, kernels: int) -> dict[str, Any]:
    """Measure a part in a new process with nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.time()
        done = subprocess.run(
            [sys.executable, __file__, "--part", part],
            env=os.environ | {"NUMBA_CACHE_DIR": folder},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    # What the user waits for begins with the command.
    row["seconds"] = time.time() - began
    row["first"] = None if row["first"] is None else row["first"] - began
    if kernels:
        print(f"{part}: CPU seconds of compiling per kernel")
        for name, seconds, versions in row["kernels"][:kernels]:
            print(f"{seconds:8.2f}  x {versions}  {name}")
    return row


def _missed(part: str, row: dict[str, Any]) -> str:
    words = []
    most = _COMPILING.get(part)
    if most is not None and row["compiling"] > most:
        words.append(f"at most {most:.0f} CPU s of compiling")
    most = _FIRST.get(part)
    if most is not None and (row["first"] is None or row["first"] > most):
        words.append(f"a pattern within {most:.0f} s")
    if row["twice"]:
        words.append("one version per kernel")
    return "MISSED: " + ", ".join(words) if words else ""


def _measured(part: str) -> dict[str, Any]:
    """Run a part in this process; return what was compiled and how long it took."""
    from numba.core import event

    rows: list[tuple[str, str, float]] = []
    inside: list[list[float]] = []

    class Ear(event.Listener):
        """Charge each kernel with its own seconds, without those of its callees."""

        def on_start(self, event: Any) -> None:
            del event
            inside.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            began, others = inside.pop()
            whole = time.process_time() - began
            if inside:
                inside[-1][1] += whole
            kernel = event.data["dispatcher"].py_func
            name = f"{kernel.__module__}.{kernel.__qualname__}"
            rows.append((name, str(event.data["args"]), whole - others))

    event.register("numba:compile", Ear())
    first: list[float] = []

    def hear(entry: Any) -> None:
        if entry.cost is not None and not first:
            first.append(time.time())

    _run(part, hear)
    seconds: Counter[str] = Counter()
    for name, _, spent in rows:
        seconds[name] += spent
    versions = Counter(name for name, _, _ in rows)
    return {
        "compilations": len(rows),
        "twice": sorted(
            name
            for name, count in versions.items()
            if count > 1 and name.startswith("evosdc.")
        ),
        "compiling": sum(seconds.values()),
        "cpu": time.process_time(),
        "first": first[0] if first else None,
        "kernels": [
            (name, spent, versions[name]) for name, spent in seconds.most_common()
        ],
    }


def _run(part: str, hear: Any) -> None:
    import numpy as np

    import evosdc

    rng = np.random.default_rng(1)
    if part == "demo":
        from evosdc.instances import business

        data = business(firms=3000, seed=0)
        table = evosdc.tabulate(
            data.records,
            ["region", "activity"],
            "turnover",
            rules=["p:10", "freq:3"],
            read=evosdc.Read(hierarchies=data.hierarchies),
        )
        evosdc.protect(table, time_limit=20, run=evosdc.Run(on_progress=hear))
    elif part == "synthesise":
        import pyarrow as pa

        rows = 500
        frame = pa.table(
            {
                "region": rng.choice(list("abc"), rows),
                "sex": rng.choice(list("de"), rows),
                "age": rng.integers(18, 80, rows),
                "income": rng.gamma(2, 1000, rows).round(),
            }
        )
        evosdc.synthesise(frame, key=["region", "sex"], target="income", time_limit=10)
    else:
        from evosdc.table import Dimension, Hierarchy, build_table

        many = {"small": 6, "2d": 30, "3d": 10}[part]
        sides = [
            Dimension(name, Hierarchy.flat([f"{name}{i}" for i in range(many)]))
            for name in ("xyz" if part == "3d" else "xy")
        ]
        codes = list(product(range(1, many + 1), repeat=len(sides)))
        value = rng.integers(1, 100, len(codes)).astype(float)
        level = np.where(rng.random(len(codes)) < 0.2, np.ceil(0.2 * value), 0.0)
        status = np.where(level > 0, "u", "s")
        table = build_table(sides, codes, value, status=status, lpl=level, upl=level)
        evosdc.protect(table, time_limit=10, run=evosdc.Run(on_progress=hear))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    sys.exit(main())
