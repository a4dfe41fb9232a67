"""The tables of Almeida, Schuetz and Carvalho (2008): GenSup and its rivals."""

from __future__ import annotations

import re
from functools import partial

from benchmarks.experiments.experiment import Experiment
from benchmarks.experiments.published import GENSUP_FIGURES
from benchmarks.experiments.run import Instance
from evosdc.errors import InputError
from evosdc.instances import make

_NAME = re.compile(r"(class[12])-(\d+)x(\d+)")


def instance(family: str, number: int) -> Instance:
    """Make table `number` of a family named ``class1-ROWSxCOLUMNS`` or ``class2-``."""
    parts = _NAME.fullmatch(family)
    if parts is None:
        raise InputError(
            f"there is no family {family!r} in this experiment",
            expected="class1-ROWSxCOLUMNS or class2-ROWSxCOLUMNS",
            hint="for example: --families class1-100x100,class2-300x300",
        )
    kind, rows, columns = parts[1], int(parts[2]), int(parts[3])
    return Instance(
        family, number, partial(make, kind, number, rows=rows, columns=columns)
    )


EXPERIMENT = Experiment(
    name="gensup",
    title="GenSup on tables of classes I and II",
    about=(
        "The experiment of Almeida, Schuetz and Carvalho (2008), section 6: class I "
        "(values 0..499, 1..4 sensitive) up to 100x100 and class II (values 0..1000, "
        "20 % of inner and 10 % of marginal cells sensitive) up to 300x300. The source "
        "has fifteen sizes in each class but prints only their range; these are sizes "
        "across it."
    ),
    families=(
        "class1-50x20",
        "class1-50x50",
        "class1-100x100",
        "class2-50x20",
        "class2-50x50",
        "class2-100x100",
        "class2-200x100",
        "class2-300x300",
    ),
    methods=(
        "sp",
        "castro",
        "castro+recovery=false",
        "hypercube-2d",
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
    reference="hypercube-2d",
    published=GENSUP_FIGURES,
)
