"""Microdata as codes: variables, domain, encoding, rules, guards of small groups."""
