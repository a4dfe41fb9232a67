"""The registry of file formats: readers, writers, help texts and lists are made of it.

A format is added with one module and one entry here (docs/how-to/add-a-format.md). An
entry names its functions as ``module:function``: nothing heavy is imported, so that
help texts are quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

Content = Literal["table", "records", "hierarchy", "columns"]

# What may follow the suffix of a format that may be compressed.
PACKINGS = (".gz", ".zst")


@dataclass(frozen=True, eq=False)
class Format:
    """A format of files.

    Attributes
    ----------
    name
        What it is called.
    suffixes
        The ends of names that it has, in lower case.
    what
        What it is, for messages and the documentation.
    packed
        Whether files may be compressed.
    read, written
        The functions that read and write it, for each content: tables, records
        (microdata), hierarchies, or any columns, such as patterns and publications.
    labels
        Whether a table in it keeps its labels.
    companions
        Whether a table or records need other files of the format with them.
    """

    name: str
    suffixes: tuple[str, ...]
    what: str
    packed: bool = False
    read: Mapping[Content, str] = field(default_factory=dict)
    written: Mapping[Content, str] = field(default_factory=dict)
    labels: bool = True
    companions: bool = False

    @classmethod
    def of_columns(
        cls,
        name: str,
        suffixes: tuple[str, ...],
        what: str,
        *,
        read: str,
        write: str,
        packed: bool = False,
    ) -> Self:
        """Return a format of named columns, which can hold any content.

        `read` takes a path and returns an Arrow table; `write` takes a path, an Arrow
        table, ``force`` and ``public``.
        """
        return cls(
            name,
            suffixes,
            what,
            packed,
            {
                "table": "evosdc.io.labelled:read_labelled",
                "records": read,
                "hierarchy": "evosdc.io.argus.hrc:read_levels",
                "columns": read,
            },
            {
                "table": "evosdc.io.labelled:write_labelled",
                "records": write,
                "columns": write,
            },
        )

    @property
    def has_columns(self) -> bool:
        """Whether it holds named columns, and so any content."""
        return "columns" in self.read

    def endings(self) -> tuple[str, ...]:
        """Return every suffix, with and without those of compressed files."""
        packings = ("", *PACKINGS) if self.packed else ("",)
        return tuple(s + packing for s in self.suffixes for packing in packings)


CSV = Format.of_columns(
    "csv",
    (".csv", ".tsv", ".txt", ".dat"),
    "columns separated by commas, semicolons, tabs or bars, names in the first line",
    read="evosdc.io.delimited:read_csv",
    write="evosdc.io.delimited:write_csv",
    packed=True,
)
PARQUET = Format.of_columns(
    "parquet",
    (".parquet", ".pq"),
    "columns with their types",
    read="evosdc.io.columns:read_parquet",
    write="evosdc.io.columns:write_parquet",
)
JJ = Format(
    "jj",
    (".jj",),
    "cells with bounds, levels and equations, as tau-Argus writes them",
    packed=True,
    read={"table": "evosdc.io.argus.jj:read_jj"},
    written={"table": "evosdc.io.argus.jj:write_jj"},
    labels=False,
)
TAB = Format(
    "tab",
    (".tab",),
    "tables of tau-Argus, with their .rda in the same folder",
    read={"table": "evosdc.io.argus.tab:read_tab"},
    written={"table": "evosdc.io.argus.tab:write_tab"},
    companions=True,
)
ASC = Format(
    "asc",
    (".asc", ".txt", ".dat"),
    "records of tau-Argus in fixed or free format, with their .rda in the same folder",
    packed=True,
    read={"records": "evosdc.io.argus.asc:read_asc"},
    companions=True,
)
HRC = Format(
    "hrc",
    (".hrc",),
    "hierarchies of tau-Argus, one code per line",
    packed=True,
    read={"hierarchy": "evosdc.io.argus.hrc:read_hrc"},
    written={"hierarchy": "evosdc.io.argus.hrc:write_hrc"},
)
# Where two formats have a suffix, the first is written.
FORMATS = (
    CSV,
    PARQUET,
    JJ,
    TAB,
    ASC,
    HRC,
)


@dataclass(frozen=True)
class Layout:
    """A layout of a protected table, written in addition to ``published.csv``.

    Attributes
    ----------
    name
        What it is called.
    ending
        What follows ``published`` in the name of the file.
    write
        The function that writes it: takes a path and a table without hidden values.
    labels
        Whether it needs the labels of the cells.
    check
        The function that raises for a table that it cannot hold, if there are any.
    files
        The function that names the files, if there are several.
    """

    name: str
    ending: str
    write: str
    labels: bool = True
    check: str | None = None
    files: str | None = None


LAYOUTS = (
    Layout("pivot", "-pivot.csv", "evosdc.io.layouts:write_pivot"),
    Layout(
        "grid",
        "-grid.csv",
        "evosdc.io.layouts:write_grid",
        check="evosdc.io.layouts:refuse_no_grid",
    ),
    Layout("sbs", "-sbs.csv", "evosdc.io.layouts:write_sbs"),
    Layout(
        "tab",
        ".tab",
        "evosdc.io.argus.tab:write_published_tab",
        check="evosdc.io.argus.tab:refuse_names",
        files="evosdc.io.argus.tab:tab_files",
    ),
    Layout(
        "parquet",
        ".parquet",
        "evosdc.io.layouts:write_published_parquet",
        labels=False,
    ),
)
# Copies for the owner, which hold what must not be published.
CONFIDENTIAL = ("jj", "hst")


def layout_names() -> tuple[str, ...]:
    """Return every name that ``--formats`` takes, the publishable ones first."""
    return (*(layout.name for layout in LAYOUTS), *CONFIDENTIAL)


def suffixes(content: Content, *, reading: bool) -> tuple[str, ...]:
    """Return the suffixes of all formats of some content, each once."""
    return tuple(
        dict.fromkeys(
            ending
            for one in FORMATS
            if content in (one.read if reading else one.written)
            for ending in one.endings()
        )
    )


def suffix_list(content: Content, *, reading: bool) -> str:
    """List the suffixes of some content, for messages and help texts."""
    plain = [s for s in suffixes(content, reading=reading) if not s.endswith(PACKINGS)]
    return f"{', '.join(plain[:-1])} or {plain[-1]}"
