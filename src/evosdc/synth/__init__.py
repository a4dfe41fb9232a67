"""Synthesise microdata: domain, operators, objectives, synthesiser."""

from evosdc.synth.between import copy_distances
from evosdc.synth.copies import Combined, combine_estimates
from evosdc.synth.data.domain import Coding
from evosdc.synth.data.logic import Logic
from evosdc.synth.objective.scenario import Scenario
from evosdc.synth.objective.trade_off import TradeOff
from evosdc.synth.search.operators import Operators
from evosdc.synth.search.schedule import Schedule
from evosdc.synth.synthesiser import FrontPoint, Synthesiser

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
