"""The judge: attacker intervals, certificates of safety and their exact checker."""

from evosdc.attack.attackers import judge_attackers
from evosdc.attack.certificate import certificate_from_arrays
from evosdc.attack.checker import CheckReport, verify
from evosdc.attack.demands import strict_margin
from evosdc.attack.judge import intervals, judge
from evosdc.attack.proof import ProofReport, Requirements, check_proof
from evosdc.attack.proof_file import Proof, certificate_arrays, read_proof

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
