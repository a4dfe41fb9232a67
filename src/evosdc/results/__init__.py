"""What a run gives back: verdicts, claims and certificates, results and their folders.

The names here are what the judge and the reports share. The results themselves, which
write folders and reports, are in `tables` and `synthetic`, above the judge and the
reports.
"""

from evosdc.results.verdict import (
    PUBLISHED,
    RECORD_QUESTIONS,
    TABLE_QUESTIONS,
    Certificate,
    Claim,
    Exposure,
    TableVerdict,
    Verdict,
)

__all__ = [
    "PUBLISHED",
    "RECORD_QUESTIONS",
    "TABLE_QUESTIONS",
    "Certificate",
    "Claim",
    "Exposure",
    "TableVerdict",
    "Verdict",
]
