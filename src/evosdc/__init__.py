"""Statistical disclosure control by evolutionary search.

Two jobs: *protect a table* (cell suppression with a certificate of safety) and
*synthesise microdata* (utility and disclosure risk as competing objectives).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

# Everything is loaded on first use, so that importing the package is instant.
_HOMES = {
    "tabulate": "evosdc.api",
    "protect": "evosdc.api",
    "audit": "evosdc.api",
    "lower_bound": "evosdc.api",
    "verify": "evosdc.api",
    "methods": "evosdc.api",
    "synthesise": "evosdc.api",
    "evaluate": "evosdc.api",
    "inspect": "evosdc.api",
    "Attackers": "evosdc.options.tables",
    "CellRequests": "evosdc.options.tables",
    "Contributors": "evosdc.options.tables",
    "Prior": "evosdc.options.tables",
    "Read": "evosdc.options.tables",
    "Run": "evosdc.options.tables",
    "Stop": "evosdc.options.tables",
    "Audit": "evosdc.api",
    "LowerBound": "evosdc.api",
    "MethodInfo": "evosdc.api",
    "Synthesis": "evosdc.api",
    "Tabulation": "evosdc.api",
    "Evaluation": "evosdc.metrics",
    "SyntheticClaim": "evosdc.results.synthetic",
    "Certificate": "evosdc.results",
    "Claim": "evosdc.results",
    "Exposure": "evosdc.results",
    "Protection": "evosdc.results",
    "Verdict": "evosdc.results",
    "EvosdcError": "evosdc.errors",
    "Synthesiser": "evosdc.synth",
    "Table": "evosdc.table",
    "Hierarchy": "evosdc.table",
    "Coalition": "evosdc.table",
    "Dimension": "evosdc.table",
}

__all__ = [
    "Attackers",
    "Audit",
    "CellRequests",
    "Certificate",
    "Claim",
    "Coalition",
    "Contributors",
    "Dimension",
    "Evaluation",
    "EvosdcError",
    "Exposure",
    "Hierarchy",
    "LowerBound",
    "MethodInfo",
    "Prior",
    "Protection",
    "Read",
    "Run",
    "Stop",
    "Synthesis",
    "Synthesiser",
    "SyntheticClaim",
    "Table",
    "Tabulation",
    "Verdict",
    "__version__",
    "audit",
    "errors",
    "evaluate",
    "inspect",
    "lower_bound",
    "methods",
    "protect",
    "synthesise",
    "tabulate",
    "verify",
]

if TYPE_CHECKING:
    from evosdc import errors
    from evosdc.api.audit import Audit, audit
    from evosdc.api.inspecting import inspect
    from evosdc.api.lower_bound import LowerBound, lower_bound
    from evosdc.api.methods import MethodInfo, methods
    from evosdc.api.microdata import Synthesis, evaluate, synthesise
    from evosdc.api.protect import protect
    from evosdc.api.tabulate import Tabulation, tabulate
    from evosdc.api.verify import verify
    from evosdc.errors import EvosdcError
    from evosdc.metrics import Evaluation
    from evosdc.options.tables import (
        Attackers,
        CellRequests,
        Contributors,
        Prior,
        Read,
        Run,
        Stop,
    )
    from evosdc.results import Certificate, Claim, Exposure, Protection, Verdict
    from evosdc.results.synthetic import SyntheticClaim
    from evosdc.synth import Synthesiser
    from evosdc.table import Coalition, Dimension, Hierarchy, Table


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("evosdc.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'evosdc' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
