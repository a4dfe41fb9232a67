"""From microdata to a table with its sensitive cells marked."""

from evosdc.tabulation.hierarchy_from_columns import hierarchy_from_columns
from evosdc.tabulation.linked import tabulate_linked
from evosdc.tabulation.microdata import tabulate

__all__ = ["hierarchy_from_columns", "tabulate", "tabulate_linked"]
