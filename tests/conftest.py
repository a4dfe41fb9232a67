"""What all tests share."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from builders import Command, caller
from evosdc.cli import main

# The same examples on every machine, however slow it is: a quarter of them, unless
# `--hypothesis-profile=full` asks for all. `builders.examples` says how many that are.
for profile, share in (("full", 100), ("small", 25)):
    settings.register_profile(
        profile,
        max_examples=share,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("small")

# Words in the names of files that test synthesis.
SYNTHESIS = {"synth", "synthesis", "metrics", "thesis", "copies"}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Call the command line in this process; return exit code, stdout and stderr."""
    return caller("evosdc", main, capsys, monkeypatch)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let two workers begin with kernels that the other does not need.

    Each gets one half of the list at first. Without synthesis at the beginning of the
    second half both would compile the kernels of suppression at the same time.
    """
    parts: dict[bool, list[pytest.Item]] = {False: [], True: []}
    for item in items:
        parts[bool(SYNTHESIS & set(item.path.stem.split("_")))].append(item)
    others, half = parts[False], len(items) // 2
    items[:] = others[:half] + parts[True] + others[half:]
