"""Run a published experiment again: `python -m benchmarks gensup -o results`."""

from __future__ import annotations

from benchmarks.command import main

# Workers import this file too.
if __name__ == "__main__":
    main()
