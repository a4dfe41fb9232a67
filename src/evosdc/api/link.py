"""The verb link: several tables over the same records become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evosdc.api.sources import as_table
from evosdc.api.verb import verb
from evosdc.options import tables as options
from evosdc.table.link import LinkedTables, link_tables


@verb(options.LINK)
def link(
    tables: Sequence[Any],
    links: Mapping[str, str] | None = None,
    *,
    read: options.Read | None = None,
) -> LinkedTables:
    """Join tables over the cells that they share, so that they are protected together.

    Parameters
    ----------
    tables
        Labelled tables, in any of the kinds that `protect` takes: a code of a dimension
        of the same name stands for the same records in all of them.
    links
        Dimensions of other names that are levels of one variable, ``{"A21": "A88"}``,
        or that are unrelated to all others, ``{"A21": "none"}``.
    read
        How the frames and files are read, as in `protect`.

    Returns
    -------
    LinkedTables
        The joint table, and where the cells of each part are in it; every verb takes
        it for a table.

    Examples
    --------
    >>> import evosdc
    >>> by_region = {"region": ["N", "S"], "value": [30, 70]}
    >>> by_size = {"size": ["a", "b", "c"], "value": [20, 35, 45]}
    >>> linked = evosdc.link([by_region, by_size])
    >>> len(linked.table), [len(cells) for cells in linked.cell_numbers]
    (6, [3, 4])
    """
    given = options.VerbOptions.of(options.LINK, read=read)
    parts = [as_table(table, given.read) for table in tables]
    return link_tables(parts, links=links)
