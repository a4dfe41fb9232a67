"""The registry: each method where the table says, loaded when it is asked for."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import fields
from importlib import import_module

import pytest

import evosdc.suppress
from evosdc.errors import MethodError
from evosdc.options import MethodOptions
from evosdc.suppress.run.registry import METHODS, Method, find_method, load_methods

_LOADED = """
import json, sys
from evosdc.suppress.run.registry import find_method
find_method({name!r})
print(json.dumps([m for m in sys.modules if m.startswith("evosdc.suppress.")]))
"""


def _loaded_by(name: str) -> set[str]:
    """Names of our modules in a fresh interpreter that looked up one method."""
    run = subprocess.run(
        [sys.executable, "-c", _LOADED.format(name=name)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(run.stdout))


def test_a_lookup_imports_one_method() -> None:
    loaded = _loaded_by("sp")
    others = {entry.partition(":")[0] for entry in METHODS.values()}
    assert loaded & others == {"evosdc.suppress.methods.shortest_paths"}
    assert "evosdc.suppress.methods.gensup" not in loaded
    for folder in ("bounds", "papers", "engine.general"):
        assert import_module(f"evosdc.suppress.{folder}")
        assert f"evosdc.suppress.{folder}" not in loaded


@pytest.mark.parametrize("name", METHODS)
def test_an_entry_is_the_method_of_its_name(name: str) -> None:
    method = find_method(name)
    assert isinstance(method, Method)
    assert method.name == name


def test_every_method_is_listed() -> None:
    listed = {id(method) for method in load_methods().values()}
    assert len(listed) == len(METHODS)
    for module in pkgutil.walk_packages(
        evosdc.suppress.__path__, "evosdc.suppress.", onerror=_fail
    ):
        for name, thing in vars(import_module(module.name)).items():
            if isinstance(thing, Method):
                assert id(thing) in listed, f"{module.name}:{name} is not listed"


def _fail(name: str) -> None:
    raise AssertionError(f"{name} cannot be imported")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(MethodError, match="there is no method 'magic'") as caught:
        find_method("magic")
    assert "gensup" in str(caught.value)
    assert "evosdc methods" in str(caught.value)


@pytest.mark.parametrize(
    ("method", "option"),
    [
        ("hybrid", {"population": 0}),
        ("ls-ruin", {"steps": -1}),
        ("optimal", {"ease": float("nan")}),
    ],
)
def test_numbers_that_make_no_sense_are_refused(
    method: str, option: dict[str, object]
) -> None:
    (name,) = option
    with pytest.raises(MethodError, match=f"option {name} is") as e:
        find_method(method).configure(option)
    assert "at least" in str(e.value)
    assert "evosdc methods" in str(e.value)


@pytest.mark.parametrize("name", METHODS)
def test_options_of_a_method_check_themselves(name: str) -> None:
    parameters = find_method(name).parameters
    assert issubclass(parameters, MethodOptions) or not fields(parameters)


@pytest.mark.parametrize(("share", "good"), [(0, False), (0.5, True), (1, False)])
def test_ranges_may_be_open(share: float, good: bool) -> None:
    with (
        nullcontext() if good else pytest.raises(MethodError, match="above 0 and below")
    ):
        find_method("gensup").configure({"elite_share": share})


def test_what_turns_a_part_off_is_taken() -> None:
    assert find_method("hybrid").configure({"rounds": 0}).rounds == 0
    assert find_method("order-ga").configure({"ruin": -1.0}).ruin == -1.0
