"""Boxes need dimensions, and the equations of a table without labels tell them."""

from __future__ import annotations

from dataclasses import replace

import evosdc
from evosdc.instances import make
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method
from evosdc.table import Table


def without_labels(table: Table) -> Table:
    """The same table as a JJ file has it."""
    return replace(table, dimensions=(), codes=table.codes[:, :0])


def test_hypercube_finds_the_dimensions_of_an_unlabelled_table() -> None:
    table = make("random", 3, shape=(5, 4, 3))
    labelled = evosdc.protect(
        table, method="hypercube", attackers=evosdc.Attackers(who="public")
    )
    bare = evosdc.protect(
        without_labels(table),
        method="hypercube",
        attackers=evosdc.Attackers(who="public"),
    )
    assert bare.safe
    assert bare.cost == labelled.cost


def test_hypercube_says_why_it_refuses_equations_that_are_no_dimensions() -> None:
    table = make("random", 3, shape=(4, 4))
    # A part that counts twice: no dimension has such an equation.
    matrix = table.matrix.copy()
    matrix.data[matrix.indptr[1] - 1] = 2.0
    bent = replace(without_labels(table), matrix=matrix)
    why = find_method("hypercube").takes(Problem.of(bent))
    assert why is not None
    assert "equations" in why
