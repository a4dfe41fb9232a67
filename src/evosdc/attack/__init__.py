"""The judge: attacker intervals, certificates of safety and their exact checker."""

from evosdc.attack.attackers import judge_attackers
from evosdc.attack.certificate import (
    Proof,
    certificate_arrays,
    certificate_from_arrays,
    read_proof,
)
from evosdc.attack.checker import CheckReport, verify
from evosdc.attack.judge import intervals, judge
from evosdc.attack.model import strict_margin
from evosdc.attack.proof import ProofReport, Requirements, check_proof

__all__ = [
    "CheckReport",
    "Proof",
    "ProofReport",
    "Requirements",
    "certificate_arrays",
    "certificate_from_arrays",
    "check_proof",
    "intervals",
    "judge",
    "judge_attackers",
    "read_proof",
    "strict_margin",
    "verify",
]
