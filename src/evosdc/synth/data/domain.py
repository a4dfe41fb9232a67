"""The domain: variables, their levels, and the way from a frame to codes and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.metrics.binning import BINS, MOST_DISTINCT, is_number
from evosdc.metrics.coded_numbers import CodedNumbers, coded_numbers
from evosdc.options import copies
from evosdc.synth.data.coded import make_coded
from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.data.least import check_least
from evosdc.synth.data.variable import Variable, make_variable

_MOST_LEVELS = 32_000
# So few different numbers may be codes: neighbours mean nothing.
_FEW_CODES = 12
# Numbers are binned where so many people have one that is rare.
_RARE_SHARE = 0.1


@dataclass(frozen=True)
class Coding(copies.Coding):
    __doc__ = copies.Coding.__doc__

    @property
    def binned(self) -> list[str]:
        """The columns whose bins are given by name."""
        bins = self.bins if isinstance(self.bins, Mapping) else {}
        return [name for name in bins if name is not None]

    def bins_of(self, name: str) -> int | Sequence[float]:
        """Return the number of bins, or the edges, of a column."""
        if isinstance(self.bins, Mapping):
            return self.bins.get(name, self.bins.get(None, BINS))
        return self.bins

    def coded(self, name: str, column: pa.ChunkedArray) -> CodedNumbers | None:
        """Return a column of text as numbers and codes, if it is of that kind."""
        if name in self.categories:
            return None
        most = MOST_DISTINCT if self.most_levels is None else self.most_levels
        return coded_numbers(column, most)

    def is_continuous(self, name: str, column: pa.ChunkedArray) -> bool:
        """Say whether a column is to be binned."""
        if not is_number(column.type) or name in self.categories:
            return False
        if name in self.binned:
            return True
        most = MOST_DISTINCT if self.most_levels is None else self.most_levels
        counts = column.drop_null().value_counts().field("counts")
        if self.least > 1 and len(counts) > 1:
            # Numbers that mostly few people have are ranges, not levels.
            counts = np.asarray(counts)
            if counts[counts < self.least].sum() > _RARE_SHARE * counts.sum():
                return True
        return len(counts) > most


@dataclass(frozen=True)
class Domain:
    """The variables of a data set in order."""

    variables: tuple[Variable, ...]
    schema: pa.Schema

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [v.name for v in self.variables]

    @property
    def sizes(self) -> Ints:
        """The number of levels of each variable."""
        return np.array([v.size for v in self.variables], np.int64)

    @property
    def ordered(self) -> NDArray[np.bool_]:
        """Whose levels are numbers with neighbours, and not a few codes."""
        return np.array([v.ordered and v.size > _FEW_CODES for v in self.variables])

    @property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return int(np.prod([v.size for v in self.variables], dtype=object))

    def position(self, name: str) -> int:
        """Return the position of a column, or say which columns there are."""
        if name not in self.names:
            raise InputError(
                f"unknown column {name!r}",
                expected="one of " + ", ".join(map(repr, self.names)),
            )
        return self.names.index(name)

    def encode(self, table: pa.Table) -> Codes:
        """Return the codes of a table with the same columns."""
        missing = [n for n in self.names if n not in table.column_names]
        if missing:
            raise InputError(
                f"the frame lacks the column {missing[0]!r}",
                expected="the columns the domain was made from",
            )
        out = np.empty((table.num_rows, len(self.variables)), np.int16)
        for j, variable in enumerate(self.variables):
            out[:, j] = variable.encode(table.column(variable.name))
        return out

    def decode(
        self,
        codes: Codes,
        rng: np.random.Generator,
        ranks: Mapping[int, NDArray[np.float64]] | None = None,
    ) -> pa.Table:
        """Return records with the original's types and labels.

        `ranks` say by column where in its bin a number lies; else it is drawn.
        """
        columns = [
            variable.decode(codes[:, j], rng, (ranks or {}).get(j))
            for j, variable in enumerate(self.variables)
        ]
        return pa.Table.from_arrays(columns, schema=self.schema)


def make_domain(
    table: pa.Table,
    coding: Coding,
    cuts: Mapping[str, Sequence[float]] | None = None,
) -> Domain:
    """Find the variables of a table and their levels.

    `cuts` are numbers by column at which bins are cut, too: those of rules.
    """
    if table.num_rows < 2:
        raise InputError(
            f"the data have {table.num_rows} record(s)",
            expected="at least 2 records",
            hint="a synthetic copy of one record is that record",
        )
    if table.num_columns == 0:
        raise InputError("the data have no columns", expected="at least one column")
    unknown = [n for n in coding.binned if n not in table.column_names]
    if unknown:
        raise InputError(
            f"bins are given for the unknown column {unknown[0]!r}",
            expected="one of " + ", ".join(map(repr, table.column_names)),
        )
    check_least(coding.least, table.num_rows)
    variables: list[Variable] = []
    for name in table.column_names:
        column = table.column(name)
        coded = coding.coded(name, column)
        if coded is not None:
            variables.append(
                make_coded(
                    name,
                    column,
                    coded,
                    coding.bins_of(name),
                    binning=coding.binning,
                    restore=coding.restore,
                    cuts=(cuts or {}).get(name, ()),
                    least=coding.least,
                )
            )
            continue
        edges = coding.bins_of(name) if coding.is_continuous(name, column) else None
        variables.append(
            make_variable(
                name,
                column,
                edges,
                binning=coding.binning,
                restore=coding.restore,
                pool=coding.pool,
                cuts=(cuts or {}).get(name, ()),
                least=coding.least,
            )
        )
    for variable in variables:
        if variable.size > _MOST_LEVELS:
            raise InputError(
                f"column {variable.name!r} has {variable.size:,} levels",
                expected=f"at most {_MOST_LEVELS:,}",
                hint="leave out identifiers, bin numbers or pool rare levels",
            )
    return Domain(tuple(variables), table.schema)
