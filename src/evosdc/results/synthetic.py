"""The results about synthetic records: evolved, evaluated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

from evosdc import __version__
from evosdc.formats import FORMATS
from evosdc.io.records import RecordFile, write_records
from evosdc.metrics.evaluation import Measurements
from evosdc.report.synthesis import synthesis_html
from evosdc.report.synthesis_share import shared_html
from evosdc.results.claims import synthetic_claim_of
from evosdc.results.folder import (
    CONFIDENTIAL,
    PUBLISH,
    REPORT,
    Output,
    text_output,
    write_outputs,
)
from evosdc.results.next_steps import release_verdict
from evosdc.results.result import WrittenResult, chosen_formats
from evosdc.results.verdict import Claim, Verdict

# Metrics that are the same number as an objective.
_AXES = {f"jsd:{ways}": f"jsd_{ways}" for ways in (1, 2, 3, 4, "full")}
_FORMATS = {
    form.name: form.suffixes[0] for form in FORMATS if "records" in form.written
}
# The order in which the summary of a synthesis has what was found.
_SUMMARY = (
    *("key", "target", "utility", "floor", "risk", "risk_limits", "risk_met"),
    *("verdict", "fit", "reasons", "next_steps", "claim", "not_measured"),
    *("not_protected", "small_groups", "derived", "impossible", "rows", "copies"),
    *("generations", "seconds", "reason", "seed", "version", "notes", "settings"),
)


class _Released(WrittenResult):
    """What `Evaluation` and `Synthesis` share: a verdict on a release."""

    @property
    def fit(self) -> bool:
        """Whether the records are fit for release."""
        return self.verdict.ok is True

    @property
    def next_steps(self) -> tuple[str, ...]:
        """What to do where they are not."""
        return tuple(self.verdict.next_steps)

    def summary(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        return {"fit": self.fit, **super().summary()}


@dataclass(frozen=True)
class Evaluation(_Released, Measurements):
    """Utility and risk of a synthetic file, and what was not protected."""

    claim: Claim = field(kw_only=True)
    seconds: float | None = field(default=None, kw_only=True)
    version: str = field(default=__version__, kw_only=True)

    @classmethod
    def of(
        cls, found: Measurements, model: Any = None, *, seconds: float | None = None
    ) -> Evaluation:
        """Make measurements a result; `model` made the records that were measured."""
        given = {f.name: getattr(found, f.name) for f in fields(Measurements)}
        claim = synthetic_claim_of(found, model)
        return cls(**given, claim=claim, seconds=seconds)

    kind = "evaluation"
    # The figures are of the original too.
    place = CONFIDENTIAL

    @property
    def verdict(self) -> Verdict:
        """Whether every test was made and passed."""
        return release_verdict(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not protected or not tested, a sentence each."""
        return self.plain_words

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was asked for."""
        return {"key": list(self.key), "target": self.target, "seed": self.seed}

    def summary(self) -> dict[str, Any]:
        """Return the object that ``evosdc evaluate --json`` prints."""
        return {**Measurements.summary(self), **super().summary()}

    def report(self, *, share: bool = False) -> str:
        """Return the page about the file; `share` for one without risk figures."""
        if share:
            return shared_html(self, self.claim)
        return synthesis_html(self, claim=self.claim)

    def outputs(
        self, formats: str | Sequence[str], source: Any, warnings: Sequence[str]
    ) -> list[Output]:
        """Return the figures and the page about them."""
        del source, warnings
        chosen_formats(formats, ())
        rows = [
            {
                "metric": v.name,
                "kind": v.kind,
                "goal": v.goal,
                "value": v.value,
                **{f"baseline_{k}": b for k, b in v.baselines.items()},
            }
            for v in self.values
        ]
        return [
            _rows_output("metrics.csv", rows),
            _summary_output(self.summary()),
            self._report_output(),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Synthesis(_Released):
    """Synthetic copies, the model that made them, and what they are worth and risk.

    The evaluation is that of the first copy; its verdict is that of all. `risks` are
    the four risks of each copy.
    """

    copies: tuple[Any, ...]
    model: Any
    evaluation: Evaluation
    risks: tuple[Mapping[str, float], ...] = ()
    version: str = __version__

    kind = "synthesis"

    @property
    def verdict(self) -> Verdict:
        """Whether every copy is fit for release."""
        return self.evaluation.verdict

    @property
    def claim(self) -> Claim:
        """What the verdict is about."""
        return self.evaluation.claim

    @property
    def notes(self) -> tuple[str, ...]:
        """What the search has to say, and what was not protected."""
        return (*self.model.notes_, *self.evaluation.notes)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The scenario that was searched under, and how many copies were made."""
        return {
            **self.evaluation.settings,
            "seed": self.seed,
            "risk_limits": dict(self.model.risk_limits_),
            "copies": len(self.copies),
        }

    @property
    def seconds(self) -> float:
        """How long the search took."""
        return float(self.model.seconds_)

    @property
    def seed(self) -> int:
        """Where the random numbers of the search began."""
        return int(self.model.seed)

    @property
    def risk_met(self) -> bool | None:
        """Whether every copy meets every risk limit; None where there is none."""
        limits = self.model.risk_limits_
        if not limits:
            return None
        copies = self.risks or (self.evaluation.risk,)
        return not any(limits_exceeded(limits, risk) for risk in copies)

    @property
    def first_risk(self) -> str:
        """The risk that a single limit is about."""
        risk = self.model.scenario.risk
        names = risk.split(",") if isinstance(risk, str) else list(risk)
        return str(names[0]).strip()

    def __repr__(self) -> str:
        made = self.evaluation
        many = len(self.copies)
        return (
            f"Synthesis({self.verdict.word}: {many:,} "
            f"{'copy' if many == 1 else 'copies'} "
            f"of {made.synthetic_rows:,} records and {len(made.names):,} variables; "
            f"{self.model.generations_:,} generations, {self.model.reason_})"
        )

    def run_rows(self) -> list[dict[str, Any]]:
        """Return the run record, a row per generation."""
        names = list(self.model.front_[0].risks)
        return [
            {
                "seconds": round(g.seconds, 3),
                "generation": g.generation,
                "evaluations": g.evaluations,
                "cost": g.cost,
                "utility": g.utility,
                "risk": risks[self.first_risk],
                **risks,
                "mean_cost": g.mean_cost,
                "diversity": g.diversity,
            }
            for g in self.model.record_
            for risks in [dict(zip(names, g.risks, strict=True))]
        ]

    def front_rows(self) -> list[dict[str, Any]]:
        """Return the front, a row per candidate; empty unless the mode was pareto."""
        if not self.model.trade_off.front:
            return []
        return [
            {
                "number": p.number,
                "utility": p.utility,
                **p.distances,
                "risk": p.risks[self.first_risk],
                **p.risks,
                "closer_than_fresh": p.closer_than_fresh,
            }
            for p in self.model.front_
        ]

    def summary(self) -> dict[str, Any]:
        """Return the object that ``evosdc synthesise --json`` prints."""
        model = self.model
        found = {
            **super().summary(),
            "key": list(self.evaluation.key),
            "target": self.evaluation.target,
            "utility": dict(model.utility_),
            "floor": dict(model.floor_),
            "risk": dict(self.evaluation.risk),
            "risk_limits": dict(model.risk_limits_),
            "risk_met": self.risk_met,
            "not_measured": list(self.evaluation.not_measured),
            "not_protected": list(self.evaluation.plain_words),
            "small_groups": model.small_groups_.to_dict(),
            "derived": [
                {"column": d.name, "from": list(d.sources), "how": d.how}
                for d in model.derived_
            ],
            "impossible": [vars(i) for i in model.impossible_],
            "rows": self.evaluation.synthetic_rows,
            "copies": len(self.copies),
            "generations": model.generations_,
            "reason": model.reason_,
        }
        return {name: found[name] for name in _SUMMARY}

    def report(self, *, share: bool = False) -> str:
        """Return the page for the owner; `share` for the one that may be published."""
        if share:
            return shared_html(self.evaluation, self.claim, copies=len(self.copies))
        front = self.front_rows()
        # The map has metrics on its axes: a front of other objectives has no place.
        known = self.model.front_[0].distances
        first = "jsd:2" if "jsd:2" in known else next(iter(known))
        alike = first in _AXES and self.first_risk == "dcap-u"
        return synthesis_html(
            self.evaluation,
            self.run_rows(),
            [{**row, "utility": row[first]} for row in front] if alike else None,
            utility=_AXES.get(first, "jsd_2"),
            claim=self.claim,
            small_groups=self.model.small_groups_,
        )

    def outputs(
        self, formats: str | Sequence[str], source: Any, warnings: Sequence[str]
    ) -> list[Output]:
        """Return the copies, the run record, the front and the pages about them.

        `source` may be the `RecordFile` that CSV files of the copies are to look like.
        """
        del warnings
        front = self.front_rows()
        evaluation = {**self.summary(), "evaluation": self.evaluation.summary()}
        found = [
            _rows_output("run.csv", self.run_rows()),
            *([_rows_output("front.csv", front)] if front else []),
            _summary_output(evaluation),
            self._report_output(),
            *_copy_outputs(self.place, self.copies, formats, source),
        ]
        if not self.fit:
            return found
        return [
            *found,
            text_output(PUBLISH, REPORT, self.report(share=True)),
            text_output(PUBLISH, "README.txt", self._readme()),
        ]

    def _readme(self) -> str:
        copies = len(self.copies)
        one = copies == 1
        files = "synthetic.*" if one else f"synthetic-1.* to synthetic-{copies}.*"
        text = (
            f"This folder holds artificial records ({files}), made by evosdc "
            f"{self.version}. There are {self.evaluation.synthetic_rows:,} of them "
            f"with {len(self.evaluation.names)} variables. No record is that of a "
            "person; one may equal that of a person by chance. Verdict: "
            f"{self.verdict.word}. Tested: {self.claim.scenario}. Guarantee: "
            f"{self.claim.guarantee}. report.html says what was tested and how far "
            "statistics of these records can be trusted."
        )
        return fill(text, width=88) + "\n"


def write_copies(
    output: Path,
    copies: Sequence[Any],
    records: RecordFile | None = None,
    *,
    formats: str | Sequence[str] = (),
) -> None:
    """Write copies before they are judged, where nobody else sees them.

    What an earlier run left is removed; `write_result` follows.
    """
    write_outputs(output, _copy_outputs(CONFIDENTIAL, copies, formats, records))


def limits_exceeded(
    limits: Mapping[str, float], risk: Mapping[str, float]
) -> list[str]:
    """Return the limits that a copy does not meet, a sentence each."""
    return [
        f"{name} is {risk[name]:.4g}, above the limit of {limit:.4g}"
        for name, limit in limits.items()
        if risk[name] > limit + 1e-12
    ]


def _copy_outputs(
    place: str,
    copies: Sequence[Any],
    formats: str | Sequence[str],
    like: RecordFile | None,
) -> list[Output]:
    chosen = chosen_formats(formats, list(_FORMATS), ["csv"])
    found = []
    for number, copy in enumerate(copies, 1):
        stem = "synthetic" if len(copies) == 1 else f"synthetic-{number}"
        for form in chosen:
            name = f"{stem}{_FORMATS[form]}"
            write = partial(
                _write_copy, name=name, copy=copy, like=like, public=place == PUBLISH
            )
            found.append(Output(place, (name,), write))
    return found


def _write_copy(
    folder: Path, name: str, copy: Any, like: RecordFile | None, public: bool
) -> None:
    from evosdc.frames import to_arrow

    write_records(folder / name, to_arrow(copy), like=like, public=public)


def _summary_output(summary: Mapping[str, Any]) -> Output:
    text = json.dumps(summary, indent=2) + "\n"
    return text_output(CONFIDENTIAL, "evaluation.json", text)


def _rows_output(name: str, rows: Sequence[Mapping[str, Any]]) -> Output:
    def write(folder: Path) -> None:
        import pyarrow as pa

        names = list(dict.fromkeys(name for row in rows for name in row)) or ["metric"]
        columns = {name: [row.get(name) for row in rows] for name in names}
        write_records(folder / name, pa.table(columns))

    return Output(CONFIDENTIAL, (name,), write)
