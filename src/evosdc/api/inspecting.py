"""The verb that looks at a file before it is synthesised: inspect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evosdc.api.records import as_records
from evosdc.frames import to_arrow

if TYPE_CHECKING:
    from evosdc.synth.inspecting import ColumnPlan


def inspect(frame: Any, **coding: Any) -> tuple[ColumnPlan, ...]:
    """Say of each column what it is and what a synthesis would do with it.

    `coding` are fields of `evosdc.synth.Coding`: `least`, `most_levels` and others.
    """
    from evosdc.synth import Coding
    from evosdc.synth.inspecting import inspect_columns

    return inspect_columns(to_arrow(as_records(frame)), Coding(**coding))


def columns_as_toml(plans: tuple[ColumnPlan, ...]) -> str:
    """Write what `inspect` says as a file to edit and give back."""
    from evosdc.synth.inspecting import as_toml

    return as_toml(plans)
