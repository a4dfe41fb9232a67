"""One self-contained HTML page about a protected table."""

from evosdc.report.page import report_html

__all__ = ["report_html"]
