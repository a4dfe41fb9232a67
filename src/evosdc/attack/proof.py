"""A certificate from a file and the table that it should be of: does the proof hold?

Nothing is searched or solved here. Everything that the file says is looked at again:
that it is of this table, that nothing in it changed, and that its witnesses, added up
by the checker, cover what it claims.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import FORMAT, certificate_from_arrays
from evosdc.attack.checker import CheckReport, verify
from evosdc.attack.seal import GROUPS, digest_of, seal_of, table_digests
from evosdc.errors import EvosdcError, InputError
from evosdc.results import Certificate, Claim
from evosdc.table import Table
from evosdc.table.knowledge import (
    as_counts,
    in_whole_numbers,
    knowledge_words,
    with_bounds,
    with_threshold,
    with_whole_numbers,
)
from evosdc.table.singletons import knows_contributors, lone_respondents
from evosdc.table.status import HIDDEN, PRIMARY, SAFE, SECONDARY

_MASKS = ("hidden", "known", "wished")
_TEXTS = ("format", "claim", "settings", "digests", "digest", "seal")
_SWITCHES = ("strict", "secondaries", "insiders", "whole", "counts")
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
        The sentences of the verdict by name.
    settings
        How levels are read and who attacks: strict, secondaries, insiders, whole,
        fractions, tolerance; and the prior knowledge: counts, bounds, threshold.
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
    holds
        Whether everything holds: the pattern is safe as claimed.
    faults
        What does not hold, in sentences; no values are in them.
    remarks
        What is worth knowing and no fault.
    check
        What the checker found; None where the file and the table do not fit at all.
    """

    holds: bool
    faults: tuple[str, ...]
    remarks: tuple[str, ...]
    check: CheckReport | None

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
    if found != FORMAT:
        raise InputError(
            f"the certificate has format {found!r}",
            expected=FORMAT,
            hint="use the version of evosdc that wrote it, or protect the table again",
        )
    try:
        text = {name: str(arrays[name].item()) for name in _TEXTS}
        claim = {str(k): str(v) for k, v in json.loads(text["claim"]).items()}
        settings = dict(json.loads(text["settings"]))
        digests = {name: str(json.loads(text["digests"])[name]) for name in GROUPS}
        if set(claim) != set(Claim.QUESTIONS):
            raise ValueError("claim")
        if not all(isinstance(settings[name], bool) for name in _SWITCHES):
            raise ValueError("settings")
        tolerance = float(settings["tolerance"])
        if not 0 <= tolerance <= _MOST_TOLERANCE:
            raise ValueError("tolerance")
        settings["bounds"] = str(settings["bounds"])
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
    table: Table, proof: Proof, *, published: NDArray[np.bool_] | None = None
) -> ProofReport:
    """Look at a proof again, from the table alone.

    Parameters
    ----------
    table
        The table as it was given to `protect` or `audit`; its prior knowledge is made
        what the certificate says.
    published
        Which cells the publication hides.
    """
    faults: list[str] = []
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
        return ProofReport(False, tuple(faults), (), None)
    table = with_whole_numbers(table)
    assumed, told = _assumed(table, proof.settings)
    faults += told
    if assumed.origin != in_whole_numbers(table).origin:
        remarks.append(
            "prior knowledge is as the certificate says, which is not what the table "
            "says by itself"
        )
    if assumed.origin.counts and not proof.settings["whole"]:
        faults.append(
            "the table is of counts, and the certificate allows tables with fractions "
            "of a person"
        )
    faults += _differences(assumed, proof)
    check = _checked(assumed, proof, faults)
    if check is not None:
        faults += _failures(assumed, check)
        if not check.judged and not assumed.origin.rules:
            faults.append("no cell was judged, and no rule looked for sensitive cells")
        if not check.exact:
            remarks.append(f"witnesses hold to {check.error:.1e} of the move they show")
    if published is not None:
        faults += _publication(assumed, proof, published)
    faults += _claimed(assumed, proof, check)
    return ProofReport(not faults, tuple(faults), tuple(remarks), check)


def _claimed(table: Table, proof: Proof, check: CheckReport | None) -> list[str]:
    """Compare what the claim says in words with what was looked at here."""
    strict = "exceeded" if proof.settings["strict"] else "reached"
    insiders = "not judged against lone respondents"
    if proof.settings["insiders"]:
        many = 0 if check is None or check.insiders is None else check.insiders
        insiders = f"each of {many:,} lone respondents"
    expected = {
        "knowledge": knowledge_words(table),
        "strictness": f"levels must be {strict}",
        "insiders": insiders,
    }
    return [
        f"the claim says something else on {name} than what was checked"
        for name, words in expected.items()
        if not proof.claim[name].startswith(words)
    ]


def _assumed(table: Table, settings: Mapping[str, Any]) -> tuple[Table, list[str]]:
    """Return the table with the prior knowledge that a certificate assumes."""
    try:
        counts = settings["counts"]
        if counts and not table.origin.counts:
            table = as_counts(table)
        elif not counts and table.origin.counts:
            table = table.replace(origin=replace(table.origin, counts=False))
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
    respondent = np.full(len(table), -1)
    if proof.settings["insiders"] and knows_contributors(table):
        respondent = lone_respondents(table)
    mine = table_digests(table, respondent)
    other = [
        words for name, words in GROUPS.items() if mine[name] != proof.digests[name]
    ]
    if not other:
        return []
    return [
        "the table is not the one the certificate was made for; other than then: "
        + ", ".join(other)
    ]


def _checked(table: Table, proof: Proof, faults: list[str]) -> CheckReport | None:
    """Add all witnesses up, for the cells that the certificate says are hidden."""
    settings = proof.settings
    if settings["insiders"] and not knows_contributors(table):
        faults.append(
            "the certificate is against lone respondents too, and the table does not "
            "say who contributes"
        )
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
        fractions=bool(settings.get("fractions", False)),
        insiders=settings["insiders"],
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
            f"against lone respondents, the first: {table.label(cell)} against the "
            f"lone respondent of {table.label(own)}"
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
