"""Options are declared once: pages, help texts and lists say what is declared."""

from __future__ import annotations

import pkgutil
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

import pytest

from evosdc import rules
from evosdc.cli.flags import form_of
from evosdc.errors import InputError
from evosdc.formats import layout_names
from evosdc.metrics.binning import BINS
from evosdc.options import (
    Declaration,
    OptionObject,
    copies,
    declarations,
    option,
    read_text,
)
from evosdc.options.rules import PRESETS, RULES
from evosdc.options.tables import (
    KEYWORDS,
    OBJECTS,
    VERBS,
    Seconds,
    Stop,
)
from evosdc.options.verbs import FORMER_KEYWORDS
from evosdc.rules import parse_rule
from evosdc.synth.data.rare_levels import DEFAULT_MIN_GROUP
from evosdc.synth.options import GROUPS
from evosdc.synth.search.breeding import CROSSOVERS

DOCS = Path(__file__).parents[2] / "docs"
EVERY = [
    (verb, keyword, one)
    for verb, takes in VERBS.items()
    for keyword, group in takes.items()
    for one in group.options()
]


def test_no_rule_or_format_is_forgotten() -> None:
    for name, rule in RULES.items():
        assert parse_rule(rule.example).name == name
    classes = set()
    for found in pkgutil.iter_modules(rules.__path__, "evosdc.rules."):
        for thing in vars(import_module(found.name)).values():
            if is_dataclass(thing) and "needs" in dir(thing) and "name" in dir(thing):
                classes.add(f"{thing.__module__}:{thing.__name__}")
    # Manual status belongs to `set_status`.
    assert classes - {"evosdc.rules.counting:Manual"} == {
        r.home for r in RULES.values()
    }
    page = (DOCS / "reference/rules.md").read_text(encoding="utf-8")
    for name in RULES:
        assert f"| `{name}" in page, name
    for name in PRESETS:
        assert f"`{name}`" in page, name
    formats = (DOCS / "reference/formats.md").read_text(encoding="utf-8")
    for name in layout_names():
        assert f"`{name}`" in formats, name


def test_a_synthesis_is_declared_with_the_defaults_of_its_parts() -> None:
    assert copies.Coding().bins == BINS
    assert copies.Coding().least == DEFAULT_MIN_GROUP
    for name, kind in copies.OBJECTS.items():
        assert issubclass(GROUPS[name], kind)
        assert vars(GROUPS[name]()) == vars(kind())
        for one in declarations(kind):
            assert one.help.endswith("."), one.name


def test_crossovers_are_listed() -> None:
    (one,) = [o for o in declarations(copies.Operators) if o.name == "crossover"]
    assert all(name in one.help for name in CROSSOVERS)


@pytest.mark.parametrize(("verb", "keyword", "one"), EVERY, ids=str)
def test_every_option_says_what_it_is(
    verb: str, keyword: str, one: Declaration
) -> None:
    assert one.help.endswith(".")
    assert one.flag.name or one.name.startswith("on_")
    if one.flag.name:
        assert form_of(one)
        assert one.flag.name.startswith("--")
    if keyword == KEYWORDS:
        assert one.name in ("method", "time_limit", "seed", "workers", "rules")


def test_what_a_class_declares_is_in_its_help() -> None:
    for kind in OBJECTS.values():
        for one in declarations(kind):
            assert f"{one.name} : " in kind.__doc__
            assert one.help in kind.__doc__


def test_former_names_lead_to_options_that_there_are() -> None:
    names = {one.name for _, _, one in EVERY}
    assert set(FORMER_KEYWORDS.values()) <= names
    assert not set(FORMER_KEYWORDS) & {one.name for one in declarations(Stop)}


def test_a_declaration_is_checked() -> None:
    class Own(OptionObject):
        pass

    assert Own.listed == "see help(evosdc.Own)"
    with pytest.raises(InputError, match=r"gap is 2.*at least 0 and below 1.*Stop"):
        Stop(gap=2)
    with pytest.raises(InputError, match=r"evaluations is 1\.5.*whole number or none"):
        Stop(evaluations=1.5)
    assert option(3, "text", least=1).metadata["ranges"] == {"at least": 1}


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("none", float | None, None),
        ("3", float | None, 3.0),
        ("auto", Seconds, "auto"),
        ("public", Literal["public", "lone"], "public"),
    ],
)
def test_text_is_read_by_type(text: str, kind: object, value: object) -> None:
    assert read_text(text, kind) == value
