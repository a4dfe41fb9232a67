"""Synthesise microdata: domain, operators, objectives, synthesiser."""

from evosdc.synth.copies import Combined, combine_estimates
from evosdc.synth.synthesiser import FrontPoint, Synthesiser

__all__ = ["Combined", "FrontPoint", "Synthesiser", "combine_estimates"]
