"""Bounds on the optimum, and proofs."""
