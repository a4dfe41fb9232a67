"""One run of pytauargus OPT on a JJ file, by the Python that has it installed.

    PYTHON peers_opt.py TABLE.jj MINUTES

Prints a line of JSON. The engine leaves its files in the working folder. It imports
nothing of this project: that need not be installed there.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

HIDDEN, LOG = "hidden.txt", "FullJJ.log"


def main() -> None:
    """Run OPT and say what came of it."""
    table, minutes = sys.argv[1], int(sys.argv[2])
    engine = import_module("pytauargus._tauargus").HiTaSCtrl()
    wall, cpu = time.perf_counter(), time.process_time()
    code = engine.full_jj(in_file_jj=table, out_file=HIDDEN, max_time=minutes)
    found = {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        # 0: proven optimal; 1: the best of the time limit; above: an error.
        "code": code,
        "error": engine.error_string(code) if code > 1 else "",
        "hidden": _numbers(Path(HIDDEN)),
        "bound": _bound(Path(LOG)),
        "version": version("pytauargus"),
    }
    print(json.dumps(found))


def _numbers(path: Path) -> list[int]:
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def _bound(log: Path) -> float | None:
    """The lower of the two ``Objectvalues``; primary cells count in both."""
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("Objectvalues:"):
            return float(line.split()[1])
    return None


if __name__ == "__main__":
    main()
