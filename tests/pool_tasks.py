"""What pools are asked to do in tests."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from evosdc.compile import small_jobs
from evosdc.synth.search.mover import Arrays, MoveTask, WorkerState, run_task


def scaled(by: int, value: int) -> int:
    return by * value


def process(_: int, seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def meet(folder: str, name: str) -> int:
    """Wait for the other of two who do this: one after the other they never would."""
    Path(folder, name).touch()
    end = time.monotonic() + 300
    while len(os.listdir(folder)) < 2:
        if time.monotonic() > end:
            raise TimeoutError("nobody else has come")
        time.sleep(0.01)
    return os.getpid()


def is_small(_: int, __: int) -> bool:
    return small_jobs.small()


def deadly_once(_: int, flag: str) -> str:
    """Kill the process that does this first."""
    path = Path(flag)
    if not path.exists():
        path.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def task_lost_once(
    flag: str, worker_state: WorkerState, task: MoveTask
) -> tuple[Arrays, int]:
    """Do a task; kill the process that is first in the second half of a round."""
    path = Path(flag)
    if task.plan[0].share >= 0.5 and not path.exists():
        path.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return run_task(worker_state, task)
