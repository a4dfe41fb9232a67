"""The verb methods: what `protect` can be told to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from evosdc.suppress.run.registry import load_methods


@dataclass(frozen=True)
class MethodInfo:
    """A method of `protect`, described.

    Attributes
    ----------
    name
        What ``protect(table, method=...)`` calls it.
    summary, tables, source
        One line each: what it does, what tables it takes, where it was published.
    options
        Its parameters with their published defaults.
    """

    name: str
    summary: str
    tables: str
    options: Mapping[str, Any]
    source: str

    def as_json(self) -> dict[str, Any]:
        """Return an entry of the list that ``evosdc methods --json`` prints."""
        return {
            "method": self.name,
            "summary": self.summary,
            "tables": self.tables,
            "options": dict(self.options),
            "source": self.source,
        }


def methods() -> tuple[MethodInfo, ...]:
    """List every method: what tables it takes, its options and its source.

    Examples
    --------
    >>> import evosdc
    >>> [m.name for m in evosdc.methods() if m.tables == "two-dimensional"][:3]
    ['sp', 'hypercube-2d', 'castro']
    """
    return tuple(
        MethodInfo(
            name=m.name,
            summary=m.summary,
            tables=m.tables,
            options={f.name: f.default for f in fields(m.parameters)},
            source=m.source,
        )
        for m in load_methods().values()
    )
