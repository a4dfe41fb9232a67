"""General tables: attacker LPs, local problems, unpicking."""
