"""The seven data sets of Herrington (2015): HeurGene and its rivals."""

from __future__ import annotations

from functools import partial

from benchmarks.experiments.experiment import Experiment
from benchmarks.experiments.heurgene_page import (
    BY_CIRCUITS,
    CLEANED_CUBE,
    STEPS,
    UNPRUNED,
    WISHES,
    write,
)
from benchmarks.experiments.published import (
    HEURGENE,
    HEURGENE_FIGURES,
    HYPERCUBE,
    STRATEGIES,
    portfolio,
)
from benchmarks.experiments.run import Instance
from evosdc.errors import InputError
from evosdc.instances import make

FAMILIES = tuple(f"heurgene-{dataset}" for dataset in range(1, 8))


def instance(family: str, number: int) -> Instance:
    """Make table `number` of data set ``heurgene-1`` to ``heurgene-7``."""
    if family not in FAMILIES:
        raise InputError(
            f"there is no family {family!r} in this experiment",
            expected=f"one of {', '.join(FAMILIES)}",
        )
    dataset = int(family.removeprefix("heurgene-"))
    return Instance(family, number, partial(make, "heurgene", number, dataset=dataset))


EXPERIMENT = Experiment(
    name="heurgene",
    title="HeurGene on its seven data sets",
    about=(
        "The experiment of Herrington (2015), chapter 4: real values 0..1000, levels "
        "of 10 % both ways. Sets 1 to 3 are 100x100 with 0.5, 1 and 3 % sensitive "
        "cells; sets 4 to 6 are 400x250 with the same shares, set 7 has 0.25 %. The "
        "source's times leave out making the first population; ours include it. "
        f"`{HYPERCUBE}` is the source's HyperCube, `{HEURGENE}` its HeurGene to the "
        "letter, `heurgene` ours."
    ),
    families=FAMILIES,
    methods=(
        HYPERCUBE,
        CLEANED_CUBE,
        CLEANED_CUBE + UNPRUNED,
        HEURGENE,
        *(portfolio(name) for name in STRATEGIES[:-1]),
        *(name for name, _ in STEPS if name not in (HEURGENE, "heurgene")),
        *(name for name, _ in WISHES if name != "heurgene"),
        HYPERCUBE + BY_CIRCUITS,
        HEURGENE + BY_CIRCUITS,
        HEURGENE + "+generations=0",
        HEURGENE + "+mutation=none",
        "sp",
        "castro",
        "hypercube-2d+skip-covered=true",
        "kelly",
        "pbp",
        "gensup",
        "gapn",
        "heurgene",
        "ls-ruin@5",
        "optimal@5",
        "hybrid@5",
    ),
    instance=instance,
    reference=HYPERCUBE,
    published=HEURGENE_FIGURES,
    write=write,
)
