"""The domain: variables, their levels, and the way from a frame to codes and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evosdc.arrays import Flags, Long, Real
from evosdc.errors import InputError
from evosdc.synth.data.coded_variable import make_coded
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.options import Coding
from evosdc.synth.data.rare_levels import check_min_group
from evosdc.synth.data.variable import Variable, check_column, make_variable

# Codes have 16 bits.
_MAX_LEVELS = 32_000
# So few different numbers may be codes: neighbours mean nothing.
_FEW_CODES = 12


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
    def sizes(self) -> Long:
        """The number of levels of each variable."""
        return np.array([v.size for v in self.variables], np.int64)

    @property
    def ordered(self) -> Flags:
        """Whose levels are numbers with neighbours, and not a few codes."""
        return np.array([v.ordered and v.size > _FEW_CODES for v in self.variables])

    @property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return int(np.prod([v.size for v in self.variables], dtype=object))

    def position(self, name: str) -> int:
        """Return the position of a column, or say which columns there are."""
        check_column(name, self.names)
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
        ranks: Mapping[int, Real] | None = None,
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
    table: pa.Table, coding: Coding, cuts: Mapping[str, Sequence[float]] | None = None
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
    for name in coding.binned:
        what = "bins are given for the unknown column"
        check_column(name, table.column_names, what)
    check_min_group(coding.least, table.num_rows)
    variables: list[Variable] = []
    for name in table.column_names:
        column, bins = table.column(name), coding.bins_of(name)
        cut = (cuts or {}).get(name, ())
        coded = coding.coded(name, column)
        if coded is not None:
            variable: Variable = make_coded(name, column, coded, coding, bins, cut)
        else:
            found = bins if coding.is_continuous(name, column) else None
            variable = make_variable(name, column, coding, found, cut)
        if variable.size > _MAX_LEVELS:
            raise InputError(
                f"column {name!r} has {variable.size:,} levels",
                expected=f"at most {_MAX_LEVELS:,}",
                hint="leave out identifiers, bin numbers or pool rare levels",
            )
        variables.append(variable)
    return Domain(tuple(variables), table.schema)
