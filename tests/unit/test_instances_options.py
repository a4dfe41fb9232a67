"""Options given as text are read by the type of their field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from evosdc.errors import InputError
from evosdc.options import read_options


@dataclass(frozen=True)
class Knobs:
    count: int = 1
    share: float = 0.5
    name: str = "x"
    fast: bool = False
    limit: float | None = 2.0
    shape: tuple[int, ...] = (1,)


def read(**options: Any) -> Knobs:
    given = read_options(
        Knobs, options, owner="method 'm'", error=InputError, hint="see: help"
    )
    return Knobs(**given)


def test_text_becomes_the_type_of_the_field() -> None:
    told = read(
        count="3", share="1e-2", name=" y ", fast="Yes", limit="none", shape="2x3"
    )
    assert told == Knobs(3, 0.01, "y", True, None, (2, 3))
    assert read(limit="7", shape="4, 5", fast="off") == Knobs(limit=7.0, shape=(4, 5))


def test_values_that_are_no_text_are_kept() -> None:
    assert read(shape=(9,), limit=None).shape == (9,)


def test_hyphens_stand_for_underscores() -> None:
    @dataclass(frozen=True)
    class Long:
        two_words: int = 0

    told = read_options(
        Long, {"two-words": "4"}, owner="method 'm'", error=InputError, hint=""
    )
    assert told == {"two_words": 4}


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("count", "many"),
        ("count", "1.5"),
        ("fast", "maybe"),
        ("limit", "soon"),
        ("shape", "2by3"),
    ],
)
def test_text_of_another_type_is_refused(option: str, text: str) -> None:
    with pytest.raises(InputError, match=f"option {option} of method 'm' is"):
        read(**{option: text})


def test_unknown_options_list_the_known_ones() -> None:
    with pytest.raises(InputError, match="one of count, share, name, fast"):
        read(speed="3")
