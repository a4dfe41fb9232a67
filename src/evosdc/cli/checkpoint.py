"""Which checkpoint a run of `protect` or `synthesise` writes, and goes on from."""

from __future__ import annotations

from pathlib import Path

from evosdc.errors import InputError
from evosdc.io.checkpoint import Checkpoint, remove_checkpoint
from evosdc.results.folder import CHECKPOINT, CONFIDENTIAL

# Runs of up to so many seconds are repeated sooner than resumed.
_SHORT = 60.0


def checkpoint_for(
    output: Path,
    named: Path | None,
    seconds: float | None,
    *,
    off: bool,
    resume: bool,
    force: bool,
) -> tuple[Checkpoint | None, bool]:
    """Return the checkpoint, and whether files in the output folder may be replaced.

    Who goes on from the checkpoint in the output folder may: the rest of what is there
    is of the same run, or was given up by it. `seconds` is the limit of the run.
    """
    if off and (resume or named is not None):
        other = "--resume" if resume else "--checkpoint"
        raise InputError(
            f"both --no-checkpoint and {other} are given",
            expected="one of the two",
            hint="leave --no-checkpoint out",
        )
    default = output / CONFIDENTIAL / CHECKPOINT
    path = default if named is None else named
    left = default.exists()
    if left and not (resume or force):
        raise InputError(
            f"there is a checkpoint of a run that was cut short: {default}",
            expected="a new or an empty folder, or --resume",
            hint="give --resume to go on from it, or --force to start afresh",
        )
    Checkpoint(default, resume=resume, force=force).refuse_existing()
    long = seconds is None or seconds > _SHORT
    if off or not (long or resume or named is not None):
        return None, force
    kept = Checkpoint(
        path, resume=resume, force=force, keep=True, in_result=path == default
    )
    kept.refuse_existing()
    return kept, force or (resume and path == default and left)


def forget(output: Path, kept: Checkpoint | None, *, force: bool) -> None:
    """Remove the checkpoint of a run whose answer is written.

    With `force` also what an earlier run left in the folder.
    """
    if kept is not None:
        kept.remove()
    if force:
        remove_checkpoint(output / CONFIDENTIAL / CHECKPOINT)
