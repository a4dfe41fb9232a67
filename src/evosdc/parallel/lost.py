"""When a task is given up."""

from __future__ import annotations

from evosdc.errors import EvosdcError

# A task that has lost so many workers is what kills them.
LIVES = 3


class LostWorkerError(EvosdcError):
    """Workers were lost again and again with the same task."""

    def __init__(self, hint: str) -> None:
        super().__init__(
            f"a task lost {LIVES} worker processes, one after another",
            expected="workers that live: was memory short?",
            hint=hint,
        )
