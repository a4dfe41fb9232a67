"""What to do about a synthetic file that is not fit for release."""

from __future__ import annotations

from collections.abc import Sequence

from evosdc.metrics.fresh import FreshTest

# Attacks by the key; the others find whole records.
_BY_KEY = ("found_keys", "guessed_targets", "certain_targets")


def release_steps(
    tests: Sequence[FreshTest], reasons: Sequence[str], *, small: bool
) -> tuple[str, ...]:
    """Return a sentence for each kind of reason against a release.

    Parameters
    ----------
    tests
        The attacks that were made; none where they could not be.
    reasons
        All that speaks against a release.
    small
        Whether a file has fewer than two records, too few for any attack.
    """
    failed = {test.name for test in tests if not test.passed}
    steps = []
    if failed & set(_BY_KEY):
        steps.append(
            "people are found by their key: synthesise with a lower --risk-limit, a "
            "larger --min-group, or fewer and coarser columns (--exclude, --bins)"
        )
    if failed - set(_BY_KEY):
        steps.append(
            "whole records of people are repeated: synthesise all columns (without "
            "--columns), with the noise floor (without --no-noise-floor) and a larger "
            "--min-group; never release records that were copied from the original"
        )
    if not tests:
        steps.append(
            "give files of two records or more, so that the attacks can be made"
            if small
            else "let it run to the end, with more time (--time-limit), so that the "
            "attacks are made"
        )
    made = sum(not test.passed for test in tests) if tests else 1
    if len(reasons) > made:
        steps.append(
            "for the other reasons (limits, members told from others, identifiers, "
            "further copies): synthesise again with more time (--time-limit), a larger "
            "--min-group or fewer columns (--exclude)"
        )
    return tuple(steps)
