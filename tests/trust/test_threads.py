"""Two runs in two threads of one process give the answers of two processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evosdc.attack.model import Decimals

SCRIPT = Path(__file__).with_name("thread_runs.py")
PAIRS = [("small", "large"), ("orders", "large"), ("optimal", "copy")]
Answers = dict[str, dict[str, str]]


def answers_of(process: subprocess.Popen[str]) -> list[Answers]:
    text, _ = process.communicate()
    assert process.returncode == 0
    found: list[Answers] = json.loads(text)
    return found


@pytest.fixture(scope="module")
def answers() -> tuple[Answers, list[Answers]]:
    """Run each alone in a process, and pairs of them in threads of one more."""
    names = sorted({name for pair in PAIRS for name in pair})
    asked = [*((name,) for name in names), tuple(",".join(pair) for pair in PAIRS)]
    processes = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), *words], stdout=subprocess.PIPE, text=True
        )
        for words in asked
    ]
    *alone, together = map(answers_of, processes)
    return {name: run[name] for (run,) in alone for name in run}, together


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PAIRS)), ids=["+".join(p) for p in PAIRS])
def test_threads_give_the_answers_of_processes(
    answers: tuple[Answers, list[Answers]], number: int
) -> None:
    alone, together = answers
    assert set(together[number]) == set(PAIRS[number])
    for name, answer in together[number].items():
        assert answer == alone[name], name


class Interrupted(Decimals):
    """Numbers of which another thread asks for another scale in the same moment."""

    @property
    def _over(self) -> tuple[int, Any] | None:
        return self._kept

    @_over.setter
    def _over(self, kept: tuple[int, Any] | None) -> None:
        self._kept = kept
        if kept is not None and kept[0] != 1000:
            self.over(1000)


def test_the_judge_reads_a_table_of_two_threads_in_its_own_scale() -> None:
    numbers = Interrupted(np.array([0.5, 2.0]))
    assert numbers.over(10).tolist() == [5, 20]
