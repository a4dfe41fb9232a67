"""What all tests share."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from builders import Command, caller
from evosdc.cli import main

# The same examples on every machine, however slow it is; a test says how many.
settings.register_profile(
    "evosdc",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("evosdc")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Call the command line in this process; return exit code, stdout and stderr."""
    return caller("evosdc", main, capsys, monkeypatch)
