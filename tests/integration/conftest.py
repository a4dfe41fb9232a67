"""What the tests of the published experiments share."""

from __future__ import annotations

import pytest

from benchmarks import command
from builders import Command, caller


@pytest.fixture
def bench(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Call `python -m benchmarks` in this process, likewise."""
    return caller("benchmarks", command.main, capsys, monkeypatch)
