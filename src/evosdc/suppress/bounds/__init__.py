"""Lower bounds on the cost of every safe pattern."""
