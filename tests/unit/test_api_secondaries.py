"""Secondaries that must be safe too."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import evosdc
from builders import flat_table
from evosdc.instances import make
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.table import Table


@pytest.mark.parametrize("method", ["attacker", "marginal", "hitas"])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_secondary_can_be_worked_out(method: str, seed: int) -> None:
    t = make("random", seed, shape=(6, 4, 2), trees=1, zeros=0.3)
    result = evosdc.protect(
        t,
        method=method,
        time_limit=20,
        attackers=evosdc.Attackers(protect_secondaries=True),
    )
    assert result.safe
    assert evosdc.audit(
        result.table, attackers=evosdc.Attackers(protect_secondaries=True)
    ).safe
    assert result.verdict.judged == result.secondaries + len(t.primaries)


def squares() -> Table:
    """Four by four with one sensitive corner; its square is hidden, and d-d alone."""
    dims = {"r": "abcd", "s": "abcd"}
    value = 10.0 + np.arange(16)
    status = ["u", "m", "s", "s", "m", "m", *["s"] * 9, "m"]
    level = [2.0] + [0.0] * 15
    return flat_table(dims, value, status=status, lpl=level, upl=level)


def test_a_secondary_that_protects_nothing_is_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    t = squares()
    assert evosdc.audit(t).safe
    assert [
        e.cell
        for e in evosdc.audit(
            t, attackers=evosdc.Attackers(protect_secondaries=True)
        ).verdict.exposed
    ] == [15]
    found = searched_as(monkeypatch, t, t.hidden)
    assert found.safe
    assert np.flatnonzero(t.hidden & ~found.table.hidden).tolist() == [15]
    assert not (found.table.hidden & ~t.hidden).any()


def test_a_secondary_that_follows_from_an_earlier_publication_is_published(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It protects nobody: the sensitive cell beside it is known from before."""
    level = [2.0, 0.0, 0.0]
    t = flat_table(
        {"r": "abc"}, [10.0, 20, 30], status=list("ums"), lpl=level, upl=level
    )
    assert np.flatnonzero(
        searched_as(monkeypatch, t, t.hidden).table.hidden
    ).tolist() == [0, 1]
    earlier = tmp_path / "earlier.csv"
    earlier.write_text("r,value\na,10\n", encoding="utf-8")
    prior = evosdc.Prior(already_published=earlier)
    found = searched_as(monkeypatch, t, t.hidden, prior=prior)
    assert np.flatnonzero(found.table.hidden).tolist() == [0]


def searched_as(
    monkeypatch: pytest.MonkeyPatch,
    table: Table,
    hidden: NDArray[np.bool_],
    **options: Any,
) -> evosdc.Protection:
    """Protect a table with a search that finds this pattern."""

    def search(problem: Problem, *_: object) -> tuple[Pattern, tuple[str, ...]]:
        return problem.pattern(hidden), ()

    monkeypatch.setattr(import_module("evosdc.api.solve"), "run", search)
    return evosdc.protect(
        table,
        attackers=evosdc.Attackers(protect_secondaries=True),
        stop=evosdc.Stop(evaluations=5),
        **options,
    )


def test_what_must_stay_hidden_is_protected() -> None:
    t = squares()
    result = evosdc.protect(
        t,
        cells=evosdc.CellRequests(keep_secondaries=True),
        attackers=evosdc.Attackers(protect_secondaries=True),
        stop=evosdc.Stop(evaluations=20),
    )
    assert result.safe
    assert result.table.status[15] == "m"
    assert result.secondaries > 4
    low, high = evosdc.attack.intervals(result.table, [15])
    assert low[0] < high[0]


def test_own_levels_of_secondaries_are_kept() -> None:
    t = make("random", 5, shape=(5, 4, 3))
    levels = np.where(t.status == "s", np.rint(0.3 * np.abs(t.value)), t.upl)
    t = t.replace(upl=levels)
    plain = evosdc.protect(t, method="attacker")
    assert not evosdc.audit(
        plain.table, attackers=evosdc.Attackers(protect_secondaries=True)
    ).safe
    result = evosdc.protect(
        t, method="attacker", attackers=evosdc.Attackers(protect_secondaries=True)
    )
    assert result.safe


def test_strict_goes_through() -> None:
    t = make("random", 22, shape=(6, 5), strict=True)
    result = evosdc.protect(
        t,
        attackers=evosdc.Attackers(strict=True, protect_secondaries=True),
        stop=evosdc.Stop(evaluations=30),
    )
    assert result.safe
    assert result.verdict.strict
    assert result.settings["strict"] is True
    assert evosdc.audit(
        result.table, attackers=evosdc.Attackers(strict=True, protect_secondaries=True)
    ).safe


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("least", [0.0, 50.0])
def test_kept_secondaries_are_asked_for_as_the_judge_does(
    strict: bool, least: float
) -> None:
    """Of the public alone, and only not to be worked out: no more cells for them."""
    table = Table.of(
        [50, 20, 10, 80],
        [[1, 1, 1, -1]],
        weight=[1, 1, 100, 1000],
        status=["u", "m", "s", "s"],
        lower=[least, 0, 0, 0],
        upl=[5, 0, 0, 0],
        frequency=[1, 9, 9, 19],
        respondent=["r", "", "", ""],
    )
    result = evosdc.protect(
        table,
        attackers=evosdc.Attackers(strict=strict, protect_secondaries=True),
        cells=evosdc.CellRequests(keep_secondaries=True),
        stop=evosdc.Stop(evaluations=50),
    )
    assert result.safe
    assert result.cost == result.lower_bound == 1
