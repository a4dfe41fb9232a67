"""Further formats of a result: layouts of publications, files for other programs.

What may leave the office is written from a copy of the table in which hidden values,
contributors, weights, bounds, levels and the difference between primaries and
secondaries are gone, so that no format can show one. A JJ file holds all of these, an
a-priori file says which hidden cells are secondary; neither has a form that could be
published: they go to the confidential files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy import sparse

from evosdc.errors import InputError
from evosdc.io.argus.hst import write_hst
from evosdc.io.argus.tab import refuse_names, tab_files, write_published_tab
from evosdc.io.frames import published_frame
from evosdc.io.paths import open_output
from evosdc.io.publish import write_grid, write_pivot, write_sbs
from evosdc.table import Table, linked_parts
from evosdc.table.parts import Part
from evosdc.table.published import as_published


@dataclass(frozen=True)
class Layout:
    """A layout of publications: who writes it, and what comes after the stem."""

    write: Callable[[Path, Table], None]
    ending: str


def _write_parquet(path: Path, table: Table) -> None:
    import pyarrow.parquet as pq

    with open_output(path, public=True) as stream:
        pq.write_table(published_frame(table), stream)


# What is here can be written: no layout without its writer.
LAYOUTS = {
    "pivot": Layout(write_pivot, "-pivot.csv"),
    "grid": Layout(write_grid, "-grid.csv"),
    "sbs": Layout(write_sbs, "-sbs.csv"),
    "tab": Layout(write_published_tab, ".tab"),
    "parquet": Layout(_write_parquet, ".parquet"),
}
FORMATS = (*LAYOUTS, "jj", "hst")
JJ_NAME = "table.jj"
HST_NAME = "next-year.hst"
# What hiding a secondary of this year costs next year: cheap, not forced.
_AGAIN = 1.0
_WITHOUT_LABELS = ("parquet", "jj")


def read_also(also: str | Sequence[str]) -> tuple[str, ...]:
    """Read ``"pivot,grid"`` or a list of such words; each format once."""
    texts = [also] if isinstance(also, str) else list(also)
    if not all(isinstance(text, str) for text in texts):
        raise InputError(
            "a format that is no text",
            expected=f"some of {', '.join(FORMATS)}",
            hint="give also='pivot,grid'",
        )
    words = [w.strip().lower() for text in texts for w in text.split(",") if w.strip()]
    for word in words:
        if word not in FORMATS:
            raise InputError(
                f"there is no format {word!r}",
                expected=f"some of {', '.join(FORMATS)}",
                hint="published.csv is always written; see docs/reference/formats.md",
            )
    return tuple(dict.fromkeys(words))


def check_also(also: str | Sequence[str], table: Table) -> tuple[str, ...]:
    """Refuse formats that a table cannot be written in, before the work begins."""
    formats = read_also(also)
    for word in formats:
        if not table.dimensions and word not in _WITHOUT_LABELS:
            raise InputError(
                f"a table without labels has no {word}",
                expected=f"a table with dimensions, or {' or '.join(_WITHOUT_LABELS)}",
                hint="give the labelled table",
            )
    if "grid" in formats:
        for part in linked_parts(table):
            if len(part.dimensions) != 2:
                raise InputError(
                    f"a table of {len(part.dimensions)} dimensions has no grid",
                    expected="two dimensions",
                    hint="ask for a pivot instead",
                )
    if "tab" in formats:
        refuse_names(table)
    return formats


def also_files(folder: Path, table: Table, formats: Sequence[str]) -> list[Path]:
    """Name the files that `write_also` writes."""
    found: list[Path] = []
    for stem, part in _parts(table):
        for word in formats:
            if word == "tab":
                found += tab_files(folder / f"{stem}.tab", part)
            elif word in LAYOUTS:
                found.append(folder / f"{stem}{LAYOUTS[word].ending}")
    return found


def write_also(folder: Path, table: Table, formats: Sequence[str]) -> None:
    """Write the layouts of a table that may be published."""
    for stem, part in _parts(table):
        for word in formats:
            layout = LAYOUTS.get(word)
            if layout is not None:
                layout.write(folder / f"{stem}{layout.ending}", part)


def write_also_hst(folder: Path, table: Table) -> None:
    """Write the secondaries as an a-priori file, to hide them again next year."""
    write_hst(folder / HST_NAME, table, cost=_AGAIN)


def file_words(names: Sequence[str]) -> str:
    """Names of dimensions in the name of a file, on any system."""
    return "-".join(re.sub(r"[^\w.]+", "_", name) for name in names)


def _parts(table: Table) -> list[tuple[str, Table]]:
    """The table, or each of several linked ones, with the beginning of its names."""
    # Cells that no table shows are no part of a publication, not even as hidden ones.
    table = table.visible()
    public = as_published(table)
    parts = linked_parts(table)
    if len(parts) == 1:
        return [("published", public)]
    found = []
    for number, part in enumerate(parts, 1):
        stem = f"published-{number}-{file_words(part.names)}"
        found.append((stem, _cut(public, part)))
    return found


def _cut(public: Table, part: Part) -> Table:
    """One of several linked tables, for its labels and values."""
    cells = part.cells
    dimensions, codes = part.labels(public)
    nothing = np.full(len(cells), np.nan)
    return replace(
        public,
        value=public.value[cells],
        status=public.status[cells],
        weight=nothing,
        lower=nothing,
        upper=nothing,
        lpl=nothing,
        upl=nothing,
        spl=nothing,
        matrix=sparse.csr_array((0, len(cells))),
        rhs=np.zeros(0),
        dimensions=dimensions,
        codes=codes,
    )
