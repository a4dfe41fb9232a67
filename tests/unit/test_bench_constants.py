"""Constants of the searches: found in the syntax tree, and replaced for a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.experiments import constants
from benchmarks.experiments.constants import Constant, find, replaced
from benchmarks.experiments.searches import Plan
from evosdc.errors import InputError
from evosdc.suppress.methods import hybrid, scheduler


@pytest.fixture(scope="module")
def found() -> dict[str, Constant]:
    return {f"{c.file}:{c.name}": c for c in find()}


def test_constants_are_listed_with_value_and_comment(
    found: dict[str, Constant],
) -> None:
    parts = found["suppress/methods/scheduler.py:CLOSED"]
    assert (parts.value, parts.status) == (scheduler.CLOSED, "live")
    assert parts.comment.startswith("A gap at which")
    assert all(c.name.isupper() for c in found.values())


def test_what_only_kernels_read_is_frozen(found: dict[str, Constant]) -> None:
    frozen = {c.file for c in found.values() if c.status == "frozen (kernel)"}
    assert "suppress/structure/primitives.py" in frozen
    # Kinds of things, numbered in a row, are no quantities.
    assert "suppress/engine/network/mend_kernels.py:WAS_HIDDEN" not in found


def test_a_replaced_constant_is_seen_wherever_it_is_imported(
    found: dict[str, Constant],
) -> None:
    parts, before = found["suppress/methods/scheduler.py:CLOSED"], scheduler.CLOSED
    with replaced(parts, parts.times(2.0)):
        assert scheduler.CLOSED == hybrid.CLOSED == 2 * before
    assert scheduler.CLOSED == hybrid.CLOSED == before


def test_whole_numbers_stay_whole_and_above_zero() -> None:
    def times(value: object, factor: float) -> object:
        return Constant("", "A", value, "", "", True).times(factor)

    assert [times(v, 0.5) for v in (1, 5, 8.0, (4, 0.2))] == [1, 2, 4.0, (2, 0.1)]
    assert type(times(5, 2.0)) is int


def test_what_cannot_be_measured_is_refused(
    tmp_path: Path, found: dict[str, Constant]
) -> None:
    def measure(name: str, plan: Plan) -> None:
        constants.conduct(
            tmp_path,
            measure=name,
            plan=plan,
            tables=0,
            families=(),
            command="",
            force=False,
            on_row=print,
        )

    name = next(n for n, c in found.items() if c.status == "frozen (kernel)")
    with pytest.raises(InputError, match="frozen"):
        measure(name, Plan())
    with pytest.raises(InputError, match="0 constants"):
        measure("NOTHING", Plan())
    with pytest.raises(InputError, match="workers"):
        measure("", Plan(workers=(2,)))
    measure("", Plan())
    assert "| `CLOSED` |" in (tmp_path / "constants.md").read_text()
