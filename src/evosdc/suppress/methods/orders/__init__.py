"""Evolve the order in which sensitive cells are protected (Smith et al. 2011)."""
