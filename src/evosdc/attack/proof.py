"""A certificate from a file and the table that it should be of: does the proof hold?

Nothing is searched or solved here. Everything that the file says is looked at again:
that it is of this table, that nothing in it changed, and that its witnesses, added up
by the checker, cover what it claims.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.asked import Asked
from evosdc.attack.certificate import (
    FORMAT,
    LEVELS,
    ORIGIN,
    certificate_from_arrays,
)
from evosdc.attack.checker import CheckReport, verify
from evosdc.attack.seal import GROUPS, digest_of, numbered, seal_of, table_digests
from evosdc.errors import EvosdcError, InputError
from evosdc.results import Certificate
from evosdc.table import Origin, Table
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

# Of this format the rules are stated in words only, which cannot be compared.
_EARLIER = "evosdc-certificate 2"
_MASKS = ("hidden", "known", "wished")
_TEXTS = ("format", "claim", "settings", "digests", "digest", "seal")
_SWITCHES = ("strict", "secondaries", "insiders", "whole", "fractions", "counts")
_SETTINGS = (*_SWITCHES, "tolerance", "bounds", "threshold")
# Settings that files of earlier versions do not have.
_OPTIONAL: Mapping[str, Any] = {
    "fractions": False,
    "attackers": LONE,
    "coalitions": [],
    "accepted": [],
}
# Beyond rounding a witness proves nothing, whatever a file says of itself.
_MOST_TOLERANCE = 1e-6
# Witnesses that fail are named one by one up to this many.
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Proof:
    """A certificate file: witnesses, what they are of, and what they should prove.

    Attributes
    ----------
    claim
        The sentences of the verdict by name: words of whoever wrote the file, which
        nothing here compares or confirms.
    settings
        How levels are read and who attacks: strict, secondaries, insiders, whole,
        fractions, tolerance; the prior knowledge: counts, bounds, threshold; and,
        unless the file is of an earlier format, what made cells sensitive (`ORIGIN`).
    hidden, known, wished
        Which cells are not published, which of them the attacker has all the same, and
        which are sensitive by request and not by the table.
    respondent
        Number of the lone respondent of each cell, -1 for none.
    digests, digest
        Fingerprints of the table.
    sealed
        Whether the seal is that of the arrays.
    """

    certificate: Certificate
    claim: Mapping[str, str]
    settings: Mapping[str, Any]
    hidden: NDArray[np.bool_]
    known: NDArray[np.bool_]
    wished: NDArray[np.bool_]
    respondent: NDArray[np.int64]
    digests: Mapping[str, str]
    digest: str
    sealed: bool


@dataclass(frozen=True, eq=False)
class ProofReport:
    """What is left of a proof after all of it was looked at again.

    Attributes
    ----------
    proof
        What was looked at.
    holds
        Whether everything holds: the pattern is safe as claimed.
    faults
        What does not hold, in sentences; no values are in them.
    remarks
        What is worth knowing and no fault.
    check
        What the checker found; None where the file and the table do not fit at all.
    checked
        What was looked at, in sentences by the names of its questions: from the
        table and the numbers that were added up, never from words of the certificate.
    """

    proof: Proof
    holds: bool
    faults: tuple[str, ...]
    remarks: tuple[str, ...]
    check: CheckReport | None
    checked: Mapping[str, str] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """SAFE where everything holds; a proof that fails shows nothing else."""
        return "SAFE" if self.holds else "NOT PROVED"


def read_proof(arrays: Mapping[str, NDArray[Any]]) -> Proof:
    """Read what `evosdc.attack.certificate_arrays` wrote.

    Raises
    ------
    InputError
        For a file of an earlier format, and for one that cannot be read as this one.
    """
    if "format" not in arrays:
        raise InputError(
            "the certificate has witnesses alone (format 1): it does not say of which "
            "table they are, nor what they should prove",
            expected=f"a file of format {FORMAT!r}",
            hint="protect or audit the table again to write one",
        )
    found = str(arrays["format"])[:40]
    if found not in (FORMAT, _EARLIER):
        raise InputError(
            f"the certificate has format {found!r}",
            expected=f"{FORMAT!r} or {_EARLIER!r}",
            hint="use the version of evosdc that wrote it, or protect the table again",
        )
    try:
        text = {name: str(arrays[name].item()) for name in _TEXTS}
        claim = {_line(k): _line(v) for k, v in json.loads(text["claim"]).items()}
        given = {**_OPTIONAL, **json.loads(text["settings"])}
        settings = {name: given[name] for name in _SETTINGS}
        digests = {name: str(json.loads(text["digests"])[name]) for name in GROUPS}
        if found == FORMAT:
            settings |= _origin({name: given[name] for name in ORIGIN})
        if not all(isinstance(settings[name], bool) for name in _SWITCHES):
            raise ValueError("settings")
        tolerance = float(settings["tolerance"])
        if not 0 <= tolerance <= _MOST_TOLERANCE:
            raise ValueError("tolerance")
        settings["bounds"] = str(settings["bounds"])
        settings |= _beside_public(given)
        if settings["threshold"] is not None:
            settings["threshold"] = int(settings["threshold"])
        masks = [np.asarray(arrays[name]) for name in _MASKS]
        respondent = np.asarray(arrays["respondent"])
        if any(mask.dtype != bool or mask.ndim != 1 for mask in masks):
            raise ValueError("masks")
        if respondent.dtype.kind != "i" or respondent.ndim != 1:
            raise ValueError("respondent")
        certificate = certificate_from_arrays(arrays)
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(
            f"the certificate cannot be read ({type(error).__name__} in its arrays)",
            expected="the arrays of docs/reference/certificate.md",
            hint="protect or audit the table again to write one",
        ) from error
    return Proof(
        certificate=certificate,
        claim=claim,
        settings=settings,
        hidden=masks[0],
        known=masks[1],
        wished=masks[2],
        respondent=respondent.astype(np.int64),
        digests=digests,
        digest=text["digest"],
        sealed=text["seal"] == seal_of(arrays),
    )


def check_proof(
    table: Table,
    proof: Proof,
    *,
    published: NDArray[np.bool_] | None = None,
    asked: Asked | None = None,
) -> ProofReport:
    """Look at a proof again, from the table alone.

    Parameters
    ----------
    table
        The table as it was given to `protect` or `audit`; its prior knowledge is made
        what the certificate says.
    published
        Which cells the publication hides.
    asked
        What must have been judged at least; else what the certificate says.
    """
    faults = [] if asked is None else asked.faults(proof.settings)
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
            "the table is not the one the certificate was made for: it has "
            f"{len(table):,} cells, and the certificate is of {max(sizes):,}"
        )
        return ProofReport(proof, False, tuple(faults), (), None)
    table, told = _with_accepted(table, proof.settings["accepted"])
    faults += told
    table = with_whole_numbers(table)
    assumed, told = _assumed(table, proof.settings)
    faults += told
    if assumed.origin != in_whole_numbers(table).origin:
        remarks.append(
            "prior knowledge is as the certificate says, which is not what the table "
            "says by itself"
        )
    remarks += _weaker(table, proof.settings)
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
        checked = _checked_words(assumed, proof, check)
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


def _checked_words(table: Table, proof: Proof, check: CheckReport) -> dict[str, str]:
    """Say what was looked at, from the table and the numbers that were added up."""
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


def _origin(origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `ORIGIN`; no rule is as good as none stated."""
    read = Origin.from_json(origin).as_json()
    return {name: read[name] or None for name in ORIGIN}


def _beside_public(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return who attacks beside the public, and levels that were lowered on request."""
    listed = given["coalitions"]
    if not isinstance(listed, list) or not all(
        isinstance(one, list) and len(one) > 1 for one in listed
    ):
        raise ValueError("coalitions")
    if given["attackers"] not in KINDS:
        raise ValueError("attackers")
    return {
        "attackers": str(given["attackers"]),
        "coalitions": [[str(name) for name in one] for one in given["coalitions"]],
        "accepted": [
            (int(cell), float(up), float(down), float(width))
            for cell, up, down, width in given["accepted"]
        ],
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


def _weaker(table: Table, settings: Mapping[str, Any]) -> list[str]:
    """Say where a certificate proves less than a table asks for by itself."""
    told: list[str] = []
    if settings["accepted"]:
        cells = [cell for cell, *_ in settings["accepted"]]
        shown = "; ".join(table.label(cell) for cell in cells[:_SHOWN])
        more = f" and {len(cells) - _SHOWN:,} more" if len(cells) > _SHOWN else ""
        told.append(f"lower levels than the table's were accepted for {shown}{more}")
    if settings["insiders"] and settings["attackers"] == PUBLIC:
        told.append("coalitions alone were taken for attackers, no lone respondents")
    return told


def _line(text: Any) -> str:
    """Return words of a certificate as one line, without what could pass for ours."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())


def _assumed(table: Table, settings: Mapping[str, Any]) -> tuple[Table, list[str]]:
    """Return the table with the prior knowledge that a certificate assumes."""
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
            "the table is not the one the certificate was made for: its prior "
            f"knowledge does not fit it ({error.what})"
        ]
    return table, []


def _differences(table: Table, proof: Proof) -> list[str]:
    """Say what the certificate is of that the table is not."""
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
        faults.append(
            "the table is not the one the certificate was made for; other than then: "
            + ", ".join(other)
        )
    own = _origin(table.origin.as_json())
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
    """Add all witnesses up, for the cells that the certificate says are hidden."""
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
        # Everyone has a sensitive cell that is not hidden.
        known=proof.known | (sensitive & ~proof.hidden),
        whole=settings["whole"],
        fractions=settings["fractions"],
        insiders=settings["insiders"],
        attackers=attackers,
    )


def _failures(table: Table, check: CheckReport) -> list[str]:
    faults = [
        f"witness {w} {why}"
        for w, why in zip(
            check.refused[:_SHOWN].tolist(), check.reasons[:_SHOWN], strict=True
        )
    ]
    if len(check.refused) > _SHOWN:
        faults.append(f"{len(check.refused) - _SHOWN:,} more witnesses fail")
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
    """A cell that everyone has anyway may be in the publication or not."""
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
