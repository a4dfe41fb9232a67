"""Several tables over the same records as one: each span a table, shared cells once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from evosdc.errors import InputError
from evosdc.table import Hierarchy
from evosdc.table.link import LinkedTables, link_tables
from evosdc.tabulation.microdata import tabulate


def tabulate_linked(
    source: Any,
    spans: Sequence[Sequence[str]],
    value: str | None = None,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    digits: Mapping[str, int] | None = None,
    flat: Collection[str] = (),
    **options: Any,
) -> LinkedTables:
    """Tabulate the same records by several spans of variables and link the tables.

    Parameters
    ----------
    source, value
        As in `evosdc.tabulation.tabulate`.
    spans
        The spanning variables of each table.
    hierarchies, digits, flat
        By variable; each table takes those of its own variables.
    options
        Those of `evosdc.tabulation.tabulate`, the same for all tables.
    """
    options["flat"] = flat
    strange = sorted(set(flat) - {name for span in spans for name in span})
    if strange:
        raise InputError(
            f"--flat (flat) names {strange[0]!r}, which no table is made by",
            expected="variables of the tables",
            hint="check the spelling",
        )
    if len(spans) == 1:
        table = tabulate(
            source, spans[0], value, hierarchies=hierarchies, digits=digits, **options
        )
        return LinkedTables(table, (np.arange(len(table)),))
    trees, widths = dict(hierarchies or {}), dict(digits or {})
    known = dict.fromkeys(name for span in spans for name in span)
    for name in (*trees, *widths):
        if name not in known:
            raise InputError(
                f"a hierarchy or digits for {name!r}, which no table is made by",
                expected=f"some of {', '.join(known)}",
                hint="add the variable to a table, or leave it out",
            )
    if isinstance(source, pa.RecordBatchReader):
        # A stream can be read once only, and every table reads the records.
        source = source.read_all()
    return link_tables(
        [
            tabulate(
                source,
                span,
                value,
                hierarchies={name: trees[name] for name in span if name in trees},
                digits={name: widths[name] for name in span if name in widths},
                **options,
            )
            for span in spans
        ]
    )
