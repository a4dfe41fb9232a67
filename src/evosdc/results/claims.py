"""The claim of a verdict, from those who know: one function for each of the jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.metrics.evaluation import Measurements
from evosdc.results.verdict import Claim, TableVerdict
from evosdc.table import Table, linked_parts
from evosdc.table.attackers import LONE, PAIRS, knows_contributors, lone_respondents
from evosdc.table.knowledge import all_whole, knowledge_words
from evosdc.table.parts import unlinked_in
from evosdc.table.status import PRIMARY

# The rule of a minimum number of contributors, as origins name it.
_FREQUENCY = "freq"


def claim_of(
    table: Table,
    verdict: TableVerdict,
    *,
    strict: bool,
    secondaries: bool,
    earlier: Sequence[str] = (),
    known: NDArray[np.bool_] | None = None,
    bound: str | None = None,
    attackers: str = LONE,
    coalitions: int = 0,
) -> Claim:
    """Write down what a verdict states.

    Parameters
    ----------
    table
        The table as judged, with its statuses.
    earlier
        What each earlier publication was, in words.
    known
        The cells that these give away.
    attackers, coalitions
        Which attackers were asked about, and how many coalitions.
    bound
        Where the lower bound of the cost comes from, if there is one.
    """
    return Claim(
        rules=_rules(table),
        levels=_levels(table, secondaries),
        knowledge="; ".join([knowledge_words(table), *_whole(table, verdict)]),
        insiders=insider_words(table, verdict.insiders, attackers, coalitions),
        publication=_publication(table, earlier, known),
        strictness=("levels must be exceeded" if strict else "levels must be reached"),
        proof=_proof(verdict, bound),
    )


def insider_words(
    table: Table, insiders: int | None, kind: str = LONE, coalitions: int = 0
) -> str:
    """Say who was taken for an attacker other than the public, or that nobody was."""
    sensitive = int((table.status == PRIMARY).sum())
    others = dominant_words(table)
    if insiders is None:
        why = (
            "the table does not say who contributes"
            if not knows_contributors(table)
            else "switched off"
        )
        return (
            f"not judged against lone respondents: {sensitive:,} cells ({why}){others}"
        )
    if kind == LONE and not coalitions:
        own = int(((lone_respondents(table) >= 0) & table.shown).sum())
        who = f"each of {insiders:,} lone respondents, who know their own {own:,} cells"
    else:
        who = f"each of {insiders:,} attackers who know more than everyone"
    if kind == PAIRS:
        who += ": the two largest contributors of each cell, and lone respondents"
        others = ""
    shared = (
        "not against several who share what they know"
        if not coalitions
        else f"{coalitions:,} coalitions, who share what they know, among them"
    )
    how = (
        "recognised wherever they are alone"
        if table.respondent is not None
        else "told apart by totals only, numbers of contributors as given"
    )
    return f"{who} ({how}); {shared}{others}"


def dominant_words(table: Table) -> str:
    """Say of how many cells somebody knows nearly all without being alone there."""
    found = table.origin.dominated
    if found is None:
        return (
            ""
            if table.origin.counts
            else "; nor against contributors who dominate a cell: not known how many"
        )
    if not found.sensitive and not found.others:
        return ""
    cells = f"{found.sensitive:,} sensitive cells"
    if found.others:
        cells += f" (and {found.others:,} others, where they are hidden)"
    return (
        f"; nor against the largest contributors of {cells} who are not alone there "
        f"but leave the others less than {100 * found.limit:.3g} % of what they have: "
        "what these derive of others was not judged"
    )


def _whole(table: Table, verdict: TableVerdict) -> list[str]:
    """Say whether combinations of whole numbers were judged, where they can be."""
    if not table.origin.in_whole:
        denied = "not known to be whole numbers, though all of them are"
        return [denied] if all_whole(table) else []
    if not verdict.judged:
        return []
    if verdict.whole:
        return ["combinations of whole numbers were judged"]
    return [
        "intervals were rounded inwards to whole numbers; combinations of whole "
        "numbers were not judged"
    ]


def _rules(table: Table) -> str:
    origin = table.origin
    sensitive = int((table.status == PRIMARY).sum())
    if origin.rules is None:
        words = f"statuses as given with the table: {sensitive:,} cells sensitive"
    elif not origin.rules:
        words = "no rule: nobody looked for sensitive cells"
        if sensitive:
            words += f"; {sensitive:,} cells sensitive by hand"
    else:
        each = ", ".join(f"{rule} ({count:,} cells)" for rule, count in origin.rules)
        words = (
            f"{each}; {sensitive:,} cells sensitive in all"
            if sensitive
            else f"no cell is sensitive under {each}"
        )
    if origin.weighting:
        words += f"; {origin.weighting}"
    if origin.by_hand:
        words += "; then changed by hand: " + "; ".join(origin.by_hand)
    if origin.waived:
        words += f"; {origin.waived:,} contributors consented and were passed over"
    counting = any(rule.startswith(_FREQUENCY) for rule, _ in origin.rules or ())
    if counting and origin.count_zeros is not None:
        how = "count" if origin.count_zeros else "do not count"
        words += f"; contributors of zero {how} for the minimum frequency"
    return words


def _levels(table: Table, secondaries: bool) -> str:
    cells = table.status == PRIMARY
    bare = int((cells & (table.upl == 0) & (table.lpl == 0) & (table.spl == 0)).sum())
    source = (
        "levels as given with the table"
        if table.origin.rules is None
        else "levels by the rules' formulas"
    )
    words = [source]
    if table.origin.floor:
        words.append(f"at least {table.origin.floor:g} where they are a share")
    words.append("no sensitive cell may be worked out exactly")
    if bare:
        words.append(f"{bare:,} cells have no other level")
    if table.origin.whole and not table.origin.counts:
        words.append(
            f"at least one unit, in whole numbers: {table.origin.raised:,} cells had "
            "levels that were rounded up"
        )
    if secondaries:
        words.append("nor any secondary")
    return "; ".join(words)


def _publication(
    table: Table, earlier: Sequence[str], known: NDArray[np.bool_] | None
) -> str:
    if table.unshown is not None:
        table = table.visible()
    parts = len(linked_parts(table))
    what = "this table on its own" if parts == 1 else f"{parts} linked tables together"
    unsure = "; ".join(unlinked_in(table))
    if unsure:
        what = f"{parts} tables, linked as far as their variables are known ({unsure})"
    words = f"{what}: {len(table):,} cells, {int(table.hidden.sum()):,} of them hidden"
    if table.origin.ring:
        words += (
            "; they hang together in a ring: what follows from cells that none of them "
            "shows is not judged (tabulate them together from the records)"
        )
    if not earlier:
        return words + "; no earlier publication was named"
    cells = 0 if known is None else int(known.sum())
    listed = "; ".join(earlier)
    return f"{words}; {cells:,} cells are known from before: {listed}"


def _proof(verdict: TableVerdict, bound: str | None) -> str:
    if not verdict.judged:
        return "no cell had to be judged"
    how = (
        "witness tables, each checked in exact arithmetic"
        if verdict.exact
        else f"witness tables that hold to {verdict.tolerance:.1e} of a cell"
    )
    words = f"{verdict.judged:,} cells judged by {how}"
    if verdict.exposed:
        words += f"; {len(verdict.exposed_cells):,} cells are exposed"
    if verdict.open:
        words += f"; left open: {len(verdict.open):,}"
    if bound is not None:
        words += f"; lower bound of the cost by {bound}"
    return words


def synthetic_claim_of(evaluation: Measurements, model: Any = None) -> Claim:
    """Return the claim of an evaluation; of a synthesis where its model is given."""
    return Claim(
        scenario=_scenario(evaluation, model),
        coding=_coding(evaluation, model),
        small_groups=_small_groups(model),
        closeness=_closeness(evaluation, model),
        holdout=_holdout(evaluation),
        guarantee="none",
    )


def _scenario(evaluation: Measurements, model: Any) -> str:
    known = {*evaluation.key, evaluation.target}
    others = [name for name in evaluation.names if name not in known]
    beyond = "other keys and targets: not tested"
    if others:
        beyond += f" (among them {', '.join(others)})"
    if model is not None and model.scenario.target is None:
        # A scenario that nobody stated is attacked, and was no limit of the search.
        beyond = f"assumed, and no risk limited in the search; {beyond}"
    return (
        f"an intruder who knows {', '.join(evaluation.key)} and wants "
        f"{evaluation.target}; {beyond}"
    )


def _coding(evaluation: Measurements, model: Any) -> str:
    where = (
        "in the evaluation" if model is None else "in the search and in the evaluation"
    )
    text = f"keys as they are in the file, {where}; {evaluation.target} "
    text += "in 20 classes" if evaluation.target_in_classes else "as it is"
    if model is not None:
        most, bins = model.coding.most_levels, model.coding.bins
        many = "many" if most is None else f"over {most}"
        bins = bins if isinstance(bins, int) else "given"
        text += f"; distances of the search: numbers of {many} values in {bins} bins"
    return text


def _small_groups(model: Any) -> str:
    """Take what the model says of small groups."""
    if model is None:
        return "not guarded"
    said = str(model.small_groups_.claim())
    if model.coding.pool > 0:
        said += f"; levels of fewer than {model.coding.pool} records counted as one"
    return said


def _closeness(evaluation: Measurements, model: Any) -> str:
    tested = "tested" if evaluation.tests else "not tested"
    if model is None:
        return f"{tested} against a fresh sample"
    if model.trade_off.noise_floor:
        return (
            "no table followed closer than a sample drawn anew would be (noise floor), "
            f"the full table no closer than a fresh sample; {tested}"
        )
    return f"as close as can be (noise floor switched off), {tested}"


def _holdout(evaluation: Measurements) -> str:
    if evaluation.holdout_rows is None:
        return (
            "no hold-out kept; the original's halves stood in for people who are not "
            "in the data"
        )
    return f"attacked with {evaluation.holdout_rows:,} people who are not in the data"
