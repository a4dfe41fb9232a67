"""The results about tables: tabulated, protected, audited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from evosdc import __version__
from evosdc.attack import certificate_arrays
from evosdc.errors import InputError
from evosdc.evolution.stopping import Entry
from evosdc.formats import FORMATS
from evosdc.io.layouts import (
    HST_NAME,
    JJ_NAME,
    check_formats,
    layout_files,
    write_layouts,
    write_next_year,
)
from evosdc.io.paths import open_output
from evosdc.io.tables import write_table
from evosdc.report.page import report_html
from evosdc.report.share import share_html
from evosdc.results.claims import claim_of
from evosdc.results.folder import (
    CERTIFICATE,
    CONFIDENTIAL,
    DRAFT,
    PUBLISH,
    REPORT,
    Output,
    text_output,
)
from evosdc.results.result import WrittenResult, chosen_formats
from evosdc.results.table_files import (
    fingerprints,
    frame_output,
    jj_files,
    jj_name,
    pattern_output,
    published_frames,
    related_warnings,
    write_jj_file,
)
from evosdc.results.verdict import Certificate, Claim, TableVerdict
from evosdc.table import Coalition, Table
from evosdc.table.attackers import LONE
from evosdc.table.status import SECONDARY

_RECORD = ("seconds", "evaluations", "cost", "bound", "diversity", "event")
# The order in which a summary has what was found.
_SUMMARY = (
    *("method", "cost", "secondaries", "primaries", "lower_bound", "gap", "safe"),
    *("verdict", "exposed", "open", "insiders", "reasons", "next_steps", "claim"),
    *("notes", "seconds", "evaluations", "seed", "version", "settings"),
)
# What a tabulated table is written as: one file, perhaps with a side file.
_TABLE_FORMATS = {
    form.name: form.suffixes[0]
    for form in FORMATS
    if "table" in form.written and not form.companions
}


@dataclass(frozen=True, eq=False, repr=False)
class Tabulation(WrittenResult):
    """A table and its cells as a frame of the kind that was given; not judged yet."""

    table: Table
    frame: Any
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    version: str = __version__

    kind = "tabulation"
    seed = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What else there is to say of the table."""
        return self.table.notes

    @property
    def verdict(self) -> TableVerdict:
        """NOT JUDGED: a table is judged when it is protected or audited."""
        return TableVerdict(
            None,
            exposed=(),
            judged=0,
            exact=True,
            tolerance=0.0,
            strict=False,
            reasons=("the table was tabulated and not yet protected",),
            next_steps=("hide what its sensitive cells need (evosdc protect)",),
        )

    @property
    def claim(self) -> Claim:
        """What made cells sensitive, and what everybody knows of them."""
        found = claim_of(self.table, self.verdict, strict=False, secondaries=False)
        return found.changed(
            insiders="not judged", strictness="not judged", proof="not judged"
        )

    def report(self, *, share: bool = False) -> str:
        """Return the page about the table; there is none to share yet."""
        _refuse_sharing(self, share)
        return report_html(self)

    def visible(self) -> Tabulation:
        """Return the result with the cells that are shown only."""
        return replace(self, table=self.table.visible())

    def summary(self) -> dict[str, Any]:
        """Return what was made, as plain values."""
        return {
            "cells": len(self.table),
            "primaries": len(self.table.primaries),
            **super().summary(),
        }

    def outputs(
        self, formats: str | Sequence[str], source: Any, warnings: Sequence[str]
    ) -> list[Output]:
        """Return the table itself, with its side file, and the page about it."""
        del source, warnings
        usual = "csv" if self.table.dimensions else "jj"
        chosen = chosen_formats(formats, list(_TABLE_FORMATS), [usual])
        names = [f"table{_TABLE_FORMATS[name]}" for name in chosen]
        return [
            *(
                Output(
                    CONFIDENTIAL,
                    (name, f"{name}.json"),
                    partial(_write_table, table=self.table, name=name),
                )
                for name in names
            ),
            self._report_output(),
        ]

    def __repr__(self) -> str:
        rules = ", ".join(rule for rule, _ in self.table.origin.rules or ())
        return f"Tabulation({self.table!r}, rules {rules or 'none'})"


def _write_table(folder: Path, table: Table, name: str) -> None:
    write_table(folder / name, table)


class _Judged(WrittenResult):
    """What `Protection` and `Audit` share: a judged pattern and its witnesses."""

    if TYPE_CHECKING:

        @property
        def table(self) -> Table: ...
        @property
        def verdict(self) -> TableVerdict: ...
        @property
        def certificate(self) -> Certificate: ...
        @property
        def known(self) -> NDArray[np.bool_] | None: ...
        @property
        def wished(self) -> NDArray[np.bool_] | None: ...
        @property
        def accepted(self) -> NDArray[np.bool_] | None: ...

    @property
    def safe(self) -> bool | None:
        """Whether the judge found every sensitive cell protected; None: not judged."""
        return self.verdict.ok

    def visible(self) -> Self:
        """Return the result with the cells that are shown only."""
        if self.table.unshown is None:
            return self
        shown = self.table.shown
        number = np.cumsum(shown) - 1
        exposed = tuple(
            replace(
                e,
                cell=int(number[e.cell]),
                insider_cell=int(number[e.insider_cell]) if e.insider else -1,
            )
            for e in self.verdict.exposed
        )
        changes: dict[str, Any] = {
            name: mask[shown]
            for name in ("known", "wished", "accepted")
            if (mask := getattr(self, name)) is not None
        }
        changes["table"] = self.table.visible()
        changes["verdict"] = replace(self.verdict, exposed=exposed)
        return replace(self, **changes)  # type: ignore[type-var]

    def summary(self) -> dict[str, Any]:
        """Return the verdict with its numbers of cells, as plain values."""
        return {
            "primaries": len(self.table.primaries),
            "safe": self.safe,
            "exposed": len(self.verdict.exposed_cells),
            "open": len(self.verdict.open),
            "insiders": self.verdict.insiders,
            **super().summary(),
        }

    def _judged_outputs(self) -> list[Output]:
        """Return the pattern and its certificate."""
        return [
            pattern_output(self.table),
            Output(CONFIDENTIAL, (CERTIFICATE,), self._write_certificate),
        ]

    def _write_certificate(self, folder: Path) -> None:
        settings = self.settings
        arrays = certificate_arrays(
            self.certificate,
            table=self.table,
            claim=dict(self.claim),
            strict=self.verdict.strict,
            secondaries=bool(settings.get("protect_secondaries")),
            insiders=self.verdict.insiders is not None,
            known=self.known,
            wished=self.wished,
            accepted=self.accepted,
            attackers=str(settings.get("attackers", LONE)),
            coalitions=[
                Coalition(name, members)
                for name, *members in settings.get("coalitions", ())
            ],
            fractions=self.verdict.whole is False,
            tolerance=self.verdict.tolerance,
        )
        with open_output(folder / CERTIFICATE) as stream:
            save: Any = np.savez_compressed
            save(stream, **arrays)


@dataclass(frozen=True, eq=False, repr=False)
class Audit(_Judged):
    """The verdict on a pattern, what it states, and the witnesses that prove it.

    `known` are the cells that an attacker has although they are sensitive or hidden.
    """

    table: Table
    verdict: TableVerdict
    claim: Claim
    certificate: Certificate
    known: NDArray[np.bool_]
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    version: str = __version__

    wished: None = None
    accepted: None = None

    kind = "audit"
    seed = None
    place = CONFIDENTIAL

    @property
    def notes(self) -> tuple[str, ...]:
        """What else there is to say of the table."""
        return self.table.notes

    def report(self, *, share: bool = False) -> str:
        """Return the page about the pattern; what is published is `protect`'s."""
        _refuse_sharing(self, share)
        return report_html(self)

    def outputs(
        self, formats: str | Sequence[str], source: Any, warnings: Sequence[str]
    ) -> list[Output]:
        """Return the pattern, the certificate and the page about them."""
        del source, warnings
        chosen_formats(formats, ())
        return [*self._judged_outputs(), self._report_output()]

    def __repr__(self) -> str:
        shown = self.table.shown
        hidden = int((self.table.hidden & shown & ~self.known).sum())
        cells = int(shown.sum())
        return f"Audit({self.verdict.brief}; {cells:,} cells, {hidden:,} hidden)"


@dataclass(frozen=True, eq=False, repr=False)
class Protection(_Judged):
    """A protected table, its cost, its bound and the judge's verdict.

    `pattern` and `published` are frames of the kind that was given to `protect`: every
    cell with its status, and the table as it may be published, hidden values blank.
    """

    table: Table
    method: str
    cost: float
    lower_bound: float | None
    gap: float | None
    verdict: TableVerdict
    claim: Claim
    certificate: Certificate = field(repr=False)
    record: tuple[Entry, ...] = field(repr=False)
    seconds: float
    evaluations: int
    seed: int
    version: str
    reason: str
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    # Cells that everyone has from earlier publications.
    known: NDArray[np.bool_] | None = field(default=None, repr=False)
    # The files of these, which a result is never written over.
    earlier: tuple[Path, ...] = field(default=(), repr=False)
    # Cells that are sensitive by request, not by a rule.
    wished: NDArray[np.bool_] | None = field(default=None, repr=False)
    # Cells whose levels were lowered to what can be had, by request.
    accepted: NDArray[np.bool_] | None = field(default=None, repr=False)
    # Kept out of logs and tracebacks: the pattern holds the confidential values.
    pattern: Any = field(default=None, repr=False)
    published: Any = field(default=None, repr=False)

    kind = "protection"

    @property
    def secondaries(self) -> int:
        """How many cells are hidden beyond the sensitive ones."""
        return int(((self.table.status == SECONDARY) & self.table.shown).sum())

    @property
    def may_leave(self) -> bool:
        """Whether the table may be published.

        The verdict must be SAFE, and about something: cells that were judged, or rules
        under which there were none.
        """
        asked = bool(self.verdict.judged or self.table.origin.rules)
        return bool(self.verdict.ok and asked)

    @property
    def place(self) -> str:
        """The folder of the published table, or of its draft."""
        return PUBLISH if self.may_leave else DRAFT

    @property
    def inputs(self) -> Sequence[Path]:
        """Files of earlier publications."""
        return self.earlier

    def related(self, folder: Path) -> tuple[str, ...]:
        """Name results near a folder with which this one must not be published."""
        return related_warnings(folder, self.table, self.table.hidden)

    def marks(self) -> Mapping[str, Any]:
        """Return fingerprints of the table and the pattern."""
        return fingerprints(self.table, self.table.hidden)

    def report(self, *, share: bool = False) -> str:
        """Return the page for inside; `share` for the one that may be published."""
        return share_html(self) if share else report_html(self)

    def summary(self) -> dict[str, Any]:
        """Return the object that ``evosdc protect --json`` prints."""
        found = {
            "method": self.method,
            "cost": self.cost,
            "secondaries": self.secondaries,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "evaluations": self.evaluations,
            **super().summary(),
        }
        return {name: found[name] for name in _SUMMARY}

    def outputs(
        self, formats: str | Sequence[str], source: Any, warnings: Sequence[str]
    ) -> list[Output]:
        """Return the pattern, its proof and its pages, and the table as published."""
        table, place = self.table, self.place
        wanted = check_formats(formats, table)
        again = jj_name(Path(source)) if source is not None else None
        jj = again or (JJ_NAME if "jj" in wanted else None)
        found = self._judged_outputs()
        if jj is not None:
            whole = partial(write_jj_file, table=table, name=jj)
            found.append(Output(CONFIDENTIAL, jj_files(jj), whole))
        if "hst" in wanted:
            last = partial(write_next_year, table=table)
            found.append(Output(CONFIDENTIAL, (HST_NAME,), last))
        inside = report_html(self, warnings=warnings)
        found += [
            frame_output(CONFIDENTIAL, "run.csv", self._record_frame()),
            text_output(CONFIDENTIAL, REPORT, inside),
            *(
                frame_output(place, name, frame)
                for name, frame in published_frames(table).items()
            ),
            Output(
                place,
                tuple(path.name for path in layout_files(Path(), table, wanted)),
                lambda to: write_layouts(to, table, wanted),
            ),
            text_output(place, REPORT, self.report(share=True)),
        ]
        return found

    def _record_frame(self) -> Any:
        import pyarrow as pa

        kinds = dict.fromkeys(_RECORD, pa.float64())
        kinds |= {"evaluations": pa.int64(), "event": pa.string()}
        return pa.table(
            {
                name: pa.array([getattr(e, name) for e in self.record], kinds[name])
                for name in _RECORD
            }
        )

    def __repr__(self) -> str:
        """Say what it is in one line, without the cost.

        The cost is a sum of hidden values, one equation more than the publication has,
        and what is shown by itself ends up in logs and shared notebooks.
        """
        gap = "unknown" if self.gap is None else f"{100 * self.gap:.2f} %"
        shown = self.table.shown
        primaries = int(shown[self.table.primaries].sum())
        return (
            f"Protection({self.verdict.brief}; {int(shown.sum()):,} cells, "
            f"{primaries:,} primaries, {self.secondaries:,} "
            f"secondaries; gap {gap}, by {self.method})"
        )


def _refuse_sharing(result: WrittenResult, share: bool) -> None:
    if share:
        raise InputError(
            f"there is no page to share about a result of {result.kind}",
            expected="a protected table, or synthetic records",
            hint="protect the table first; its page in publish/ may be shared",
        )
