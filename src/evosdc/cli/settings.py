"""`evosdc.toml`: the options of each step, read as defaults and written as used."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evosdc.errors import InputError
from evosdc.options import Takes
from evosdc.options.tables import KEYWORDS

# What `[output]` may say, and which parameter of each step that is.
OUTPUT: dict[str, dict[str, str]] = {
    "table": {
        "tabulate": "output",
        "protect": "tables",
        "audit": "tables",
        "lower_bound": "tables",
    },
    "folder": {"protect": "output", "synthesise": "output", "evaluate": "output"},
    "formats": {"protect": "formats"},
    "force": dict.fromkeys(("tabulate", "protect", "synthesise", "evaluate"), "force"),
    "json": dict.fromkeys(
        ("protect", "audit", "lower_bound", "synthesise", "evaluate"), "as_json"
    ),
}
# What is said again in every run.
_NOT_SAVED = ("force", "as_json", "resume", "save_options")


def read_settings(path: Path) -> dict[str, Any]:
    """Read the sections of a file."""
    try:
        with path.open("rb") as stream:
            sections = tomllib.load(stream)
    except FileNotFoundError:
        raise InputError(
            f"there is no file {path}",
            expected="a file of options, evosdc.toml where none is named",
            hint="write one with --save-options, or see docs/how-to/options-file.md",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be read: {error}",
            expected="TOML in UTF-8",
            hint="see docs/how-to/options-file.md",
        ) from None
    for key in _section(sections, "output"):
        if key not in OUTPUT:
            raise _unknown("output", key, OUTPUT)
    return sections


def defaults_of(
    step: str,
    sections: Mapping[str, Any],
    objects: Mapping[str, Takes],
    parameters: Mapping[str, bool],
) -> dict[str, Any]:
    """Return what a file says of a step, by parameter of the command.

    Parameters
    ----------
    parameters
        Those of the command, and whether each takes several values.
    """
    found: dict[str, Any] = {}
    for key, value in _section(sections, "output").items():
        if step in OUTPUT[key]:
            found[OUTPUT[key][step]] = value
    own = dict(_section(sections, step))
    fields = {
        one.name
        for keyword, group in objects.items()
        if keyword != KEYWORDS
        for one in group.options()
    }
    for keyword, group in objects.items():
        if keyword == KEYWORDS:
            continue
        known = [one.name for one in group.options() if one.flag.name]
        for key, value in _section(own, keyword, step).items():
            if key not in known:
                raise _unknown(f"{step}.{keyword}", key, known)
            found[key] = value
        own.pop(keyword, None)
    allowed = [name for name in parameters if name not in fields | {"save_options"}]
    for key, value in own.items():
        if key not in allowed:
            raise _unknown(step, key, [*allowed, *objects])
        found[key] = value
    return {
        name: _words(value, several=parameters[name]) for name, value in found.items()
    }


def _section(
    sections: Mapping[str, Any], name: str, within: str = ""
) -> Mapping[str, Any]:
    found = sections.get(name, {})
    if not isinstance(found, Mapping):
        raise InputError(
            f"{name!r} is no section",
            expected=f"[{within + '.' if within else ''}{name}]",
        )
    return found


def _unknown(section: str, key: str, known: Any) -> InputError:
    listed = ", ".join(name for name in known if name != KEYWORDS)
    return InputError(
        f"[{section}] has {key!r}",
        expected=f"some of {listed}",
        hint="check the spelling; see docs/reference/options.md",
    )


def _words(value: Any, *, several: bool) -> Any:
    """Return a value as the flags take it: texts, and NAME=VALUE for a table."""
    if isinstance(value, Mapping):
        return [f"{name}={_text(one)}" for name, one in value.items()]
    if isinstance(value, list):
        return [_text(one) for one in value] if several else _text(value)
    return [_text(value)] if several else value


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}={one}" for name, one in value.items())
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def save_options(
    path: Path, step: str, objects: Mapping[str, Takes], given: Mapping[str, Any]
) -> None:
    """Write the options of a run; what has no value is left out."""
    from evosdc.io.paths import write_text

    rest = dict(given)
    sections: dict[str, dict[str, Any]] = {}
    for keyword, group in objects.items():
        if keyword != KEYWORDS:
            named = [one.name for one in group.options() if one.name in rest]
            sections[f"{step}.{keyword}"] = {name: rest.pop(name) for name in named}
    lines: list[str] = []
    for name, values in {step: rest, **sections}.items():
        said = {
            key: value
            for key, value in values.items()
            if value not in (None, [], ()) and key not in _NOT_SAVED
        }
        if said:
            lines += ["", f"[{name}]"]
            lines += [f"{key} = {_toml(value)}" for key, value in said.items()]
    write_text(path, "\n".join(lines[1:]) + "\n", bool(given.get("force")))


def _toml(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    # What JSON leaves as it is and TOML does not allow.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
