"""The verbs of the second job: synthesise, evaluate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np

from evosdc.api.records import as_records, repeated_note
from evosdc.api.synthesis_checkpoint import keeping
from evosdc.compile.clock import Clock, moment
from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.io.checkpoint import Checkpoint, as_checkpoint
from evosdc.io.paths import PathLike
from evosdc.io.text import formula_notes, text_columns
from evosdc.metrics import Measurements
from evosdc.options import checked
from evosdc.results.synthetic import Evaluation, Synthesis, limits_exceeded
from evosdc.synth.compared_columns import measured

if TYPE_CHECKING:
    from evosdc.synth import Scenario, Synthesiser


@checked({"copies": 1})
def synthesise(
    frame: Any,
    *,
    key: Sequence[str] | None = None,
    target: str | None = None,
    holdout: Any = None,
    copies: int = 1,
    time_limit: float | EllipsisType | None = ...,
    on_copies: Callable[[tuple[Any, ...]], object] | None = None,
    on_compile: Callable[[], object] | None = None,
    checkpoint: PathLike | Checkpoint | None = None,
    resume: bool = False,
    **parameters: Any,
) -> Synthesis:
    """Evolve synthetic microdata and evaluate them.

    Parameters
    ----------
    frame
        The real records: pandas, polars (lazy too), Arrow, a dict of columns or a path;
        the copies are of the same kind, those of a file are Arrow tables.
    key, target
        What an attacker knows and what he wants to learn; or give a `scenario`.
    holdout
        Other real records, of any of these kinds, for the membership test of the
        evaluation.
    copies
        How many synthetic copies; in Pareto mode points spread along the front, of
        those that are not closer to the original than a fresh sample would be.
    time_limit
        Seconds for everything, the evaluation too; compiling kernels does not count.
        By default that of the `schedule`: a minute. None for no limit.
    on_copies
        Called with the copies before they are evaluated, to have them on disk.
    on_compile
        Called where kernels have to be compiled first.
    checkpoint, resume
        A file that the candidates are written to every ten seconds, for its owner only
        and gone when the copies are there; and whether to go on from it, with the same
        records and options. Limits of time and generations may be others than before,
        and what was spent counts.
    parameters
        Of `evosdc.synth.Synthesiser`: `scenario`, `trade_off`, `coding`, `operators`,
        `schedule` and others, or the fields of these objects by keyword.
    """
    from evosdc.synth import Synthesiser

    if time_limit is not ...:
        parameters["time_limit"] = time_limit
    model = Synthesiser(key, target, copies=copies, **parameters)
    given = _attack(model.scenario)
    limit = model.schedule.time_limit
    if limit is not None:
        model.set_params(time_limit=limit - _reserve(limit))
    frame = as_records(frame)
    holdout = as_records(holdout, frame)
    kept = as_checkpoint(checkpoint, resume=resume)
    with (
        Clock(limit, on_compile) as clock,
        keeping(kept, model, to_arrow(frame)) as spent,
    ):
        clock.count(spent)
        made = _made(model.fit(frame), copies)
        model.notes_ = (*model.notes_, *repeated_note(to_arrow(frame)))
        if spent:
            resumed = f"the search went on from a checkpoint, after {spent:.0f} s"
            model.notes_ = (*model.notes_, resumed)
        codes = text_columns(to_arrow(copy) for copy in made)
        model.notes_ = (*model.notes_, *formula_notes(codes))
        if on_copies is not None:
            on_copies(made)
        roles = {**(given or _assumed(model)), "seed": model.seed}
        model.options.say("evaluating")
        roles |= {"fresh": model.small_groups_.fresh, "ours": True}
        found = _evaluated(to_arrow(frame), made, holdout, roles, clock.left)
    if kept is not None and not kept.keep:
        kept.remove()
    limits = {} if model.scenario.risk_limit is None else model.risk_limits_
    risks = tuple(evaluation.risk for evaluation in found)
    evaluation = Evaluation.of(_joined(found, limits), model)
    return Synthesis(made, model, evaluation, risks)


def _assumed(model: Synthesiser) -> dict[str, Any]:
    """Return an attack where none is named: the last column from all the others."""
    *known, target = model.domain_.names
    if not known:
        raise InputError(
            "the data have one column", expected="two or more, one to attack"
        )
    return {"key": known, "target": target}


def _attack(scenario: Scenario) -> dict[str, Any] | None:
    """Return key and target as far as they are named; both or none."""
    if scenario.key is None and scenario.target is None:
        return None
    if scenario.key is None or scenario.target is None:
        raise InputError(
            "key or target is missing",
            expected="both, or none: then the last column is attacked from all others",
            hint="name what an attacker knows (key) and wants to learn (target)",
        )
    return {"key": scenario.known, "target": scenario.target}


def _made(model: Synthesiser, copies: int) -> tuple[Any, ...]:
    """Return the copies; of a front, points spread along it."""
    candidates = _eligible(model) if model.trade_off.front else copies
    numbers = np.unique(np.linspace(0, candidates - 1, copies).round().astype(int))
    return tuple(model.sample(number=int(number)) for number in numbers)


def _reserve(time_limit: float) -> float:
    """Return what of a time limit the search leaves for the evaluation."""
    return min(0.25 * time_limit, 30.0)


def _evaluated(
    frame: Any,
    copies: tuple[Any, ...],
    holdout: Any,
    roles: dict[str, Any],
    left: Callable[[], float],
) -> list[Measurements]:
    """Measure the first copy and attack all of them."""
    # The verdict on every copy comes before what one of them is worth.
    others = [
        measured(frame, copy, holdout, metrics=[], left=left, **roles)
        for copy in copies[1:]
    ]
    return [measured(frame, copies[0], holdout, left=left, **roles), *others]


def _joined(found: Sequence[Measurements], limits: Mapping[str, float]) -> Measurements:
    """Return the evaluation of the first copy with a verdict on all of them.

    Each has to meet the `limits` of the user.
    """
    reasons: list[str] = []
    for number, evaluation in enumerate(found, 1):
        against = [*evaluation.reasons, *limits_exceeded(limits, evaluation.risk)]
        reasons += [f"copy {number}: {r}" if number > 1 else r for r in against]
    if not reasons:
        return found[0]
    return replace(found[0], reasons=tuple(reasons))


def _eligible(model: Any) -> int:
    """Count the points of a front that copies are taken from; they come first.

    Where every point is closer than a fresh sample, as without a noise floor, all are.
    """
    far = sum(not p.closer_than_fresh for p in model.front_)
    return far or len(model.front_)


@checked({"seed": 0, "time_limit": 0})
def evaluate(
    original: Any,
    synthetic: Any,
    *,
    key: Sequence[str],
    target: str,
    holdout: Any = None,
    seed: int = 0,
    time_limit: float | None = None,
    on_compile: Callable[[], object] | None = None,
) -> Evaluation:
    """Measure utility and risk of synthetic records and say what is not protected.

    Files are pandas, polars (lazy too) or Arrow frames, dicts of columns, or paths.
    What `time_limit` leaves no time for is listed as not measured. Columns that the
    synthetic file lacks or that identify people are not compared; `left_out` says which
    and why.
    """
    original, start = as_records(original), moment()
    with Clock(time_limit, on_compile) as clock:
        found = measured(
            original,
            as_records(synthetic, original),
            as_records(holdout, original),
            key=key,
            target=target,
            seed=seed,
            left=clock.left,
        )
    return Evaluation.of(found, seconds=moment() - start)
