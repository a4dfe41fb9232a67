"""The five verbs of the library: tabulate, protect, audit, synthesise, evaluate."""

from evosdc.api.audit import Audit, audit
from evosdc.api.microdata import Synthesis, evaluate, synthesise
from evosdc.api.protect import DEFAULT_TIME_LIMIT, protect
from evosdc.api.synthetic_claims import synthetic_claim_of
from evosdc.api.tabulate import Tabulation, tabulate

__all__ = [
    "DEFAULT_TIME_LIMIT",
    "Audit",
    "Synthesis",
    "Tabulation",
    "audit",
    "evaluate",
    "protect",
    "synthesise",
    "synthetic_claim_of",
    "tabulate",
]
