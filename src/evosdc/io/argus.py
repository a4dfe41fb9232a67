"""Everything of tau-Argus in one place."""

from evosdc.io.asc import read_asc
from evosdc.io.hrc import hierarchy_from_levels, read_cdl, read_hrc, write_hrc
from evosdc.io.hst import Apriori, apply_apriori, read_hst, write_hst
from evosdc.io.rda import Description, Variable, read_rda
from evosdc.io.tab import read_tab, read_tab_frame, write_tab

__all__ = [
    "Apriori",
    "Description",
    "Variable",
    "apply_apriori",
    "hierarchy_from_levels",
    "read_asc",
    "read_cdl",
    "read_hrc",
    "read_hst",
    "read_rda",
    "read_tab",
    "read_tab_frame",
    "write_hrc",
    "write_hst",
    "write_tab",
]
