"""The verbs of the library.

For tables: tabulate, link, protect, audit, verify, lower_bound, methods. For microdata:
inspect, synthesise, evaluate.
"""

from evosdc.api.audit import audit
from evosdc.api.link import link
from evosdc.api.lower_bound import LowerBound, lower_bound
from evosdc.api.methods import MethodInfo, methods
from evosdc.api.microdata import columns_as_toml, evaluate, inspect, synthesise
from evosdc.api.protect import protect
from evosdc.api.tabulate import tabulate
from evosdc.api.verify import verify
from evosdc.results.claims import synthetic_claim_of
from evosdc.results.synthetic import Synthesis
from evosdc.results.tables import Audit, Tabulation

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
    "link",
    "lower_bound",
    "methods",
    "protect",
    "synthesise",
    "synthetic_claim_of",
    "tabulate",
    "verify",
]
