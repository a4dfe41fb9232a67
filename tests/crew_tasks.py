"""What crews are asked to do in tests."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def scaled(by: int, value: int) -> int:
    return by * value


def process(_: int, seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def deadly_once(_: int, flag: str) -> str:
    """Kill the process that does this first."""
    path = Path(flag)
    if not path.exists():
        path.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"
