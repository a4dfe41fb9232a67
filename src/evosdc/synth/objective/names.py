"""Names of objectives and of risks, as users write them."""

from __future__ import annotations

from evosdc.errors import InputError
from evosdc.synth.objective.risk import RISKS
from evosdc.synth.objective.tables import CRAMER, JSD, L1, Component

_PLAIN, _FRONT, _CLOSE = "jsd:2", "jsd:2,full", "jsd:1,2,3*,4*"
_EXPECTED = (
    "auto, jsd:full, jsd:2, jsd:2,3,4, jsd:2,3* (those of three variables with most to "
    "gain), cramer or tables, or several joined by '+'"
)


def resolve_objective(text: str, front: bool, memetic: bool) -> str:
    """Say what "auto" is.

    It is pairs for the genetic algorithm, pairs and the full table for a front of
    record moves, else margins, pairs, and the tables of three and four variables that
    have most to gain.
    """
    if text.strip() != "auto":
        return text
    if not memetic:
        return _PLAIN
    return _FRONT if front else _CLOSE


def parse_objective(text: str) -> tuple[Component, ...]:
    """Read an objective such as ``jsd:2,3,4`` or ``cramer+tables``."""
    out: list[Component] = []
    for part in text.split("+"):
        name, _, orders = part.strip().partition(":")
        if name == "jsd":
            out += [_jsd(o.strip(), text) for o in orders.split(",")]
        elif name == "tables" and not orders:
            out.append(Component(L1, 2))
        elif name == "cramer" and not orders:
            out.append(Component(CRAMER, 2))
        else:
            raise InputError(f"unknown objective {text!r}", expected=_EXPECTED)
    return tuple(out)


def _jsd(text: str, whole: str) -> Component:
    if text == "full":
        return Component(JSD, 0)
    if text in ("1", "2", "3", "4"):
        return Component(JSD, int(text))
    if text in ("3*", "4*"):
        return Component(JSD, int(text[0]), chosen=True)
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
