"""Attacks that are compared with a fresh sample: counted by hand."""

from __future__ import annotations

import pytest

from evosdc.metrics import from_codes
from evosdc.metrics.memorisation_tests import (
    Coded,
    _compared,
    certain_targets,
    copied_people,
    found_keys,
    guessed_targets,
)


def coded(rows: list[list[int]]) -> Coded:
    file = from_codes(rows, key=[0], target=1, levels=(4, 2))
    return Coded(file, file)


# Key and target. Two people share a record; those with keys 1, 2 and 3 are alone.
PEOPLE = coded([[0, 0], [0, 0], [1, 1], [2, 0], [3, 1]])
OTHER = coded([[0, 0], [1, 1], [2, 1], [2, 1], [3, 1], [3, 0]])


def test_whole_records_of_people_who_are_alone() -> None:
    # (1, 1) and (3, 1) are there; (0, 0) as well, but two people have it.
    assert copied_people(PEOPLE, OTHER) == (2, 3)


def test_keys_that_are_alone_in_both() -> None:
    assert found_keys(PEOPLE, OTHER) == (1, 3)


def test_targets_guessed_from_records_with_the_key() -> None:
    # Key 1: right. Key 2: wrong twice. Key 3: right every other time.
    assert guessed_targets(PEOPLE, OTHER) == (1.5, 3)


def test_targets_that_all_records_with_the_key_agree_on() -> None:
    # Both people with key 0 and the one with key 1; of key 2 the others are wrong.
    assert certain_targets(PEOPLE, OTHER) == (3, 5)


def test_what_is_chance_is_told_by_the_splits() -> None:
    # Fresh samples found 2 and 6: a mean of 4, a standard deviation of 8 ** 0.5.
    pairs = [((9.0, 50.0), (2.0, 50.0)), ((7.0, 30.0), (6.0, 30.0))]
    found = _compared("copied_people", "title", "the hold-out", pairs)
    assert (found.value, found.usual, found.of) == (8, 4, 40)
    assert found.bound == pytest.approx(4 + 3 * 8**0.5)
    assert found.passed
    # One split alone: a count of 4 by half its variance, and half a hit.
    alone = _compared("copied_people", "title", "", [((9.0, 50.0), (4.0, 50.0))])
    assert alone.bound == pytest.approx(4 + 3 * 2.5**0.5)
    assert not _compared("copied_people", "", "", [((9.0, 9.0), (0.0, 9.0))]).passed
