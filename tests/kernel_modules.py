"""Modules of kernels in a folder, and processes that call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ASK = """
import json
from numba.core import event
names = []

class Ear(event.Listener):
    def on_start(self, event):
        names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass

event.register("numba:compile", Ear())
import numpy as np
from caller import caller
value = caller(np.arange(3.0)[1], 4)
print(json.dumps([value, sorted(set(names) & {"small", "large", "deep", "caller"})]))
"""


def ask(folder: Path) -> tuple[float, list[str]]:
    """Call `caller` in a new process: the result, and the kernels it compiled."""
    # Python compares the seconds and sizes of files, and tests are quick.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    value, names = json.loads(done.stdout)
    return value, names
