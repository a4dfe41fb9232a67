"""Statistical disclosure control by evolutionary search.

Two jobs: *protect a table* (cell suppression with a certificate of safety) and
*synthesise microdata* (utility and disclosure risk as competing objectives).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

# Everything is loaded on first use, so that importing the package is instant.
_NAMES = {
    "evosdc.api": (
        "tabulate protect audit lower_bound verify link methods synthesise evaluate "
        "inspect LowerBound MethodInfo"
    ),
    "evosdc.attack.proof": "ProofReport",
    "evosdc.errors": "EvosdcError",
    "evosdc.io": "read_table write_table read_hierarchy",
    "evosdc.options.tables": (
        "Attackers CellRequests Contributors Prior Read Run Stop"
    ),
    "evosdc.results": "Certificate Claim Exposure TableVerdict Verdict",
    "evosdc.results.result": "Result",
    "evosdc.results.stored": "StoredResult read_result",
    "evosdc.results.synthetic": "Evaluation Synthesis",
    "evosdc.results.tables": "Audit Protection Tabulation",
    "evosdc.rules": (
        "Dominance Frequency Group Manual PPercent PriorPosterior Request Rule "
        "ZeroUnsafe"
    ),
    "evosdc.synth": "Synthesiser",
    "evosdc.table": "Coalition Dimension Hierarchy Table",
    "evosdc.table.link": "LinkedTables",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Attackers",
    "Audit",
    "CellRequests",
    "Certificate",
    "Claim",
    "Coalition",
    "Contributors",
    "Dimension",
    "Dominance",
    "Evaluation",
    "EvosdcError",
    "Exposure",
    "Frequency",
    "Group",
    "Hierarchy",
    "LinkedTables",
    "LowerBound",
    "Manual",
    "MethodInfo",
    "PPercent",
    "Prior",
    "PriorPosterior",
    "ProofReport",
    "Protection",
    "Read",
    "Request",
    "Result",
    "Rule",
    "Run",
    "Stop",
    "StoredResult",
    "Synthesis",
    "Synthesiser",
    "Table",
    "TableVerdict",
    "Tabulation",
    "Verdict",
    "ZeroUnsafe",
    "__version__",
    "audit",
    "errors",
    "evaluate",
    "inspect",
    "link",
    "lower_bound",
    "methods",
    "protect",
    "read_hierarchy",
    "read_result",
    "read_table",
    "synthesise",
    "tabulate",
    "verify",
    "write_table",
]

if TYPE_CHECKING:
    from evosdc import errors
    from evosdc.api.audit import audit
    from evosdc.api.lower_bound import LowerBound, lower_bound
    from evosdc.api.microdata import evaluate, inspect, synthesise
    from evosdc.api.protect import MethodInfo, methods, protect
    from evosdc.api.tabulate import link, tabulate
    from evosdc.api.verify import verify
    from evosdc.attack.proof import ProofReport
    from evosdc.errors import EvosdcError
    from evosdc.io import read_hierarchy, read_table, write_table
    from evosdc.options.tables import (
        Attackers,
        CellRequests,
        Contributors,
        Prior,
        Read,
        Run,
        Stop,
    )
    from evosdc.results import Certificate, Claim, Exposure, TableVerdict, Verdict
    from evosdc.results.result import Result
    from evosdc.results.stored import StoredResult, read_result
    from evosdc.results.synthetic import Evaluation, Synthesis
    from evosdc.results.tables import Audit, Protection, Tabulation
    from evosdc.rules import (
        Dominance,
        Frequency,
        Group,
        Manual,
        PPercent,
        PriorPosterior,
        Request,
        Rule,
        ZeroUnsafe,
    )
    from evosdc.synth import Synthesiser
    from evosdc.table import Coalition, Dimension, Hierarchy, Table
    from evosdc.table.link import LinkedTables


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("evosdc.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'evosdc' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
