"""The table: cells, equations, levels, hierarchies and links."""

from evosdc.table.build import build_table, missing_cells
from evosdc.table.contributions import Contributions
from evosdc.table.hierarchy import TOTAL, Dimension, Hierarchy
from evosdc.table.link import link_tables
from evosdc.table.origin import Origin
from evosdc.table.parts import linked_parts
from evosdc.table.shares import Coalition
from evosdc.table.structure import Network, detect_network
from evosdc.table.table import Table

__all__ = [
    "TOTAL",
    "Coalition",
    "Contributions",
    "Dimension",
    "Hierarchy",
    "Network",
    "Origin",
    "Table",
    "build_table",
    "detect_network",
    "link_tables",
    "linked_parts",
    "missing_cells",
]
