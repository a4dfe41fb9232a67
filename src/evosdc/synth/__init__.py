"""Synthesise microdata: domain, operators, objectives, synthesiser."""

from evosdc.synth.combining_rules import Combined, combine_estimates
from evosdc.synth.data.options import Coding, Logic
from evosdc.synth.fit import FrontPoint
from evosdc.synth.objective.copy_distances import copy_distances
from evosdc.synth.objective.options import Scenario, TradeOff
from evosdc.synth.search.options import Operators, Schedule
from evosdc.synth.synthesiser import Synthesiser

__all__ = [
    "Coding",
    "Combined",
    "FrontPoint",
    "Logic",
    "Operators",
    "Scenario",
    "Schedule",
    "Synthesiser",
    "TradeOff",
    "combine_estimates",
    "copy_distances",
]
