"""Secondaries that must be safe too."""

from __future__ import annotations

import numpy as np
import pytest

import evosdc
from builders import flat_table
from evosdc.api.running import Clock
from evosdc.api.settling import settle_secondaries
from evosdc.instances import make
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search
from evosdc.table import Table


@pytest.mark.parametrize("method", ["attacker", "marginal", "hitas"])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_secondary_can_be_worked_out(method: str, seed: int) -> None:
    t = make("random", seed, shape=(6, 4, 2), trees=1, zeros=0.3)
    result = evosdc.protect(t, method=method, secondaries=True, time_limit=20)
    assert result.safe
    assert evosdc.audit(result.table, secondaries=True).safe
    assert result.verdict.judged == result.secondaries + len(t.primaries)


def squares() -> Table:
    """Four by four with one sensitive corner; its square is hidden, and d-d alone."""
    dims = {"r": "abcd", "s": "abcd"}
    value = 10.0 + np.arange(16)
    status = ["u", "m", "s", "s", "m", "m", *["s"] * 9, "m"]
    level = [2.0] + [0.0] * 15
    return flat_table(dims, value, status=status, lpl=level, upl=level)


def test_a_secondary_that_protects_nothing_is_published() -> None:
    t = squares()
    assert evosdc.audit(t).safe
    assert [e.cell for e in evosdc.audit(t, secondaries=True).verdict.exposed] == [15]
    search = Search()
    nobody = np.zeros(len(t), dtype=bool)
    hidden = settle_secondaries(
        t,
        Problem.of(t),
        t.hidden,
        nobody,
        strict=False,
        known=nobody,
        search=search,
        clock=Clock(None),
    )
    assert np.flatnonzero(t.hidden & ~hidden).tolist() == [15]
    assert not (hidden & ~t.hidden).any()
    assert "1 secondaries protect nothing" in search.record.entries[-1].event


def test_a_secondary_that_follows_from_an_earlier_publication_is_published() -> None:
    """It protects nobody: the sensitive cell beside it is known from before."""
    level = [2.0, 0.0, 0.0]
    t = flat_table(
        {"r": "abc"}, [10.0, 20, 30], status=list("ums"), lpl=level, upl=level
    )
    known = np.arange(len(t)) == 0
    settled = [
        settle_secondaries(
            t,
            Problem.of(t),
            t.hidden,
            np.zeros(len(t), dtype=bool),
            strict=False,
            known=cells,
            search=Search(),
            clock=Clock(None),
        )
        for cells in (known, np.zeros(len(t), dtype=bool))
    ]
    assert [np.flatnonzero(hidden).tolist() for hidden in settled] == [[0], [0, 1]]


def test_what_must_stay_hidden_is_protected() -> None:
    t = squares()
    result = evosdc.protect(t, keep_secondaries=True, secondaries=True, evaluations=20)
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
    assert not evosdc.audit(plain.table, secondaries=True).safe
    result = evosdc.protect(t, method="attacker", secondaries=True)
    assert result.safe


def test_strict_goes_through() -> None:
    t = make("random", 22, shape=(6, 5), strict=True)
    result = evosdc.protect(t, strict=True, secondaries=True, evaluations=30)
    assert result.safe
    assert result.verdict.strict
    assert result.settings["strict"] is True
    assert evosdc.audit(result.table, strict=True, secondaries=True).safe
