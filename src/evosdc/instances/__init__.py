"""Seeded generators of benchmark tables, and of the firms of the demo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evosdc.errors import InputError
from evosdc.instances.business import Business, business
from evosdc.instances.published import (
    ClassOne,
    ClassTwo,
    FrequencyOptions,
    HeurGene,
    Large,
    Office,
)
from evosdc.instances.random import Random
from evosdc.instances.register import Register
from evosdc.options import read_options
from evosdc.table import Table

__all__ = ["Business", "Family", "business", "families", "find_family", "make"]


@dataclass(frozen=True)
class Family:
    """A family of instances.

    Attributes
    ----------
    name
        Its name on the command line and in scripts.
    summary, source
        What it draws and who first used it, in one line each.
    options
        A frozen dataclass with the published defaults, whose `draw` makes a table.
    """

    name: str
    summary: str
    source: str
    options: type

    def configure(self, options: Mapping[str, Any]) -> Any:
        """Return the options of the family from ``name=value`` pairs."""
        given = read_options(
            self.options,
            options,
            owner=f"family {self.name!r}",
            error=InputError,
            hint="see: evosdc instances --help",
        )
        return self.options(**given)


_FAMILIES = (
    Family(
        "class1",
        "two-way, whole numbers 0..499, inner values 1..4 sensitive",
        "Almeida, Schuetz and Carvalho 2008; Fischetti and Salazar 1999",
        ClassOne,
    ),
    Family(
        "class2",
        "two-way, whole numbers 0..1000, 20 % of inner and 10 % of marginal cells "
        "sensitive, 15 % both ways",
        "Almeida, Schuetz and Carvalho 2008; Fischetti and Salazar 1999",
        ClassTwo,
    ),
    Family(
        "heurgene",
        "two-way, real numbers 0..1000, 0.25 to 3 % of inner cells sensitive, 10 % "
        "both ways; seven sets of 100x100 and 400x250",
        "Herrington 2015",
        HeurGene,
    ),
    Family(
        "ons",
        "two-way, skewed whole numbers with zeros: A to F as the study generated, G "
        "and H1 to H6 (hierarchical) like surveys",
        "Smith, Clark, Staggemeier and Serpell 2011; Staggemeier et al. 2007",
        Office,
    ),
    Family(
        "large",
        "three-way, fourteen tables of 48,600 to 209,300 cells, six hierarchical",
        "Smith, Clark, Staggemeier and Serpell 2011",
        Large,
    ),
    Family(
        "frequency",
        "counts of any dimensions, small counts sensitive",
        "the minimum-frequency rule of statistical offices",
        FrequencyOptions,
    ),
    Family(
        "register",
        "industries by regions: two deep trees full of chains, sparsely filled, large "
        "firms",
        "this project, after business registers",
        Register,
    ),
    Family(
        "random",
        "small tables of any shape for tests: trees, links, zeros, ties, extremes",
        "this project",
        Random,
    ),
)


def families() -> dict[str, Family]:
    """Return all families by name."""
    return {family.name: family for family in _FAMILIES}


def find_family(name: str) -> Family:
    """Look a family up by name."""
    known = families()
    if name not in known:
        raise InputError(
            f"there is no family of instances {name!r}",
            expected=f"one of {', '.join(known)}",
            hint="see: evosdc instances --help",
        )
    return known[name]


def make(name: str, seed: int = 0, **options: Any) -> Table:
    """Make one table; the same name, seed and options give the same table.

    Examples
    --------
    >>> make("class1", seed=1, rows=5, columns=4)
    Table(row(6) x column(5): 30 cells, 11 equations, 0 primaries)
    """
    if seed < 0:
        raise InputError(f"a seed of {seed}", expected="a whole number of 0 or more")
    drawn: Table = (
        find_family(name).configure(options).draw(np.random.default_rng(seed))
    )
    return drawn
