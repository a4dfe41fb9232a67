"""The report to share: the table as published and what was proved, nothing else.

It is written from a copy of the table in which hidden values, weights, bounds, levels
and the difference between primaries and secondaries are gone, so that no line of the
page can show one. Parameters of rules, numbers of cells by rule, cost, bound, gap and
exposed cells are left out: they narrow hidden values down, or equal them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evosdc.options.rules import RULES
from evosdc.report.grid import ALIKE, table_section
from evosdc.report.kit.parts import banner, count, header, section, whole_page
from evosdc.report.verdict import claim_section, describe, headline
from evosdc.results import Claim
from evosdc.table.attackers import LONE, PAIRS
from evosdc.table.origin import AUTO
from evosdc.table.parts import as_published

if TYPE_CHECKING:
    from evosdc.results.tables import Protection


def share_html(protection: Protection, *, title: str | None = None) -> str:
    """Write the page about a protected table that may leave the office with it.

    Parameters
    ----------
    protection
        What `protect` gave back.
    title
        The heading; by default it names the response variable.
    """
    protection = protection.visible()
    table = as_published(protection.table)
    heading = title or f"Table of {table.name}"
    hidden = int(table.hidden.sum())
    facts = [*describe(table), f"{hidden:,} hidden"]
    key = '<ul class="key"><li><b class="hidden">x</b>hidden</li></ul>'
    safe = headline(protection.verdict, protection.table).kind == "safe"
    body = (
        header(heading, facts)
        + (_protected(hidden) if safe else _DRAFT)
        + claim_section(public_claim(protection), "proved" if safe else "asked")
        + section("The table", key + table_section(table, marks=ALIKE), "long")
        + _FOOTER
    )
    return whole_page(heading, body)


_DRAFT = banner(
    "bad",
    "Draft: not to be published",
    "This table was not found safe. The confidential report says why.",
)
_FOOTER = (
    "<footer>Written from the published cells alone: no hidden value, no cost and no "
    "protection level is in this page.</footer>"
)


def _protected(hidden: int) -> str:
    return banner(
        "safe",
        "SAFE to publish",
        f"{count(hidden, 'cell is', 'cells are')} hidden, so that nobody can work out "
        "a confidential one from those that are published. Hidden cells look alike, "
        "whatever they were hidden for."
        if hidden
        else "No cell had to be hidden.",
    )


def public_claim(protection: Protection) -> Claim:
    """Answer the questions of a claim without a parameter, a count or a level."""
    origin, verdict = protection.table.origin, protection.verdict
    if not origin.rules and verdict.judged:
        rules = "The office marked them."
    else:
        rules = _listed([_kind_of(rule) for rule, _ in origin.rules or ()])
    if protection.settings.get("hide"):
        rules += " The office chose further cells by name."
    if origin.counts:
        minimum = "not below 0" if origin.zeros else "at least 1 where it is listed"
        knowledge = f"That it is a whole number, {minimum}."
    elif origin.bounds == AUTO:
        knowledge = "Whether a cell of this kind can be below zero."
    else:
        knowledge = "A range for each cell that the office assumes to be known."
    if origin.whole and not origin.counts:
        knowledge += " That values are whole numbers."
    if origin.threshold is not None:
        knowledge += " That cells below the minimum frequency are hidden."
    earlier = bool(protection.settings.get("already_published"))
    lowered = protection.accepted is not None and bool(protection.accepted.any())
    return Claim(
        rules=rules,
        levels="As far as its rule asks"
        + (", or less where the office accepted it" if lowered else "")
        + "; how far that is, is confidential.",
        knowledge=knowledge,
        insiders=(
            "Nobody: respondents who know their own figures were not considered."
            if verdict.insiders is None
            else _attackers(protection)
        ),
        publication=(
            "The cells of this table that are not marked x"
            + (", together with what was published of it before." if earlier else ".")
        ),
        strictness="Exceeded." if verdict.strict else "Reached.",
        proof=(
            "By other tables that agree with everything published, found by a program "
            "other than the one that chose the cells, and checked "
            + ("in exact arithmetic." if verdict.exact else "in floating point.")
            if verdict.judged and verdict.ok
            else "No cell was sensitive, so there was nothing to show."
            if verdict.ok
            else "It was not shown."
        ),
    )


def _attackers(protection: Protection) -> str:
    """Return the attackers that were considered besides the public."""
    kind = protection.settings.get("attackers", LONE)
    words = []
    if kind == PAIRS:
        words.append("The two largest contributors of each cell.")
    if kind in (LONE, PAIRS):
        words.append("Respondents who are alone in a cell and know its value.")
    if protection.settings.get("coalitions"):
        words.append("Some respondents who share what they know.")
    return " ".join(words)


def _kind_of(rule: str) -> str:
    """Name a rule without its parameters."""
    name = rule.partition(":")[0].strip().lower()
    if name == "man":
        return "decisions on single cells"
    return RULES[name].public if name in RULES else "another rule of the office"


def _listed(kinds: list[str]) -> str:
    if not kinds:
        return "No rule was applied."
    text = ", ".join(dict.fromkeys(kinds))
    return f"{text[0].upper()}{text[1:]}."
