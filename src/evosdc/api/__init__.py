"""The five verbs of the library: tabulate, protect, audit, synthesise, evaluate."""

from evosdc.api.claims import claim_of
from evosdc.api.microdata import Synthesis, evaluate, synthesise
from evosdc.api.tables import (
    DEFAULT_TIME_LIMIT,
    Audit,
    Tabulation,
    audit,
    protect,
    tabulate,
)

__all__ = [
    "DEFAULT_TIME_LIMIT",
    "Audit",
    "Synthesis",
    "Tabulation",
    "audit",
    "claim_of",
    "evaluate",
    "protect",
    "synthesise",
    "tabulate",
]
