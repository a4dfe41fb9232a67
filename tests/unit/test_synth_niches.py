"""Niches of a front by how far copies are apart."""

from __future__ import annotations

import numpy as np
import pytest

from builders import synthesis_problem
from evosdc.errors import InputError
from evosdc.synth import Operators
from evosdc.synth.objective.copy_distances import mean_distances
from evosdc.synth.objective.cost import CandidateGoal
from evosdc.synth.objective.split_halves import distances
from evosdc.synth.objective.tables import JSD, Component
from evosdc.synth.search.genetic import Genetic
from evosdc.synth.search.population import CandidatePopulation, Team

SIZES = np.array([3, 4, 2])


def copies(seed: int = 0) -> list[np.ndarray]:
    """Return four copies that are nearly alike, and a fifth that is not."""
    rng = np.random.default_rng(seed)
    first = np.column_stack([rng.integers(0, s, 200) for s in SIZES]).astype(np.int16)
    out = [first.copy() for _ in range(4)]
    for copy in out[1:]:
        copy[:3] = rng.permutation(copy[:3])
        copy[rng.integers(0, 200), 0] = 0
    return [*out, np.zeros_like(first)]


def engine(algorithm: str, niche: str, seed: int = 1) -> Genetic:
    made = copies()
    problem = synthesis_problem(made[0], SIZES, "jsd:2")
    population = CandidatePopulation(problem, 12)
    for slot, codes in enumerate(made):
        population.put(slot, codes)
    goal = CandidateGoal(
        False, 1.0, 0.0, np.full(4, 0.25), np.full(4, np.inf), np.zeros(4)
    )
    operators = Operators(algorithm=algorithm, niche=niche)
    rng = np.random.default_rng(seed)
    return Genetic(population, 5, goal, operators, rng, Team(1), front=True)


def test_gaps_are_those_of_the_objective():
    made = copies()
    found = mean_distances(made, SIZES, [(0, 1), (0, 2), (1, 2)])
    pairs = (Component(JSD, 2),)
    for a in range(5):
        for b in range(5):
            expected = distances(made[a], made[b], SIZES, pairs)[0]
            assert found[a, b] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("algorithm", ["npga", "nsga2"])
def test_a_copy_unlike_all_others_has_a_niche_of_its_own(algorithm):
    crowd = engine(algorithm, "copies")._crowd(np.arange(5))
    assert crowd[4] == pytest.approx(1.0)
    assert (crowd[:4] > 2.0).all()


def test_neighbours_by_copies_are_not_those_by_points():
    by_copies = engine("npga", "copies")
    # Two copies of the same worth that have nothing in common.
    by_copies.population.groups[:5] = 0.1
    by_copies.population.risks[:5] = 0.2
    by_points = engine("npga", "points")
    by_points.population.groups[:5] = 0.1
    by_points.population.risks[:5] = 0.2
    assert by_points._crowd(np.arange(5)) == pytest.approx(5.0)
    assert by_copies._crowd(np.arange(5))[4] == pytest.approx(1.0)
    # Where nobody dominates, tournaments and places go to those who are alone.
    chosen = by_copies._niched(by_copies.points(by_copies.alive), 400)
    assert (chosen == 4).mean() > 0.3
    assert by_copies._crowded(np.arange(5))[4] == 0.0


def test_an_unknown_niche_is_refused():
    with pytest.raises(InputError, match="niche is 'people'"):
        Operators(niche="people")
