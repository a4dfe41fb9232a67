"""How copies are evolved: moves, breeding, populations, initial models."""
