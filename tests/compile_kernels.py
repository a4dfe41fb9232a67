"""Compile the kernels that tests need, before two workers of pytest do so both.

    python tests/compile_kernels.py

Numba keeps them on disk (see `src/evosdc/kernel_cache.py`), so that this takes minutes
after a change to a kernel that many others call, and is left out while no source has
changed. What no job here calls is compiled by the first test that does.
"""

from __future__ import annotations

import hashlib
import sys
import time
import traceback
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numba

import evosdc

PACKAGE = Path(evosdc.__file__).parent
HERE = Path(__file__).parent
# Tables on which, together, methods call the kernels that most tests call.
KINDS = ("two dimensions", "hierarchical", "three dimensions", "linked", "unlabelled")


def digest() -> str:
    """Digest of all that is compiled, of the compiler, and of what is run for it."""
    jobs = (HERE / "kernel_bounds.py", Path(__file__))
    found = hashlib.sha256(f"{sys.version} {numba.__version__}".encode())
    for path in (*sorted(PACKAGE.rglob("*.py")), *jobs):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:16]


def stamp() -> Path:
    """Return the file that says, beside the compiled code, what was compiled last."""
    folder = Path(numba.config.CACHE_DIR or PACKAGE / "__pycache__")
    return folder / "kernels-of-the-tests"


def run(part: str) -> float:
    """Run the jobs of one half; return the processor time of it."""
    import kernel_bounds  # the other half has its own process

    for what, job in kernel_bounds.jobs():
        copies = what.startswith("copy")
        if copies != (part == "synth") or not (copies or what.endswith(KINDS)):
            continue
        try:
            job()
        except Exception:
            # The tests of it will say more.
            sys.stderr.write(f"{what}: {traceback.format_exc(limit=-1)}")
    return time.process_time()


def main(parts: Iterable[str] = ("suppress", "synth")) -> None:
    """Compile what is not on disk, in two processes that share few kernels."""
    wanted, path = digest(), stamp()
    if path.exists() and path.read_text() == wanted:
        return
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        spent = sum(pool.map(run, parts))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(wanted)
    sys.stdout.write(f"kernels compiled in {spent:.0f} s of processor time\n")


if __name__ == "__main__":
    main()
