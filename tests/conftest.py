"""What all tests share."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

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

# Tests that take longer than this have the mark `slow`. They are listed in a file that
# `pytest -n 0 -m "" --record-slow` writes. At half of it `make test` loses tests that
# cost little, at twice of it it takes a quarter longer.
SLOW_CPU_SECONDS = 0.4
SLOW_TESTS = Path(__file__).with_name("slow_tests.txt")
# Fixtures that start a cluster or a database server.
SERVERS = {"both", "server", "spark"}
# Parameters that only draw another case of the same kind.
DRAWN = {"seed", "first"}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Call the command line in this process; return exit code, stdout and stderr."""
    return caller("evosdc", main, capsys, monkeypatch)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take `--record-slow`."""
    parser.addoption(
        "--record-slow",
        action="store_true",
        help=f"write {SLOW_TESTS.name}: tests of more than {SLOW_CPU_SECONDS} CPU s",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Time every test where a record is asked for."""
    if config.getoption("--record-slow"):
        config.pluginmanager.register(Recorder(), "record-slow")


class Recorder:
    """Lists the tests that took more processor time than `SLOW_CPU_SECONDS`."""

    def __init__(self) -> None:
        self.slow: list[str] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Time a test with its fixtures and its child processes."""
        began = sum(os.times()[:4])
        yield
        if sum(os.times()[:4]) - began > SLOW_CPU_SECONDS:
            self.slow.append(item.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the list, in the order of the alphabet."""
        SLOW_TESTS.write_text("".join(f"{each}\n" for each in sorted(self.slow)))


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests, what needs a server, and three quarters of the drawn cases."""
    drawn = defaultdict(list)
    slow = set(SLOW_TESTS.read_text().splitlines())
    for item in items:
        if item.nodeid in slow or SERVERS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
        given = item.callspec.params if hasattr(item, "callspec") else {}
        if DRAWN & set(given):
            kept = repr([given[name] for name in sorted(set(given) - DRAWN)])
            drawn[item.nodeid.partition("[")[0], kept].append(item)
    for cases in drawn.values():
        for item in cases[max(1, len(cases) // 4) :]:
            item.add_marker(pytest.mark.slow)
