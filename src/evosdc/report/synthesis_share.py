"""The page that goes with synthetic data: no figure of it is about few people.

It has distances of whole tables and models. It has no margin, no count of people with
a key of their own and no risk figure: a share times the number of records is a count.
"""

from __future__ import annotations

from html import escape

from evosdc.metrics.evaluation import Evaluation, MetricValue
from evosdc.report.synthesis import _STYLE, _number, claim_block, verdict_block
from evosdc.synthetic_claim import SyntheticClaim


def shared_html(
    evaluation: Evaluation,
    claim: SyntheticClaim,
    *,
    copies: int = 1,
    title: str = "Synthetic data",
) -> str:
    """Return the page as text."""
    several = (
        f" Copies: {copies}; figures are those of the first." if copies > 1 else ""
    )
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{evaluation.synthetic_rows:,} artificial records of "
        f"{len(evaluation.names)} variables: {escape(', '.join(evaluation.names))}."
        f"{several}</p>",
        verdict_block(evaluation),
        claim_block(claim),
        "<section><h2>How far statistics can be trusted</h2><p class=dim>Of the "
        "synthetic records, beside a bootstrap of the original records (what chance "
        "alone changes) and a file without any association.</p>"
        + _utility([v for v in evaluation.values if v.kind == "utility"])
        + "</section>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        + "\n".join(parts)
        + "</body></html>\n"
    )


def _utility(values: list[MetricValue]) -> str:
    rows = "".join(
        f"<tr><td>{escape(value.title)}</td>"
        f"<td>{'lower' if value.goal == 'minimise' else 'higher'} is better</td>"
        f"<td class=n>{_number(value.value)}</td>"
        + "".join(
            f"<td class=n>{_number(value.baselines[name])}</td>"
            if name in value.baselines
            else "<td></td>"
            for name in ("bootstrap", "independent")
        )
        + "</tr>"
        for value in values
    )
    return (
        "<div class=wide><table><thead><tr><th>measure</th><th></th>"
        "<th class=n>synthetic</th><th class=n>bootstrap</th>"
        "<th class=n>no association</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )
