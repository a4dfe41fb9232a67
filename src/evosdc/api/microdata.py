"""The verbs for microdata: inspect, synthesise, evaluate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evosdc.api.checkpoints import writing_generations
from evosdc.api.sources import verb
from evosdc.compile.clock import Clock, moment
from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.io.checkpoint import Checkpoint, as_checkpoint
from evosdc.io.delimited import formula_notes, text_columns
from evosdc.io.paths import PathLike
from evosdc.io.records import as_records
from evosdc.metrics import Measurements
from evosdc.options.copies import EvaluateKeywords, SynthesiseKeywords
from evosdc.options.declare import Seconds
from evosdc.results.synthetic import Evaluation, Synthesis, limits_exceeded
from evosdc.synth.compared_columns import measured

if TYPE_CHECKING:
    from evosdc.synth import Scenario, Synthesiser
    from evosdc.synth.inspecting import ColumnPlan


def inspect(frame: Any, **coding: Any) -> tuple[ColumnPlan, ...]:
    """Return of each column what it is and what a synthesis would do with it.

    `coding` are fields of `evosdc.synth.Coding`: `least`, `most_levels` and others.
    """
    from evosdc.synth import Coding
    from evosdc.synth.inspecting import inspect_columns

    return inspect_columns(to_arrow(as_records(frame)), Coding(**coding))


@verb({})
def synthesise(
    frame: Any,
    *,
    key: Sequence[str] | None = None,
    target: str | None = None,
    holdout: Any = None,
    copies: int = 1,
    time_limit: Seconds = "auto",
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
        None for no limit. ``"auto"`` is that of the `schedule`: a minute, or none
        where `generations` are given.
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

    SynthesiseKeywords(time_limit=time_limit, copies=copies)
    if time_limit != "auto":
        parameters["time_limit"] = time_limit
    model = Synthesiser(key, target, copies=copies, **parameters)
    attack = _attack(model.scenario)
    limit = model.schedule.seconds
    # What the evaluation may take, which comes after the search.
    reserve = 0.0 if limit is None else min(0.25 * limit, 30.0)
    model.set_params(time_limit=None if limit is None else limit - reserve)
    frame = as_records(frame)
    holdout = as_records(holdout, frame)
    kept = as_checkpoint(checkpoint, resume=resume)
    with (
        Clock(limit, on_compile) as clock,
        writing_generations(kept, model, to_arrow(frame)) as spent,
    ):
        clock.count(spent)
        made = _made(model.fit(frame), copies)
        notes = [*model.notes_, *_repeated_note(to_arrow(frame))]
        if spent:
            notes.append(f"the search went on from a checkpoint, after {spent:.0f} s")
        codes = text_columns(to_arrow(copy) for copy in made)
        model.notes_ = (*notes, *formula_notes(codes))
        if on_copies is not None:
            on_copies(made)
        model.options.say("evaluating")
        *others, last = model.domain_.names
        if not others and not attack:
            raise InputError(
                "the data have one column", expected="two or more, one to attack"
            )
        roles = {
            **(attack or {"key": others, "target": last}),
            "seed": model.seed,
            "fresh": model.small_groups_.fresh,
            "ours": True,
        }
        found = _evaluated(to_arrow(frame), made, holdout, roles, clock.left)
    if kept is not None and not kept.keep:
        kept.remove()
    limits = {} if model.scenario.risk_limit is None else model.risk_limits_
    risks = tuple(evaluation.risk for evaluation in found)
    evaluation = Evaluation.of(_joined(found, limits), model)
    return Synthesis(made, model, evaluation, risks)


def _attack(scenario: Scenario) -> dict[str, Any]:
    """Return key and target where they are named: both or none."""
    if scenario.key is None and scenario.target is None:
        return {}
    if scenario.key is None or scenario.target is None:
        raise InputError(
            "key or target is missing",
            expected="both, or none: then the last column is attacked from all others",
            hint="name what an attacker knows (key) and wants to learn (target)",
        )
    return {"key": scenario.known, "target": scenario.target}


def _made(model: Synthesiser, copies: int) -> tuple[Any, ...]:
    """Return the copies; of a front, points spread along it.

    Those that are not closer than a fresh sample come first in a front, and are taken
    unless all are closer, as they may be without a noise floor.
    """
    candidates = copies
    if model.trade_off.front:
        far = sum(not p.closer_than_fresh for p in model.front_)
        candidates = far or len(model.front_)
    numbers = np.unique(np.linspace(0, candidates - 1, copies).round().astype(int))
    return tuple(model.sample(number=int(number)) for number in numbers)


def _repeated_note(records: pa.Table) -> list[str]:
    """Say how many records agree with another one in every column."""
    plain = {
        str(k): column.cast(column.type.value_type)
        if pa.types.is_dictionary(column.type)
        else column
        for k, column in enumerate(records.columns)
    }
    grouped = pa.table(plain).group_by(list(plain)).aggregate([([], "count_all")])
    counts = grouped["count_all"]
    repeated = pc.sum(counts.filter(pc.greater(counts, 1))).as_py() or 0
    if not repeated:
        return []
    return [
        f"{repeated:,} of {records.num_rows:,} records of the original agree with "
        "another one in every column: check that none is in the file twice"
    ]


def _evaluated(
    frame: Any,
    copies: tuple[Any, ...],
    holdout: Any,
    roles: dict[str, Any],
    left: Callable[[], float],
) -> list[Measurements]:
    """Measure the first copy and attack all of them."""
    roles = {**roles, "left": left}
    # The verdict on every copy comes before what one of them is worth.
    others = [measured(frame, c, holdout, metrics=[], **roles) for c in copies[1:]]
    return [measured(frame, copies[0], holdout, **roles), *others]


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


@verb({})
def evaluate(
    original: Any,
    synthetic: Any,
    *,
    key: Sequence[str],
    target: str,
    holdout: Any = None,
    seed: int = 0,
    time_limit: Seconds = "auto",
    on_compile: Callable[[], object] | None = None,
) -> Evaluation:
    """Measure utility and risk of synthetic records and say what is not protected.

    Files are pandas, polars (lazy too) or Arrow frames, dicts of columns, or paths.
    `time_limit` is in seconds (``"auto"`` and None: no limit); what it leaves no time
    for is listed as not measured. Columns that the synthetic file lacks or that
    identify people are not compared; `left_out` says which and why.
    """
    keywords = EvaluateKeywords(time_limit=time_limit, seed=seed)
    original, start = as_records(original), moment()
    with Clock(keywords.seconds, on_compile) as clock:
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
