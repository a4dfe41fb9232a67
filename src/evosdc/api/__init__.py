"""The verbs of the library.

For tables: tabulate, link, protect, audit, bounds, verify, methods. For microdata:
inspect, synthesise, evaluate.
"""

from evosdc.api.audit import audit
from evosdc.api.bounds import LowerBound, bounds
from evosdc.api.inspecting import columns_as_toml, inspect
from evosdc.api.link import link
from evosdc.api.methods import MethodInfo, methods
from evosdc.api.microdata import evaluate, synthesise
from evosdc.api.options import DEFAULT_TIME_LIMIT, Attacker, Requests, Stop
from evosdc.api.protect import protect
from evosdc.api.tabulate import tabulate
from evosdc.api.verify import verify
from evosdc.results.claims import synthetic_claim_of
from evosdc.results.synthetic import Synthesis
from evosdc.results.tables import Audit, Tabulation

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
    "link",
    "methods",
    "protect",
    "synthesise",
    "synthetic_claim_of",
    "tabulate",
    "verify",
]
