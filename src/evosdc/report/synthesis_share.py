"""The page to share with synthetic data: none of its figures is about few people.

It has distances of whole tables and models. It has no margin, no count of people with
a unique key and no risk figure: a share times the number of records is a count.
"""

from __future__ import annotations

from evosdc.metrics.evaluation import Measurements, MetricValue
from evosdc.report.kit.parts import (
    count,
    esc,
    figure,
    header,
    numbers,
    plain_table,
    section,
    whole_page,
)
from evosdc.report.synthesis import verdict_block
from evosdc.report.verdict import claim_section
from evosdc.results import Claim


def shared_html(
    evaluation: Measurements,
    claim: Claim,
    *,
    copies: int = 1,
    title: str = "Synthetic data",
) -> str:
    """Return the page as text."""
    facts = [
        count(evaluation.synthetic_rows, "artificial record"),
        f"{count(len(evaluation.names), 'variable')}: "
        + esc(", ".join(evaluation.names)),
    ]
    if copies > 1:
        facts.append(f"{copies} copies; figures are those of the first")
    return whole_page(
        title,
        header(title, facts)
        + verdict_block(evaluation)
        + claim_section(claim, "tested")
        + section(
            "How far statistics can be trusted",
            '<p class="note">Of the synthetic records, compared with a bootstrap of '
            "the original records (what chance alone changes) and a file without any "
            "association.</p>"
            + _utility([v for v in evaluation.values if v.kind == "utility"]),
        ),
    )


def _utility(values: list[MetricValue]) -> str:
    rows = [
        f"<tr><td>{esc(value.title)}</td>"
        f'<td class="short">{"lower" if value.goal == "minimise" else "higher"} '
        "is better</td>"
        + numbers([figure(value.value)])
        + numbers(
            figure(value.baselines[name]) if name in value.baselines else ""
            for name in ("bootstrap", "independent")
        )
        + "</tr>"
        for value in values
    ]
    heads = ("measure", "", ">synthetic", ">bootstrap", ">no association")
    return plain_table(heads, rows, whole=True)
