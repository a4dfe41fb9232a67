"""What a run gives back: answers, verdicts, certificates and their claims."""

from evosdc.results.answers import (
    PUBLISHED,
    Certificate,
    Claim,
    Exposure,
    Protection,
    Verdict,
)

__all__ = ["PUBLISHED", "Certificate", "Claim", "Exposure", "Protection", "Verdict"]
