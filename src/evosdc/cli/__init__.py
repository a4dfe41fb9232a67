"""The command line: one file per command, each a thin layer over the library."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, which is imported here: Ctrl-C ends that quietly too."""
    try:
        from evosdc.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
