"""Only one place asks whether a table is a network; everything else uses the protocol.

Methods that were published for two-dimensional tables say so by `networks_only`, and
use the network engine without asking.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import evosdc.suppress

ROOT = Path(evosdc.suppress.__file__).parent
# Where the question may be asked, and why.
ALLOWED = {
    "problem/problem.py": "detects the network of the table",
    "methods/contracted.py": "a network must stay one when it is contracted",
    "run/registry.py": "networks_only: methods published for two dimensions",
    "engine/choose.py": "engine_for: the one choice",
    "engine/network/state.py": "is the network engine, and refuses other tables",
    "engine/network/cuts.py": "is the network engine, and reads its network",
    "running.py": "a last bound is quick on networks only",
    "engine/general/boxes.py": "asks of the planes of a grid, not of the table",
}
KINDS = {"NetworkEngine", "GeneralEngine", "TableNetwork", "PatternState"} | {
    "GeneralState",
    "GeneralTable",
}


def questions(source: str) -> list[str]:
    """Expressions that ask what kind of table or engine there is."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="detect_network")):
                found.append(ast.unparse(node))
            case ast.Call(
                func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind]
            ):
                if KINDS & {n.id for n in ast.walk(kind) if isinstance(n, ast.Name)}:
                    found.append(ast.unparse(node))
            case ast.Attribute(attr="network", value=owner):
                # The network of a state or an engine is no question, a problem's is.
                name = ast.unparse(owner).rsplit(".", 1)[-1].lstrip("_")
                if name not in ("self", "state", "engine", "worker"):
                    found.append(ast.unparse(node))
            case ast.Constant(value="network"):
                found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize(
    "source",
    [
        "if problem.network is None: pass",
        "assert self._problem.network is not None",
        "small = piece.network and 1",
        "x = detect_network(table.matrix)",
        "if isinstance(engine, NetworkEngine): pass",
        "if isinstance(state, (int, GeneralState)): pass",
        "getattr(problem, 'network')",
    ],
)
def test_the_question_is_recognised(source: str) -> None:
    assert questions(source)


@pytest.mark.parametrize(
    "source",
    [
        "from evosdc.suppress.engine.network.state import TableNetwork",
        "cost = state.network.problem.cost",
        "engine = NetworkEngine(problem)",
    ],
)
def test_use_without_asking_is_none(source: str) -> None:
    assert not questions(source)


def test_only_one_place_asks() -> None:
    asked = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        found = questions(path.read_text(encoding="utf-8"))
        if found and name not in ALLOWED:
            asked[name] = found
    assert not asked, "ask engine_for(problem) for an engine and use its protocol"


def test_no_place_is_allowed_in_vain() -> None:
    for name in ALLOWED:
        assert questions((ROOT / name).read_text(encoding="utf-8")), name
