"""Kinds of columns, whatever an engine calls its types."""

TEXT, WHOLE, FRACTION, TRUTH, OTHER = "text", "whole", "fraction", "truth", "other"
NUMBERS = (WHOLE, FRACTION, TRUTH)
