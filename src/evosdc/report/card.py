"""The card of a result in a notebook: verdict and claim, nothing of the table.

A notebook is saved with what it shows and passed on, so that no value, no cost, no
label and no interval may be on the card.
"""

from __future__ import annotations

from evosdc.report.kit.parts import banner, esc
from evosdc.report.verdict import Headline, claim_section, next_section
from evosdc.results import Claim, Verdict

# For the card alone: the style sheet of a page would change the whole notebook.
_STYLE = (
    ".evosdc-card .verdict{border-left:8px solid gray;padding:.2rem 1rem}"
    ".evosdc-card .verdict.safe{border-color:#1d6b45}"
    ".evosdc-card .verdict.bad{border-color:#a32018}"
    ".evosdc-card .verdict.open{border-color:#7a5200}"
    ".evosdc-card h2{font-size:1.1rem;margin:.4rem 0}"
    ".evosdc-card th,.evosdc-card td{text-align:left;vertical-align:top}"
)


def card_html(found: Headline, verdict: Verdict, claim: Claim) -> str:
    """Write a verdict and what it states, as part of a page."""
    return (
        f'<div class="evosdc-card"><style>{_STYLE}</style>'
        + banner(found.kind, esc(found.line), esc(found.text))
        + next_section(verdict)
        + claim_section(claim, "proved" if found.kind == "safe" else "asked")
        + "</div>"
    )
