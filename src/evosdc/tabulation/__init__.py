"""From microdata to a table with its sensitive cells marked."""

from evosdc.tabulation.microdata import tabulate

__all__ = ["tabulate"]
