"""Names of objectives and of risks, as users write them."""

from __future__ import annotations

from evosdc.errors import InputError
from evosdc.synth.objective.risk import RISKS
from evosdc.synth.objective.tables import CRAMER, JSD, L1, Component

_PLAIN, _FRONT = "jsd:2", "jsd:2,full"
_EXPECTED = (
    "auto, jsd:full, jsd:2, jsd:2,3,4, cramer or tables, or several joined by '+'"
)


def resolve_objective(text: str, front: bool) -> str:
    """Say what "auto" is: pairs, and for a front of record moves the full table too."""
    if text.strip() != "auto":
        return text
    return _FRONT if front else _PLAIN


def parse_objective(text: str) -> tuple[Component, ...]:
    """Read an objective such as ``jsd:2,3,4`` or ``cramer+tables``."""
    out: list[Component] = []
    for part in text.split("+"):
        name, _, orders = part.strip().partition(":")
        if name == "jsd":
            out += [Component(JSD, _order(o, text)) for o in orders.split(",")]
        elif name == "tables" and not orders:
            out.append(Component(L1, 2))
        elif name == "cramer" and not orders:
            out.append(Component(CRAMER, 2))
        else:
            raise InputError(f"unknown objective {text!r}", expected=_EXPECTED)
    return tuple(out)


def _order(text: str, whole: str) -> int:
    if text.strip() == "full":
        return 0
    if text.strip() in ("1", "2", "3", "4"):
        return int(text)
    raise InputError(f"unknown objective {whole!r}", expected=_EXPECTED)


def parse_risks(risk: str | tuple[str, ...] | list[str] | None) -> tuple[int, ...]:
    """Read risks such as ``dcap-u`` or ``dcap-u,uniques,disco``."""
    if risk is None:
        return ()
    names = risk.split(",") if isinstance(risk, str) else list(risk)
    names = [name.strip() for name in names]
    for name in names:
        if name not in RISKS:
            raise InputError(f"unknown risk {name!r}", expected=", ".join(RISKS))
    return tuple(RISKS.index(name) for name in names)


def describe(component: Component) -> str:
    """Return the name of one objective."""
    if component.kind == JSD:
        return f"jsd:{component.order or 'full'}"
    return "tables" if component.kind == L1 else "cramer"
