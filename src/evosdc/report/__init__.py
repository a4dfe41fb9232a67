"""Self-contained HTML pages about a protected table: one confidential, one to share."""

from evosdc.report.card import card_html
from evosdc.report.page import report_html
from evosdc.report.share import share_html
from evosdc.report.verdict import Headline, cut_before_use, headline, savings, wide_gap

__all__ = [
    "Headline",
    "card_html",
    "cut_before_use",
    "headline",
    "report_html",
    "savings",
    "share_html",
    "wide_gap",
]
