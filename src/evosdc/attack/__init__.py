"""The judge: attacker intervals, certificates of safety and their exact checker."""

from evosdc.attack.certificate import certificate_arrays, certificate_from_arrays
from evosdc.attack.checker import CheckReport, verify
from evosdc.attack.demands import strict_margin
from evosdc.attack.insiders import judge_insiders
from evosdc.attack.judge import intervals, judge

__all__ = [
    "CheckReport",
    "certificate_arrays",
    "certificate_from_arrays",
    "intervals",
    "judge",
    "judge_insiders",
    "strict_margin",
    "verify",
]
