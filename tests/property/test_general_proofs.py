"""Proofs on tables that are no networks: planes, branch and cut, walks by programs.

Bounds are held against a model that shares nothing with them: one flow of deviations
per level, as one integer programme for SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from all_patterns import AllPatterns
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from test_stronger_cuts import optimum, problem_of

from builders import examples
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.bounds import branch_and_cut
from evosdc.suppress.bounds.aggregation import CombinedEquations
from evosdc.suppress.bounds.branch_and_cut import BranchAndCut
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.bounds.planes import PlaneCuts, subnetworks
from evosdc.suppress.engine.base import never
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.engine.general.walker import RECORD_TO_RECORD, RecordWalker
from evosdc.suppress.methods.hybrid import HybridParameters, run_hybrid
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search
from evosdc.table import Table, detect_network
from evosdc.table.status import PRIMARY, SAFE

tables = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "shape": st.sampled_from([(3, 2, 2), (3, 3, 2), (4, 3, 2)]),
        "trees": st.sampled_from([0, 1]),
        "linked": st.booleans(),
        "values": st.sampled_from(["integers", "decimals", "ties"]),
        "sensitive": st.sampled_from([0.1, 0.2]),
        "bounds": st.sampled_from(["open", "tau"]),
    }
)


@examples(40)
@given(tables)
def test_sets_of_equations_are_networks(options: dict[str, Any]) -> None:
    problem = Problem.of(make("random", **options))
    moves = problem.hideable & (problem.up + problem.down > 0)
    matrix = sparse.csr_array(problem.table.matrix)
    for rows in subnetworks(problem, 6):
        part = sparse.csr_array(matrix[rows][:, np.flatnonzero(moves)])
        assert np.diff(sparse.csc_array(part).indptr).max() <= 2
        assert detect_network(part) is not None


def test_flat_dimensions_give_all_three_pairs() -> None:
    """Every pair of equations that cross in a cell meets in some plane."""
    problem = Problem.of(make("random", 3, shape=(4, 4, 3), zeros=0.0))
    matrix = sparse.csr_array(problem.table.matrix)
    met = sum(
        np.abs(matrix[rows]).T @ np.abs(matrix[rows])
        for rows in subnetworks(problem, 9)
    )
    crossing = sparse.csr_array(np.abs(matrix).T @ np.abs(matrix))
    # Cells that share an equation share it in a plane.
    assert (sparse.csr_array(met) > 0).nnz == (crossing > 0).nnz


@examples(12)
@given(tables)
def test_no_bound_is_above_the_optimum(options: dict[str, Any]) -> None:
    problem = problem_of(options)
    if problem is None or problem.network is not None:
        return
    best, hidden = optimum(problem)
    loop = CutLoop(problem)
    loop.run_nodes()
    loop.run_cuts(lambda: False)
    assert loop.value <= best * (1 + 1e-6) + 1e-9
    x = np.random.default_rng(options["seed"]).random(len(hidden))
    x[problem.primary] = 1.0
    safe = hidden.astype(np.float64)
    for cut in PlaneCuts(problem).violated(x, lambda: False):
        # Rows of right-hand side 0 hold for patterns without idle cells only.
        if cut.least > 0:
            assert float(cut.coefficients @ safe[cut.cells]) >= cut.least - 1e-9


def without_idle_cells(problem: Problem, hidden: NDArray[np.bool_]) -> Any:
    """Publish secondaries that cannot move, until all of them can."""
    kept = hidden | problem.primary
    equations = problem.table.matrix.toarray()
    while True:
        ends = list(
            zip(-problem.down * kept, np.minimum(problem.up, 1e6) * kept, strict=True)
        )
        idle = []
        for cell in np.flatnonzero(kept & ~problem.primary):
            goal = np.zeros(len(kept))
            far = []
            for goal[cell] in (1.0, -1.0):
                answer = linprog(
                    goal, A_eq=equations, b_eq=0 * equations[:, 0], bounds=ends
                )
                far.append(abs(answer.fun))
            if max(far) < 1e-7:
                idle.append(cell)
        if not idle:
            return kept
        kept[idle] = False


@examples(10)
@given(tables)
def test_combined_equations_hold_for_the_optimum(options: dict[str, Any]) -> None:
    problem = problem_of(options)
    if problem is None or problem.network is not None:
        return
    safe = without_idle_cells(problem, optimum(problem)[1]).astype(np.float64)
    rng = np.random.default_rng(options["seed"])
    combined = CombinedEquations(problem)
    for hidden_share in (0.2, 0.5):
        # Half of the cells that the optimum publishes tempt the search to cut it off.
        x = np.where(rng.random(len(safe)) < hidden_share, rng.random(len(safe)), 0.0)
        for cut in combined.violated(x):
            asked = x.copy()
            asked[problem.primary] = 1.0
            assert float(cut.coefficients @ asked[cut.cells]) < cut.least
            assert float(cut.coefficients @ safe[cut.cells]) >= cut.least - 1e-9
    for cut in combined.violated(np.where(safe > 0, rng.random(len(safe)), 0.0)):
        assert float(cut.coefficients @ safe[cut.cells]) >= cut.least - 1e-9


@examples(5)
@given(tables)
def test_cells_that_cuts_call_needed_are_needed(options: dict[str, Any]) -> None:
    problem = problem_of(options)
    if problem is None or problem.network is not None:
        return
    engine, rng = GeneralEngine(problem), np.random.default_rng(options["seed"])
    learned = engine.table.programs.learned
    all_cells = AllPatterns(problem.table)
    for _ in range(3):
        state = engine.start()
        state.cover(
            price=problem.cost * np.exp(rng.normal(0.0, 0.5, len(state.hidden)))
        )
        before = state.hidden.copy()
        state.clean_up()
        slacks = learned.look_at(before)
        for cell in np.flatnonzero(before & ~problem.primary).tolist():
            if slacks.needs(cell):
                without = before.copy()
                without[cell] = False
                assert not all_cells.safe(without)


def test_cut_loops_add_the_cuts_that_patterns_have_failed() -> None:
    problem = Problem.of(make("random", 3, shape=(6, 5, 4), sensitive=0.15))
    engine = GeneralEngine(problem)
    state = engine.start()
    state.cover()
    state.clean_up()
    cuts = engine.learned()
    assert cuts
    hidden = state.hidden.astype(np.float64)
    assert all(cut.coefficients @ hidden[cut.cells] >= cut.least - 1e-9 for cut in cuts)
    # Nothing but single equations, and learned cuts as well: neither asks programs.
    alone = {"bridgeless": False, "combined": False, "planes": False}
    plain = CutLoop(problem, **alone)
    taught = CutLoop(problem, learned=engine.learned, **alone)
    for loop in (plain, taught):
        loop.run_nodes()
        for cut in loop.fresh(loop.fractions, programs=False):
            loop.master.add_cut(cut)
        loop.resolve()
    assert plain.value < taught.value <= state.cost


def test_cuts_of_one_pattern_answer_for_the_next() -> None:
    problem = Problem.of(make("random", 3, shape=(6, 5, 4), sensitive=0.15))
    engine = GeneralEngine(problem)
    first, again = engine.start(), engine.start()
    first.cover()
    again.cover()
    programs = engine.table.programs
    first.clean_up()
    solved = programs.solved
    assert programs.learned.cuts
    again.clean_up()
    assert np.array_equal(first.hidden, again.hidden)
    assert programs.solved - solved < 0.8 * solved


def test_equations_whose_sensitive_cells_cancel_are_combined() -> None:
    """A cell stands alone in the difference of two equations, in neither of them."""
    table = Table.of(
        # p + a + b = t and p + c = u: so a + b + u = t + c, without p.
        [5.0, 3, 4, 12, 6, 11],
        [[1, 1, 1, -1, 0, 0], [1, 0, 0, 0, 1, -1]],
        status=[PRIMARY, SAFE, SAFE, SAFE, SAFE, SAFE],
        upl=[1, 0, 0, 0, 0, 0],
        lpl=[1, 0, 0, 0, 0, 0],
    )
    x = np.array([1.0, 0.9, 0.0, 0.0, 0.0, 0.0])
    cuts = list(CombinedEquations(Problem.of(table)).violated(x))
    rows = [cut for cut in cuts if cut.least == 0]
    assert [sorted(cut.cells.tolist()) for cut in rows] == [[1, 2, 3, 4, 5]]
    assert rows[0].coefficients[rows[0].cells == 1] == -1.0


def test_sensitive_cells_without_end_are_combined_away() -> None:
    """What a sensitive cell of unlimited room lends is infinite, and must cancel."""
    table = Table.of(
        # p + q + a = t and q + b = u: so p + a + u = t + b, without q.
        [5.0, 7, 3, 15, 6, 13],
        [[1, 1, 1, -1, 0, 0], [0, 1, 0, 0, 1, -1]],
        status=[PRIMARY, PRIMARY, SAFE, SAFE, SAFE, SAFE],
        upl=[1, 1, 0, 0, 0, 0],
        lower=np.full(6, -np.inf),
        upper=np.full(6, np.inf),
    )
    problem = Problem.of(table)
    cuts = list(CombinedEquations(problem).violated(np.zeros(6)))
    assert {tuple(sorted(cut.cells.tolist())) for cut in cuts} == {(2, 3, 4, 5), (4, 5)}


@examples(12)
@given(tables)
def test_branch_and_cut_ends_at_the_optimum(options: dict[str, Any]) -> None:
    problem = problem_of(options)
    if problem is None or problem.network is not None:
        return
    best, _ = optimum(problem)
    loop = CutLoop(problem)
    loop.run_nodes()
    free = problem.hideable & ~problem.primary
    above = float(problem.cost[free].sum()) + 1.0
    found: list[float] = []
    tree = BranchAndCut(loop, problem.cost, free, above)
    bound, done = tree.solve(
        np.inf, None, lambda: False, lambda x: found.append(problem.cost[x].sum())
    )
    assert done
    assert bound == pytest.approx(best, rel=1e-5, abs=1e-5)
    assert min(found, default=0.0) == pytest.approx(best, rel=1e-6, abs=1e-6)


def test_a_tree_goes_on_where_it_ended() -> None:
    problem = Problem.of(make("random", 5, shape=(5, 4, 3), sensitive=0.15))
    loop = CutLoop(problem)
    loop.run_nodes()
    free = problem.hideable & ~problem.primary
    tree = BranchAndCut(loop, problem.cost, free, float(problem.cost.sum()))
    bounds = []
    for _ in range(200):
        bound, done = tree.solve(np.inf, 5, lambda: False, lambda _: None)
        bounds.append(bound)
        if done:
            break
    assert done
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("shape", [(3, 3, 3), (9, 8)])
def test_a_tree_may_be_stopped_at_any_moment(shape: tuple[int, ...]) -> None:
    problem = Problem.of(make("random", 5, shape=shape, sensitive=0.15))
    free = problem.hideable & ~problem.primary
    ends = set()
    for asked in (0, 1, 2, 3, 5, 8, 13, 21):
        loop = CutLoop(problem)
        loop.run_nodes()
        tree = BranchAndCut(loop, problem.cost, free, float(problem.cost.sum()))
        times = iter(range(1000))
        # The second call is stopped before it has begun, with patterns known.
        for stopped in (lambda: next(times) >= asked, lambda: True):  # noqa: B023
            tree.solve(np.inf, None, stopped, lambda _: None)
        bound, done = tree.solve(np.inf, None, lambda: False, lambda _: None)
        assert done
        ends.add(round(bound, 6))
    assert len(ends) == 1


@pytest.mark.parametrize("shape", [(3, 3, 3), (9, 8)])
def test_a_limit_may_be_lowered_at_any_moment(shape: tuple[int, ...]) -> None:
    """SCIP takes none while it begins to solve, and none when nothing is left."""
    problem = Problem.of(make("random", 5, shape=shape, sensitive=0.15))
    free = problem.hideable & ~problem.primary
    loop = CutLoop(problem)
    loop.run_nodes()
    tree = BranchAndCut(loop, problem.cost, free, float(problem.cost.sum()))
    limit, asked = float(problem.cost.sum()), 0

    def stopped() -> bool:
        """Asked in every stage in which SCIP asks anything."""
        nonlocal limit, asked
        asked += 1
        limit *= 1 - 1e-9
        tree.lower(limit)
        return asked % 3 == 0

    for _ in range(200):
        bound, done = tree.solve(np.inf, None, stopped, lambda _: None)
        if done:
            break
    assert done
    tree.lower(bound)
    again, done = tree.solve(np.inf, None, stopped, lambda _: None)
    assert done
    assert again == pytest.approx(bound, rel=1e-5)


def test_an_error_while_branching_is_raised() -> None:
    problem = Problem.of(make("random", 5, shape=(3, 3, 2), sensitive=0.2))
    loop = CutLoop(problem)
    loop.run_nodes()
    free = problem.hideable & ~problem.primary

    def fail(*_: Any) -> Any:
        raise RuntimeError("no")

    for stopped, found in ((lambda: False, fail), (fail, lambda _: None)):
        tree = BranchAndCut(loop, problem.cost, free, float(problem.cost.sum()))
        with pytest.raises(RuntimeError, match="no"):
            tree.solve(np.inf, None, stopped, found)


def without_labels(table: Table) -> Table:
    return table.replace(dimensions=(), codes=np.empty((len(table), 0), np.int32))


def test_walks_by_programs_get_cheaper_and_stay_covered() -> None:
    seed = 1
    table = make("random", seed, shape=(5, 4), trees=1, linked=False, sensitive=0.2)
    engine = GeneralEngine(Problem.of(without_labels(table)))
    engine.table.boxes = None
    state = engine.start()
    state.cover()
    walker = engine.walker(state, np.random.default_rng(seed))
    assert walker is not None
    costs = [walker.best_cost]
    while walker.steps < 20 and walker.turn(lambda: False):
        costs.append(walker.best_cost)
        assert not len(state.uncovered)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_a_walk_that_is_stopped_does_not_go_on_tidying_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = GeneralEngine(Problem.of(make("random", 3, shape=(4, 3, 2))))
    state = engine.start()
    state.cover()
    told: list[bool] = []
    plain = GeneralState.clean_up

    def watched(self: GeneralState, order: Any = None, stopped: Any = never) -> bool:
        told.append(stopped is not never)
        return plain(self, order, stopped)

    monkeypatch.setattr(GeneralState, "clean_up", watched)
    walker = RecordWalker(state, np.random.default_rng(1), RECORD_TO_RECORD)
    for _ in range(3):
        walker.turn(lambda: False)
    assert told
    assert all(told)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_flagship_proves_small_general_tables_and_repeats(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem.of(make("random", seed, shape=(4, 3, 2), sensitive=0.15))
    assert not engine_for(problem).is_network
    answers = []
    # However slow the machine is: no clock ends these runs.
    for pace in (1.0, 1e-9):
        monkeypatch.setattr(branch_and_cut, "_SECONDS_PER_REPORT", pace)
        search = Search(seed=seed, stop=EvaluationLimit(3000))
        pattern = run_hybrid(problem, HybridParameters(), search)
        answers.append((pattern.cost, search.bound, search.evaluations))
    assert answers[0] == answers[1]
    assert answers[0][1] == pytest.approx(answers[0][0], rel=1e-5)
