"""The tables of Almeida, Schuetz and Carvalho (2008): GenSup and its rivals."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.experiments.experiment import Experiment
from benchmarks.experiments.gensup_page import CASTROS, STEPS, write
from benchmarks.experiments.published import GENSUP_FIGURES
from benchmarks.experiments.run import Instance
from benchmarks.experiments.store import Row
from evosdc.errors import InputError
from evosdc.instances import make
from evosdc.instances.grid import Grid
from evosdc.instances.published import rows_and_columns
from evosdc.suppress.engine.network.state import TableNetwork
from evosdc.suppress.problem.problem import Problem
from evosdc.table import Table

_NAME = re.compile(r"(class1|dense1|class2)-(\d+)x(\d+)")


def dense(number: int, *, rows: int, columns: int) -> Table:
    """Make a table of class I with values of 0..49 instead of 0..499.

    Eight cells of a hundred are sensitive then, not eight of a thousand: only so are
    most levels covered by sensitive cells alone, as the source reports.
    """
    dims = rows_and_columns(rows, columns)
    values = np.random.default_rng(number).integers(0, 50, size=(rows, columns))
    grid = Grid.of(dims, values)
    primary = grid.inner & (grid.amount >= 1) & (grid.amount <= 4)
    return grid.table(primary, np.maximum(grid.amount - 1, 0), grid.amount)


def instance(family: str, number: int) -> Instance:
    """Make table `number` of a family named ``class1-ROWSxCOLUMNS``, ``class2-``."""
    parts = _NAME.fullmatch(family)
    if parts is None:
        raise InputError(
            f"there is no family {family!r} in this experiment",
            expected="class1-, dense1- or class2-ROWSxCOLUMNS",
            hint="for example: --families class1-100x100,class2-300x300",
        )
    kind, rows, columns = parts[1], int(parts[2]), int(parts[3])
    load: Callable[[], Table]
    if kind == "dense1":
        load = partial(dense, number, rows=rows, columns=columns)
    else:
        load = partial(make, kind, number, rows=rows, columns=columns)
    return Instance(family, number, load)


def describe(table: Table) -> Row:
    """Count the levels of a table, and those that sensitive cells cover alone."""
    network = TableNetwork(Problem.of(table))
    return {"levels": network.dropped + len(network), "redundant": network.dropped}


EXPERIMENT = Experiment(
    name="gensup",
    title="GenSup on tables of classes I and II",
    about=(
        "The experiment of Almeida, Schuetz and Carvalho (2008), section 6: class I "
        "(values 0..499, 1..4 sensitive) up to 100x100 and class II (values 0..1000, "
        "20 % of inner and 10 % of marginal cells sensitive) up to 300x300. The source "
        "has fifteen sizes in each class but prints only their range; these are sizes "
        "across it. `dense1` is class I with values 0..49."
    ),
    families=(
        "class1-50x20",
        "class1-50x50",
        "class1-100x100",
        "dense1-50x20",
        "dense1-40x30",
        "dense1-50x50",
        "dense1-100x50",
        "dense1-100x100",
        "dense1-150x150",
        "dense1-320x100",
        "class2-50x20",
        "class2-50x50",
        "class2-100x100",
        "class2-200x100",
        "class2-300x300",
    ),
    methods=(
        "sp",
        "castro",
        *(name for name, _ in CASTROS if name != "castro"),
        "hypercube-2d",
        "kelly",
        "pbp",
        "gensup",
        *(name for name, _ in STEPS if name != "gensup"),
        "gapn",
        "heurgene",
        "ls-ruin@5",
        "optimal@5",
        "hybrid@5",
    ),
    instance=instance,
    reference="hypercube-2d",
    published=GENSUP_FIGURES,
    facts=(("levels", "redundant"), describe),
    write=write,
)
