"""The command line: one file per command, each a thin layer over the library."""

from evosdc.cli.app import main

__all__ = ["main"]
