"""Sub-tables that are solved before it is their turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evosdc.instances import make
from evosdc.parallel import SerialPool, Workers
from evosdc.suppress.methods import hitas
from evosdc.suppress.methods.hitas import Prefetch, Subtables, _Decomposition
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search


class Remembering(SerialPool[Subtables]):
    """A pool that says which sub-tables it was asked for."""

    def __init__(self, shared: Subtables) -> None:
        super().__init__(shared)
        self.asked: list[int] = []

    def submit(
        self,
        function: Callable[[Subtables, Any], Any],
        argument: Any,
        **_: bool,
    ) -> Any:
        self.asked.append(argument.number)
        return super().submit(function, argument)


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[Remembering]:
    made: list[Remembering] = []

    def remembering(_: Workers, shared: Subtables) -> Remembering:
        made.append(Remembering(shared))
        return made[-1]

    monkeypatch.setattr(hitas, "open_pool", remembering)
    monkeypatch.setattr(hitas, "_SECONDS_BEFORE_WORKERS", 0.0)
    return made


def decomposition(workers: int) -> _Decomposition:
    table = make("random", 3, shape=(12, 8, 3), trees=2, sensitive=0.2)
    options = find_method("hitas").configure({"inner": "attacker", "seconds": 1000.0})
    return _Decomposition(Problem.of(table), options, Search(workers=Workers(workers)))


def test_what_is_asked_for_ahead_shares_no_cell_with_what_comes_before(
    pools: list[Remembering],
) -> None:
    cut = decomposition(3)
    # The highest sub-table shares cells with all those of the next level.
    cut.dirty[0] = False
    with Prefetch(cut.whole, cut.search, int(cut.dirty.sum())) as prefetch:
        prefetch.look_ahead(cut.dirty, cut.hidden, np.inf)
    asked = pools[0].asked
    # This process solves the one whose turn it is.
    assert int(np.argmax(cut.dirty)) not in asked
    assert asked
    for number in asked:
        higher = np.flatnonzero(cut.dirty[:number]).tolist()
        before = np.concatenate(
            [np.empty(0), *(cut.whole.tables[i].cells for i in higher)]
        )
        assert not np.isin(cut.whole.tables[number].cells, before).any()


def test_what_was_found_before_a_cell_was_hidden_is_thrown_away(
    pools: list[Remembering],
) -> None:
    alone, helped = decomposition(1), decomposition(3)
    alone.solve()
    helped.solve()
    assert helped.hidden.tolist() == alone.hidden.tolist()
    assert helped.summary() == alone.summary()
    assert len(pools[1].asked) > 1
