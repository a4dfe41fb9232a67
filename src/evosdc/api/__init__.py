"""The verbs of the library.

For tables: tabulate, protect, audit, verify, lower_bound, methods. For microdata:
inspect, synthesise, evaluate.
"""

from evosdc.api.audit import Audit, audit
from evosdc.api.inspecting import columns_as_toml, inspect
from evosdc.api.lower_bound import LowerBound, lower_bound
from evosdc.api.methods import MethodInfo, methods
from evosdc.api.microdata import Synthesis, evaluate, synthesise
from evosdc.api.protect import protect
from evosdc.api.tabulate import Tabulation, tabulate
from evosdc.api.verify import verify
from evosdc.results.synthetic_claims import synthetic_claim_of

__all__ = [
    "Audit",
    "LowerBound",
    "MethodInfo",
    "Synthesis",
    "Tabulation",
    "audit",
    "columns_as_toml",
    "evaluate",
    "inspect",
    "lower_bound",
    "methods",
    "protect",
    "synthesise",
    "synthetic_claim_of",
    "tabulate",
    "verify",
]
