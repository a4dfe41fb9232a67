"""Requests about cells as users write them: labels as text, as mappings, in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any

from evosdc.errors import InputError
from evosdc.io import read_labels
from evosdc.options.objects import CostFactors, Labels
from evosdc.suppress.problem.requests import Label, LabelRequests
from evosdc.table.codes import tidy_code

_FACTOR_HINT = "above 1 keeps cells, below 1 hides them first"


def read_requests(hide: Labels, publish: Labels, prefer: CostFactors) -> LabelRequests:
    """Read requests as users write them.

    A label is a mapping from dimension to code, or text such as
    ``"region=North,size=s*"``. Text that starts with ``@`` names a CSV file with one
    column per dimension, blank for any code, and a column ``factor`` for preferences.
    """
    return LabelRequests(
        hide=[label for label, _ in _labels(hide)],
        publish=[label for label, _ in _labels(publish)],
        prefer=list(_preferences(prefer)),
    )


def _labels(given: Labels) -> Iterator[tuple[Label, float | None]]:
    """Yield labels, with the factors that a file gives them."""
    for one in [given] if isinstance(given, (str, Mapping)) else given or ():
        if not isinstance(one, str):
            yield {k: str(v) for k, v in one.items()}, None
        elif one.startswith("@"):
            yield from read_labels(one[1:])
        else:
            yield _label(one), None


def _preferences(given: CostFactors) -> Iterator[tuple[Label, float]]:
    listed: Iterable[Any] = [given] if isinstance(given, str) else given or ()
    for pair in given.items() if isinstance(given, Mapping) else listed:
        if isinstance(pair, str):
            pair = _preference(pair)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(
                f"a preference is a {type(pair).__name__}",
                expected="a label and a factor, such as ('region=North', 5)",
                hint=_FACTOR_HINT,
            )
        one, times = pair
        for label, factor in _labels(one):
            number = times if factor is None else factor
            if number is None:
                raise InputError(
                    f"{one} has no column 'factor'",
                    expected="a factor for each label",
                    hint=f"add the column: {_FACTOR_HINT}",
                )
            if isinstance(number, bool) or not isinstance(number, Real):
                raise InputError(
                    f"the factor of a preference is a {type(number).__name__}",
                    expected="a number of 0 or more",
                    hint=_FACTOR_HINT,
                )
            yield label, float(number)


def _label(text: str) -> Label:
    label: dict[str, str] = {}
    for part in text.split(","):
        name, sign, code = (tidy_code(word) for word in part.partition("="))
        if not (name and sign and code) or name in label:
            raise InputError(
                f"a label is {text!r}",
                expected="DIMENSION=CODE, several with commas, such as "
                "region=North,size=small",
                hint="give codes with commas in them in a file: @FILE.csv",
            )
        label[name] = code
    return label


def _preference(text: str) -> tuple[str, float | None]:
    """Read ``region=North,size=small=5``, or ``@FILE`` with a column factor."""
    if text.startswith("@"):
        return text, None
    label, _, number = text.rpartition("=")
    try:
        return label, float(number)
    except ValueError:
        raise InputError(
            f"a preference is {text!r}",
            expected="a label and a factor, such as region=North=5",
            hint=_FACTOR_HINT,
        ) from None
