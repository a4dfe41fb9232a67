"""The best method the house has: what `auto` runs on every table."""

from __future__ import annotations

FLAGSHIP = "hybrid"
