"""What the tests of the command line share."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from benchmarks import command
from evosdc.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call the command line in this process; return exit code, stdout and stderr."""
    return _caller("evosdc", main, capsys, monkeypatch)


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call `python -m benchmarks` in this process, likewise."""
    return _caller("benchmarks", command.main, capsys, monkeypatch)


def _caller(
    name: str,
    program: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", [name, *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            program()
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return call
