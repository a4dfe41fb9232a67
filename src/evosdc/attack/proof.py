"""Whether a certificate proves a pattern of a table safe.

Nothing is searched or solved here: that the certificate is of this table, that nothing
in it changed, and that its witnesses, added up by the checker, cover what it claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import (
    GROUPS,
    LEVELS,
    ORIGIN,
    Proof,
    digest_of,
    numbered,
    origin_settings,
    table_digests,
)
from evosdc.attack.checker import CheckReport, verify
from evosdc.errors import EvosdcError, InputError
from evosdc.options.objects import Attackers
from evosdc.table import Table
from evosdc.table.attackers import (
    KINDS,
    LONE,
    PUBLIC,
    find_attackers,
    knows_contributors,
    lone_respondents,
)
from evosdc.table.knowledge import (
    as_counts,
    in_whole_numbers,
    knowledge_words,
    with_bounds,
    with_threshold,
    with_whole_numbers,
)
from evosdc.table.origin import AUTO
from evosdc.table.shares import Coalition
from evosdc.table.status import HIDDEN, PRIMARY, SAFE, SECONDARY

# Cells and witnesses that a message names one by one at most.
_MAX_NAMED = 5
_OTHER_TABLE = "the table is not the one the certificate was made for"


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """What a certificate must at least have been judged for.

    Attributes
    ----------
    attackers
        One of `KINDS`, each of which includes those before it.
    coalitions
        Each with exactly the members that the certificate names.
    strict, secondaries
        Whether levels must be exceeded, and other hidden cells judged as well.
    """

    attackers: str = PUBLIC
    coalitions: Sequence[Coalition] = ()
    strict: bool = False
    secondaries: bool = False

    def __post_init__(self) -> None:
        if self.attackers not in KINDS:
            raise InputError(
                f"attackers are {self.attackers!r}",
                expected=f"one of {', '.join(KINDS)}",
            )

    @classmethod
    def of(
        cls,
        options: Attackers,
        coalitions: Sequence[Coalition],
        default: str = PUBLIC,
    ) -> Requirements:
        """Return what options require, with the coalitions that they name.

        `default` are the attackers where the options leave them open.
        """
        return cls(
            attackers=options.who or default,
            coalitions=coalitions,
            strict=options.strict,
            secondaries=options.protect_secondaries,
        )

    @property
    def beyond_public(self) -> bool:
        """Whether others than the public are required, even if none is found."""
        return self.attackers != PUBLIC or bool(self.coalitions)

    def faults(self, settings: Mapping[str, Any]) -> list[str]:
        """Say what a certificate with these settings was not judged for."""
        kind = settings["attackers"] if settings["insiders"] else PUBLIC
        missing: list[str] = []
        if KINDS.index(kind) < KINDS.index(self.attackers):
            missing.append(f"attackers {self.attackers}, but {kind}")
        judged = {frozenset(members) for _, *members in settings["coalitions"]}
        missing += [
            f"coalition {one.name!r} with these members"
            for one in self.coalitions
            if not settings["insiders"] or frozenset(one.members) not in judged
        ]
        if self.strict and not settings["strict"]:
            missing.append("levels that are exceeded (strict), but reached")
        if self.secondaries and not settings["secondaries"]:
            missing.append("secondaries")
        return [
            f"the certificate was not judged for {what}; it must be made again, by "
            "protect or audit with the same option"
            for what in missing
        ]


@dataclass(frozen=True, eq=False)
class ProofReport:
    """The result of checking a proof against a table.

    Attributes
    ----------
    proof
        The proof that was checked.
    holds
        Whether everything holds: the pattern is safe as claimed.
    faults
        What does not hold, in sentences without values.
    remarks
        What else a reader should know.
    check
        The checker's report; None where the file does not fit the table.
    checked
        What was checked, a sentence for each question of the claim. They are derived
        from the table and the witnesses, never from sentences of the certificate.
    """

    proof: Proof
    holds: bool
    faults: tuple[str, ...]
    remarks: tuple[str, ...]
    check: CheckReport | None
    checked: Mapping[str, str] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The verdict: a proof that fails does not show that the pattern is unsafe."""
        return "SAFE" if self.holds else "NOT PROVED"


def check_proof(
    table: Table,
    proof: Proof,
    *,
    published: NDArray[np.bool_] | None = None,
    requirements: Requirements | None = None,
) -> ProofReport:
    """Check a proof against a table.

    Parameters
    ----------
    table
        The table as it was given to `protect` or `audit`; its prior knowledge is
        replaced by that of the certificate.
    published
        Which cells the publication hides.
    requirements
        What must have been judged at least, whatever the certificate says.
    """
    faults = [] if requirements is None else requirements.faults(proof.settings)
    remarks: list[str] = []
    if not proof.sealed:
        faults.append(
            "the seal is broken: something in the certificate changed after it was "
            "written"
        )
    if digest_of(proof.digests) != proof.digest:
        faults.append("the fingerprints of the table contradict each other")
    masks = (proof.hidden, proof.known, proof.wished, proof.respondent)
    sizes = {len(mask) for mask in masks}
    if sizes != {len(table)}:
        faults.append(
            f"{_OTHER_TABLE}: it has {len(table):,} cells, and the certificate is of "
            f"{max(sizes):,}"
        )
        return ProofReport(proof, False, tuple(faults), (), None)
    table, found = _with_accepted(table, proof.settings["accepted"])
    faults += found
    table = with_whole_numbers(table)
    assumed, found = _with_knowledge(table, proof.settings)
    faults += found
    if assumed.origin != in_whole_numbers(table).origin:
        remarks.append(
            "prior knowledge is as the certificate says, which is not what the table "
            "says by itself"
        )
    remarks += _weaker_settings(table, proof.settings)
    whole, fractions = proof.settings["whole"], proof.settings["fractions"]
    if assumed.origin.counts and (fractions or not whole):
        faults.append(
            "the table is of counts, and the certificate allows tables with fractions "
            "of a person"
        )
    faults += _differences(assumed, proof)
    check = _checked(assumed, proof, faults)
    checked: dict[str, str] = {}
    if check is not None:
        checked = _summary(assumed, proof, check)
        faults += _failures(assumed, check)
        if not check.judged and not assumed.origin.rules:
            faults.append("no cell was judged, and no rule looked for sensitive cells")
        if not check.exact:
            remarks.append(f"witnesses hold to {check.error:.1e} of the move they show")
    if published is not None:
        faults += _publication(assumed, proof, published)
    if "rules" not in proof.settings:
        remarks.append(
            "the certificate is of an earlier format, which states the rules in words: "
            "they were not compared with the table"
        )
    return ProofReport(proof, not faults, tuple(faults), tuple(remarks), check, checked)


def _summary(table: Table, proof: Proof, check: CheckReport) -> dict[str, str]:
    """Say what was checked: a sentence for each question of the claim."""
    settings, shown = proof.settings, table.shown
    wished = int((proof.wished & (table.status != PRIMARY)).sum())
    sensitive = int((table.status == PRIMARY).sum()) + wished
    levels = f"{sensitive:,} sensitive cells, by the levels in the table"
    if wished:
        levels += f"; {wished:,} of them by request"
    levels += "; none may be worked out exactly"
    if settings["accepted"]:
        levels += (
            f"; levels of {len(settings['accepted']):,} cells are lower than those of "
            "the table, on request"
        )
    if settings["secondaries"]:
        levels += ", nor any other hidden cell"
    insiders = "nobody: not judged against lone respondents"
    if check.insiders is not None:
        own = int(((proof.respondent >= 0) & shown).sum())
        insiders = (
            f"each of {check.insiders:,} lone respondents, who know their own {own:,} "
            "cells"
        )
        if settings["attackers"] != LONE or settings["coalitions"]:
            insiders = (
                f"each of {check.insiders:,} attackers: {settings['attackers']}, and "
                f"{len(settings['coalitions']):,} coalitions"
            )
    known = int(proof.known.sum())
    publication = (
        f"{int(shown.sum()):,} cells, {int((proof.hidden & shown).sum()):,} of them "
        "hidden; "
        + (f"{known:,} cells are" if known else "no cell is")
        + " known to attackers from elsewhere"
    )
    exact = "exactly" if check.exact else f"to {check.error:.1e} of the move they show"
    whole = rounded = ""
    if settings["whole"] and settings["fractions"]:
        rounded = (
            "; intervals are rounded inwards to whole numbers, and combinations of "
            "whole numbers were not judged"
        )
    elif settings["whole"]:
        whole = " of whole numbers"
    return {
        "levels": levels,
        "knowledge": knowledge_words(table),
        "insiders": insiders,
        "publication": publication,
        "strictness": "exceeded" if settings["strict"] else "reached",
        "proof": f"{check.judged:,} cells judged by {len(proof.certificate.cells):,} "
        f"witness tables{whole}, which add up {exact}{rounded}",
    }


def _with_accepted(
    table: Table, accepted: Sequence[tuple[int, float, float, float]]
) -> tuple[Table, list[str]]:
    """Return the table with the levels that a certificate lowers on request."""
    lower = {name: getattr(table, name).copy() for name in LEVELS}
    for cell, *levels in accepted:
        if not 0 <= cell < len(table):
            return table, ["levels are lowered of cells that the table does not have"]
        for name, level in zip(LEVELS, levels, strict=True):
            if not 0 <= level <= lower[name][cell]:
                return table, [
                    f"{table.label(cell)} has other levels than were lowered on request"
                ]
            lower[name][cell] = level
    return (table.replace(**lower), []) if accepted else (table, [])


def _weaker_settings(table: Table, settings: Mapping[str, Any]) -> list[str]:
    """Say where a certificate proves less than the table would require."""
    remarks: list[str] = []
    # Cells that the table does not have are a fault, and have no label.
    cells = [cell for cell, *_ in settings["accepted"] if 0 <= cell < len(table)]
    if cells:
        shown = "; ".join(table.label(cell) for cell in cells[:_MAX_NAMED])
        more = (
            f" and {len(cells) - _MAX_NAMED:,} more" if len(cells) > _MAX_NAMED else ""
        )
        remarks.append(f"lower levels than the table's were accepted for {shown}{more}")
    if settings["insiders"] and settings["attackers"] == PUBLIC:
        remarks.append("coalitions alone were taken for attackers, no lone respondents")
    return remarks


def _with_knowledge(
    table: Table, settings: Mapping[str, Any]
) -> tuple[Table, list[str]]:
    """Return the table with the prior knowledge of the certificate."""
    try:
        counts = settings["counts"]
        if counts and not table.origin.counts:
            table = as_counts(table)
        elif not counts and table.origin.counts:
            table = table.replace(origin=replace(table.origin, counts=False))
            if table.origin.bounds == AUTO:
                table = with_bounds(table, AUTO)
        if settings["bounds"] != table.origin.bounds:
            table = with_bounds(table, settings["bounds"])
        threshold = settings["threshold"]
        if threshold is not None and threshold != table.origin.threshold:
            table = with_threshold(table, threshold)
        if not counts:
            table = with_whole_numbers(table, settings["whole"])
        table = in_whole_numbers(table)
    except EvosdcError as error:
        return table, [
            f"{_OTHER_TABLE}: its prior knowledge does not fit it ({error.what})"
        ]
    return table, []


def _differences(table: Table, proof: Proof) -> list[str]:
    """Say in what the table differs from that of the certificate."""
    respondent = np.full(len(table), -1)
    if proof.settings["insiders"] and knows_contributors(table):
        respondent = lone_respondents(table)
    mine = table_digests(table, respondent)
    other = [
        words for name, words in GROUPS.items() if mine[name] != proof.digests[name]
    ]
    if not other and not np.array_equal(numbered(respondent), proof.respondent):
        other = [GROUPS["respondents"]]
    faults = []
    if other:
        faults.append(f"{_OTHER_TABLE}; other than then: {', '.join(other)}")
    own = origin_settings(table.origin.as_json())
    stated = [
        words
        for name, words in ORIGIN.items()
        if proof.settings.get(name, own[name]) != own[name]
    ]
    if stated:
        faults.append(
            f"the certificate states other {', '.join(stated)} than the table does; "
            "verify it with the table and side file that were protected"
        )
    return faults


def _checked(table: Table, proof: Proof, faults: list[str]) -> CheckReport | None:
    """Add all witnesses up for the pattern of the certificate."""
    settings = proof.settings
    if settings["insiders"] and not knows_contributors(table):
        faults.append(
            "the certificate is against lone respondents too, and the table does not "
            "say who contributes"
        )
        return None
    try:
        attackers = find_attackers(
            table,
            settings["attackers"] if settings["insiders"] else PUBLIC,
            [Coalition(name, members) for name, *members in settings["coalitions"]],
        )
    except EvosdcError as error:
        faults.append(f"the table does not know the attackers ({error.what})")
        return None
    sensitive = (table.status == PRIMARY) | proof.wished
    plain = np.where(np.isin(table.status, HIDDEN), SAFE, table.status)
    status = np.where(proof.hidden, SECONDARY, plain)
    status = np.where(sensitive, PRIMARY, status)
    return verify(
        table.replace(status=status),
        proof.certificate,
        strict=settings["strict"],
        secondaries=settings["secondaries"],
        tolerance=float(settings["tolerance"]),
        # A sensitive cell that is not hidden is known to everyone.
        known=proof.known | (sensitive & ~proof.hidden),
        whole=settings["whole"],
        fractions=settings["fractions"],
        insiders=settings["insiders"],
        attackers=attackers,
    )


def _failures(table: Table, check: CheckReport) -> list[str]:
    """Say what the checker refused or found uncovered."""
    faults = [
        f"witness {w} {why}"
        for w, why in zip(
            check.refused[:_MAX_NAMED].tolist(), check.reasons[:_MAX_NAMED], strict=True
        )
    ]
    if len(check.refused) > _MAX_NAMED:
        faults.append(f"{len(check.refused) - _MAX_NAMED:,} more witnesses fail")
    if len(check.uncovered):
        first = table.label(int(check.uncovered[0]))
        faults.append(
            f"{len(check.uncovered):,} of {check.judged:,} cells are not proved "
            f"protected, the first: {first}"
        )
    if len(check.against):
        cell, own = check.against[0].tolist()
        faults.append(
            f"{len(np.unique(check.against[:, 0])):,} cells are not proved protected "
            f"against attackers who know more, the first: {table.label(cell)} against "
            f"who knows {table.label(own)}"
        )
    if len(check.sums):
        faults.append(
            f"{len(check.sums):,} sums of cells of one respondent are not proved "
            "protected"
        )
    return faults


def _publication(table: Table, proof: Proof, published: NDArray[np.bool_]) -> list[str]:
    """Say in what a publication differs; cells known anyway may be hidden or not."""
    faults = []
    for bad, what in (
        (proof.hidden & ~published & ~proof.known, "published and should be hidden"),
        (published & ~proof.hidden & ~proof.known, "hidden and should be published"),
    ):
        cells = np.flatnonzero(bad)
        if len(cells):
            faults.append(
                f"the publication is another: {len(cells):,} cells are {what}, the "
                f"first: {table.label(int(cells[0]))}"
            )
    return faults
