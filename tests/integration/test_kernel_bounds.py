"""No kernel reads or writes past its arrays: all of them as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "kernel_bounds.py"


@pytest.mark.slow
@pytest.mark.parametrize("ways", ["small", "large"])
def test_every_index_is_in_bounds(ways: str) -> None:
    # Numbers that wrap round warn in Python and are meant to.
    command = [sys.executable, "-W", "ignore::RuntimeWarning", SCRIPT, ways]
    done = subprocess.run(
        command,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed" in done.stdout
