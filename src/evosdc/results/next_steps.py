"""Why a result may not leave the office and what to do: a sentence for each reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evosdc.metrics.evaluation import Measurements
from evosdc.metrics.memorisation_tests import FreshTest
from evosdc.results.verdict import PUBLISHED, Exposure, TableVerdict, Verdict
from evosdc.table import Table
from evosdc.table.status import FIXED, PRIMARY

_COARSER = (
    "combine codes or leave a variable out, so that these cells are not in the table"
)
_INTERRUPTED = "interrupted"
# Attacks by the key; the others find whole records.
_BY_KEY = ("found_keys", "guessed_targets", "certain_targets")


@dataclass(frozen=True)
class Searched:
    """How `protect` made the pattern that was judged.

    Attributes
    ----------
    ended
        Why the search ended, as in `Protection.reason`.
    late
        Whether the limit of time was over before the verdict was complete.
    beyond
        Whether some levels cannot be reached with everything hidden.
    """

    ended: str
    late: bool
    beyond: bool


def with_next_steps(
    verdict: TableVerdict,
    table: Table,
    *,
    earlier: NDArray[np.bool_],
    limited: bool,
    searched: Searched | None = None,
) -> TableVerdict:
    """Return the verdict with why it is not SAFE and what to do next.

    Parameters
    ----------
    table
        As judged.
    earlier
        Cells that are known from earlier publications.
    limited
        Whether there was a limit of time.
    searched
        How the pattern was made; None where it was given and only judged.
    """
    if verdict.ok:
        return verdict
    if verdict.ok is None:
        steps = [_to_judge(verdict, table, limited, searched)]
    else:
        steps = _to_protect(verdict, table, earlier, searched)
        if verdict.open:
            steps.append(_more_time(limited, searched))
    reasons = tuple(_reasons(verdict))
    return replace(verdict, reasons=reasons, next_steps=tuple(steps))


def _reasons(verdict: TableVerdict) -> list[str]:
    """Say why a table is not SAFE: no label, no interval."""
    reasons = []
    if verdict.exposed:
        cells = len(verdict.exposed_cells)
        reasons.append(f"{cells:,} of {verdict.judged:,} cells judged are exposed")
    if verdict.open:
        reasons.append(f"{len(verdict.open):,} questions were left open")
    return reasons or ["no rule looked for sensitive cells, and none was judged"]


def _to_judge(
    verdict: TableVerdict, table: Table, limited: bool, searched: Searched | None
) -> str:
    if verdict.open and table.origin.ring:
        return (
            "tabulate the linked tables together from the records (evosdc tabulate "
            "with several --by), so that the cells between them are known"
        )
    if verdict.open:
        return _more_time(limited, searched)
    return (
        "tabulate the records with the rules of your office (evosdc tabulate --rule "
        "p:10 --rule freq:3), or mark the sensitive cells (--hide, --apriori)"
    )


def _more_time(limited: bool, searched: Searched | None) -> str:
    if searched is not None and searched.ended == _INTERRUPTED:
        return "run it again to the end, with --resume where it left a checkpoint"
    if limited:
        return (
            "give more time (--time-limit), more --workers, or, to protect, a quicker "
            "method (--method hypercube)"
        )
    return (
        "the solver could not decide these cells: hide cells beside them as well "
        f"(--hide), or {_COARSER}"
    )


def _to_protect(
    verdict: TableVerdict,
    table: Table,
    earlier: NDArray[np.bool_],
    searched: Searched | None,
) -> list[str]:
    """One step for each kind of exposed cell."""
    shown = [e for e in verdict.exposed if e.reason == PUBLISHED]
    alone = [e for e in verdict.exposed if e.insider and e.reason != PUBLISHED]
    others = [e for e in verdict.exposed if not e.insider and e.reason != PUBLISHED]
    second = [e for e in others if table.status[e.cell] != PRIMARY]
    first = [e for e in others if table.status[e.cell] == PRIMARY]
    before = [e for e in shown if earlier[e.cell]]
    steps = []
    if before:
        steps.append(
            f"{_cells(len(before))} in an earlier publication and cannot be hidden any "
            "more: decide whether that is accepted, and make them safe (S in an "
            "--apriori file), so that the claim says it and the others are judged"
        )
    if len(before) < len(shown):
        steps.append(
            f"{_cells(len(shown) - len(before))} published as they are: hide them; "
            "evosdc protect hides every sensitive cell and what it needs"
        )
    if first:
        cells = "1 cell" if len(first) == 1 else f"{len(first):,} cells"
        steps.append(f"for {cells} {_levels(verdict, table, earlier, searched)}")
    if second:
        steps.append(_secondaries(second, searched))
    if alone:
        steps.append(_lone(alone, table, searched))
    return steps


def _levels(
    verdict: TableVerdict,
    table: Table,
    earlier: NDArray[np.bool_],
    searched: Searched | None,
) -> str:
    """What to do about sensitive cells that everyone estimates too closely."""
    if searched is None:
        return (
            "too little is hidden: evosdc protect finds a pattern that hides enough, "
            "or says which levels none can give"
        )
    if not searched.beyond:
        return (
            "the pattern hides too little: try a longer --time-limit, --method auto or "
            "another --seed, or hide cells beside them (--hide)"
        )
    steps = [_COARSER]
    if earlier.any():
        steps.append(
            "where they follow from earlier publications, decide whether that is "
            "accepted, and make them safe (S in an --apriori file)"
        )
    if bool(((table.status == FIXED) & (table.value != 0)).any()):
        steps.append("or let fixed cells be hidden (status z)")
    origin = table.origin
    if origin.counts and not origin.zeros and bool((table.lower > 0).any()):
        steps.append(
            "or hide empty cells as well (tabulate --rule group); or assume attackers "
            "who do not know that somebody is in every cell that is listed (--prior "
            "0:inf): they are weaker, and the claim then says so"
        )
    elif bool(np.isfinite(table.upper).any()) or bool((table.lower > 0).any()):
        steps.append("or widen what everyone is said to know (--prior, lower, upper)")
    steps.append(
        "or accept for these cells what can be had (--accept LABEL): the claim says so"
    )
    steps.append("or ask for lower levels (the numbers of the rules, lpl, upl, spl)")
    if verdict.strict:
        steps.append("or let levels be reached, not exceeded (without --strict)")
    return "no pattern gives the levels: " + "; ".join(steps)


def _secondaries(cells: Sequence[Exposure], searched: Searched | None) -> str:
    number = f"{len(cells):,} secondaries can be worked out"
    if searched is None:
        return (
            f"{number}: evosdc protect --protect-secondaries hides more around them; "
            "without --protect-secondaries only sensitive cells are judged"
        )
    return (
        f"{number}: give more time (--time-limit), or leave --protect-secondaries out "
        "if only sensitive cells must be safe: the claim then says so"
    )


def _lone(cells: Sequence[Exposure], table: Table, searched: Searched | None) -> str:
    number = len({e.cell for e in cells})
    lone = all(e.insider.startswith("the lone respondent") for e in cells)
    who = "lone respondents find" if lone else "attackers who know more find"
    what = f"{who} {number:,} cell{'s' * (number > 1)}: "
    if searched is None:
        return (
            f"{what}evosdc protect hides more against them; --attackers public judges "
            "without them: attackers are weaker then, and the claim says so"
        )
    more = "give more time (--time-limit); " if searched.late else ""
    named = table.holdings is not None
    consent = "name those who consent (tabulate --consent); " if named else ""
    return (
        f"{what}{more}{_COARSER}; {consent}or judge without them (--attackers public): "
        "attackers are weaker then, and the claim says so"
    )


def _cells(number: int) -> str:
    return f"{number:,} sensitive cell{' is' if number == 1 else 's are'}"


def release_verdict(found: Measurements) -> Verdict:
    """Return the verdict on synthetic records that were measured and attacked."""
    rows = (found.rows, found.synthetic_rows, found.holdout_rows)
    small = any(n is not None and n < 2 for n in rows)
    against = found.reasons
    steps = release_steps(found.tests, against, small=small) if against else ()
    return Verdict(not against, reasons=against, next_steps=steps)


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
