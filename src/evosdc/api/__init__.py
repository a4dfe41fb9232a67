"""The verbs of the library.

For tables: tabulate, protect, audit, bounds, methods. For microdata: inspect,
synthesise, evaluate.
"""

from evosdc.api.audit import Audit, audit
from evosdc.api.bounds import LowerBound, bounds
from evosdc.api.inspecting import columns_as_toml, inspect
from evosdc.api.methods import MethodInfo, methods
from evosdc.api.microdata import Synthesis, evaluate, synthesise
from evosdc.api.options import DEFAULT_TIME_LIMIT, Attacker, Requests, Stop
from evosdc.api.protect import protect
from evosdc.api.tabulate import Tabulation, tabulate
from evosdc.results.synthetic_claims import synthetic_claim_of

__all__ = [
    "DEFAULT_TIME_LIMIT",
    "Attacker",
    "Audit",
    "LowerBound",
    "MethodInfo",
    "Requests",
    "Stop",
    "Synthesis",
    "Tabulation",
    "audit",
    "bounds",
    "columns_as_toml",
    "evaluate",
    "inspect",
    "methods",
    "protect",
    "synthesise",
    "synthetic_claim_of",
    "tabulate",
]
