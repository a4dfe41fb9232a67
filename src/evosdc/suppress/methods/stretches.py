"""How long other workers search before they come home with what they have found."""

from __future__ import annotations

# Seconds of the first stretch, how much longer each one is, and the longest.
_FIRST, _LONGER, _LONGEST = 2.0, 1.5, 10.0
# Before this many seconds, and with less left, no worker is called.
SHORT = 3.0
# Seconds before the end at which all come home, and how long they are waited for.
HOMEWARD, LATE, NAP = 1.0, 2.0, 0.02


def stretch_length(number: int) -> float:
    """Seconds of a stretch: short ones first, so that what is found travels soon."""
    return float(min(_LONGEST, _FIRST * _LONGER**number))
