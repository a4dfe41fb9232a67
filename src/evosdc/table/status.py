"""The four statuses of a cell, as tau-Argus writes them in JJ files."""

from __future__ import annotations

SAFE = "s"
PRIMARY = "u"
SECONDARY = "m"
FIXED = "z"  # a zero known to everyone, or a cell that must stay published

STATUSES = (SAFE, PRIMARY, SECONDARY, FIXED)
HIDDEN = (PRIMARY, SECONDARY)
# Protection levels: below, above, and of the whole interval.
LEVELS = ("lpl", "upl", "spl")
