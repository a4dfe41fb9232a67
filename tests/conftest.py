"""What all tests share."""

from __future__ import annotations

from collections import defaultdict

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

# Fixtures that start a cluster or a database server.
SERVERS = {"both", "server", "spark"}
# Parameters that only draw another case of the same kind.
DRAWN = {"seed", "first"}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Call the command line in this process; return exit code, stdout and stderr."""
    return caller("evosdc", main, capsys, monkeypatch)


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what needs a server, and three quarters of the drawn cases."""
    drawn = defaultdict(list)
    for item in items:
        if SERVERS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
        given = item.callspec.params if hasattr(item, "callspec") else {}
        if DRAWN & set(given):
            kept = repr([given[name] for name in sorted(set(given) - DRAWN)])
            drawn[item.nodeid.partition("[")[0], kept].append(item)
    for cases in drawn.values():
        for item in cases[max(1, len(cases) // 4) :]:
            item.add_marker(pytest.mark.slow)
