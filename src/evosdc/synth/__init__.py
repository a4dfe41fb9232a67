"""Synthesise microdata: domain, operators, objectives, synthesiser."""
