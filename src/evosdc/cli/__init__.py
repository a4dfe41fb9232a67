"""The command line: one file a command, each a thin layer over the library."""

from evosdc.cli.app import main

__all__ = ["main"]
