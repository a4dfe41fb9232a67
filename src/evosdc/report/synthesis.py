"""The page about a synthetic file: one HTML document that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evosdc.metrics.evaluation import Comparisons, Measurements, MetricValue
from evosdc.metrics.memorisation_tests import FreshTest
from evosdc.report.kit.parts import (
    banner,
    bullets,
    count,
    esc,
    figure,
    header,
    numbers,
    plain_table,
    section,
    whole_page,
)
from evosdc.report.synthesis_charts import (
    REFERENCES,
    generations,
    margins,
    pairs,
    risk_utility_map,
)
from evosdc.report.synthesis_tables import groups_html, numbers_html
from evosdc.report.verdict import claim_section
from evosdc.results import Claim
from evosdc.results.next_steps import release_verdict

Row = Mapping[str, Any]

_MAX_PARTS = 60
_PASSED, _FAILED = "passed", "<strong>failed</strong>"
_FOOTER = (
    "<footer><b>Confidential: this page must not leave the office.</b> It holds "
    "figures of the original data. The page to share is report.html in publish/."
    "</footer>"
)


def synthesis_html(
    evaluation: Measurements,
    run: Sequence[Row] | None = None,
    front: Sequence[Row] | None = None,
    comparisons: Comparisons | None = None,
    *,
    title: str = "Synthetic data",
    utility: str = "jsd_2",
    risk: str = "dcap_u",
    claim: Claim | None = None,
    small_groups: Any = None,
) -> str:
    """Return the page as text.

    Parameters
    ----------
    evaluation
        What `evosdc.metrics.evaluate` gave.
    run
        The run record, a row per generation: `generation`, `utility`, `risk`.
    front
        The Pareto front, a row per candidate: `utility`, `risk`, measured as the
        metrics that the two arguments below name, and `closer_than_fresh` where it is
        known.
    comparisons
        Margins and pairs to show; those of the evaluation where not given.
    title
        The heading.
    utility, risk
        The metrics on the axes of the risk-utility map, which is left out where there
        was no time for one of them.
    claim
        What the verdict is about.
    small_groups
        What a synthesis did about small groups, `evosdc.synth.small_groups`.
    """
    shown = comparisons or evaluation.comparisons
    # What the copy must not show, its report must not either.
    rare = small_groups.least / max(1, evaluation.rows) if small_groups else 0.0
    parts = [
        header(title, _facts(evaluation)),
        verdict_block(evaluation),
        claim_section(claim, "tested") if claim is not None else "",
        section("The tests behind the verdict", _tests(evaluation.tests)),
        section("What was not protected", bullets(evaluation.plain_words)),
        section("Small groups", groups_html(small_groups)) if small_groups else "",
        ""
        if {utility, risk} & set(evaluation.not_measured)
        else section(
            "Risk and utility",
            risk_utility_map(evaluation, front or (), utility=utility, risk=risk),
        ),
        section("By generation", generations(run)) if run else "",
        section("Utility", _metrics(evaluation, "utility"), "long"),
        section("Risk", _metrics(evaluation, "risk"), "long"),
        section("Numbers", numbers_html(evaluation.numbers), "long")
        if evaluation.numbers.columns
        else "",
        section(
            "Not measured",
            bullets(f"{name}: {why}" for name, why in evaluation.skipped),
        )
        if evaluation.skipped
        else "",
        section("One variable at a time", margins(shown.margins, rare), "long"),
        section("Two variables at a time", pairs(shown.pairs), "long"),
        _FOOTER,
    ]
    return whole_page(title, "\n".join(part for part in parts if part))


def _facts(evaluation: Measurements) -> list[str]:
    held = evaluation.holdout_rows
    return [
        f"{count(evaluation.rows, 'original record')}",
        f"{count(evaluation.synthetic_rows, 'synthetic record')}",
        f"{count(len(evaluation.names), 'variable')}",
        f"key {esc(', '.join(evaluation.key))}",
        f"target {esc(evaluation.target)}",
        "no hold-out" if held is None else f"hold-out of {count(held, 'record')}",
        f"seed {evaluation.seed}",
    ]


def verdict_block(evaluation: Measurements) -> str:
    """Return the verdict and the reasons against a release."""
    verdict = release_verdict(evaluation)
    reasons = verdict.reasons
    steps = [f"Next step: {step}" for step in verdict.next_steps]
    return banner(
        "safe" if verdict.ok else "bad",
        f"Verdict: {esc(verdict.word)}.",
        "No attack found more than a fresh sample of the same population would show."
        if verdict.ok
        else "Do not release these records as they are.",
        bullets([*reasons, *steps]) if reasons else "",
    )


def _tests(tests: Sequence[FreshTest]) -> str:
    rows = [
        f"<tr><td>{esc(test.title)}</td><td>{esc(test.against)}</td>"
        + numbers(map(figure, (test.value, test.usual, test.bound, test.of)))
        + f'<td class="short">{_PASSED if test.passed else _FAILED}</td></tr>'
        for test in tests
    ]
    heads = ("counted", "fresh records are", ">synthetic", ">fresh")
    return (
        '<p class="note">Part of the original is attacked with synthetic records and '
        "with as many fresh ones; means over several random splits.</p>"
        + plain_table((*heads, ">most by chance", ">attacked", ""), rows, whole=True)
    )


def _metrics(evaluation: Measurements, kind: str) -> str:
    values = [value for value in evaluation.values if value.kind == kind]
    columns = [
        name
        for name in (*REFERENCES, "univariate", "chance")
        if any(name in value.baselines for value in values)
    ]
    heads = ("metric", "goal", "range", ">value", *(f">{name}" for name in columns))
    rows = [_metric_row(value, columns) for value in values]
    return plain_table(heads, rows, whole=True)


def _metric_row(value: MetricValue, columns: Sequence[str]) -> str:
    found = (value.baselines.get(name) for name in columns)
    parts = "".join(
        f"<tr><td>{esc(label)}</td>{numbers([figure(part)])}</tr>"
        for label, part in value.breakdown[:_MAX_PARTS]
    )
    rest = len(value.breakdown) - _MAX_PARTS
    if rest > 0:
        parts += f'<tr><td class="note">and {rest} more</td><td></td></tr>'
    arrow = "↓ lower is better" if value.goal == "minimise" else "↑ higher is better"
    low, high = value.range
    return (
        f'<tr><td>{esc(value.title)} <span class="note">{esc(value.name)}</span>'
        f"<details><summary>parts and source</summary><p>"
        f"{esc(value.source)}</p><table>{parts}</table></details></td>"
        f'<td class="short">{arrow}</td>'
        f'<td class="short">{figure(low)} to {figure(high)}</td>'
        + numbers([f"<strong>{figure(value.value)}</strong>"])
        + numbers("" if v is None else figure(v) for v in found)
        + "</tr>"
    )
