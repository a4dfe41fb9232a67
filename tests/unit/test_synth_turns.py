"""Turns that threads take one after the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit

from evosdc.synth.search.atomic_counter import new_counter, next_number
from evosdc.synth.search.population import Team


@njit(nogil=True)
def take_all(counter, taken):  # type: ignore[no-untyped-def]
    """Mark every turn up to the end; return how many were ours."""
    mine = 0
    while True:
        turn = next_number(counter)
        if turn >= len(taken):
            return mine
        taken[turn] += 1
        mine += 1


def test_every_turn_is_taken_once() -> None:
    counter, taken = new_counter(), np.zeros(200_000, np.int64)
    with ThreadPoolExecutor(4) as pool:
        shares = list(pool.map(lambda _: take_all(counter, taken), range(4)))
    assert (taken == 1).all()
    assert sum(shares) == len(taken)
    assert counter[0] == len(taken) + 4


def test_nothing_is_taken_when_called_off() -> None:
    counter, taken = new_counter(), np.zeros(10, np.int64)
    counter.fill(len(taken))
    assert take_all(counter, taken) == 0
    assert not taken.any()


def test_an_interrupted_team_calls_its_work_off_and_waits_for_it() -> None:
    received: list[str] = []

    def work(item: int) -> Any:
        if item == 0:
            raise KeyboardInterrupt
        received.append("worked")
        return None

    with Team(2) as team:
        try:
            team.each(work, [0, 1], lambda: received.append("off"))
        except KeyboardInterrupt:
            received.append("raised")
    assert received[-1] == "raised"
    assert "off" in received
