"""The checker refuses every kind of tampering, and reads numbers as decimals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from builders import flat_table
from evosdc.attack import (
    certificate_from_arrays,
    checker,
    coverage_against,
    judge,
    strict_margin,
    verify,
)
from evosdc.attack.certificate import witness_arrays
from evosdc.attack.coverage import RequiredLevels
from evosdc.attack.coverage_against import uncovered_against
from evosdc.compile.clock import moment
from evosdc.errors import InputError
from evosdc.results import Certificate
from evosdc.suppress.problem import problem
from evosdc.table import Origin, Table
from evosdc.table.attackers import AttackerKnowledge, RespondentSums, lone_attackers


def square(values: list[list[float]], hidden: str, **columns: list[float]) -> Table:
    """A flat two-way table; `hidden` has a status letter for each inner cell."""
    dims = {
        "r": [f"r{i}" for i in range(len(values))],
        "c": [f"c{j}" for j in range(len(values[0]))],
    }
    return flat_table(dims, values, status=list(hidden), **columns)


@pytest.fixture
def table() -> Table:
    return square(
        [[10, 20, 5], [30, 40, 5], [1, 2, 3]], "umsmmssss",
        lpl=[4, 0, 0, 0, 0, 0, 0, 0, 0], upl=[6, 0, 0, 0, 0, 0, 0, 0, 0],
    )  # fmt: skip


def rectangle(up: int = 6, down: int = 4, den: int = 1) -> Certificate:
    """Two moves of the rectangle 0, 1, 3, 4."""
    return Certificate(
        cells=np.array([0, 0]),
        signs=np.array([1, -1], dtype=np.int8),
        indptr=np.array([0, 4, 8]),
        indices=np.array([0, 1, 3, 4, 0, 1, 3, 4]),
        numerators=np.array([up, -up, -up, up, -down, down, down, -down]),
        denominators=np.array([den, den]),
    )


def test_a_good_certificate_is_accepted(table: Table) -> None:
    report = verify(table, rectangle())
    assert report.safe
    assert report.exact
    assert report.judged == 1
    assert not len(report.refused)


def test_denominators_count(table: Table) -> None:
    assert verify(table, rectangle(12, 8, 2)).safe
    assert not verify(table, rectangle(6, 4, 2)).safe


def test_big_integers_are_checked_like_small_ones(table: Table) -> None:
    big = 10**40
    good = rectangle()
    scaled = replace(
        good,
        numerators=good.numerators.astype(object) * big,
        denominators=good.denominators.astype(object) * big,
    )
    assert verify(table, scaled).safe
    off = scaled.numerators.copy()
    off[1] += 1
    report = verify(table, replace(scaled, numerators=off))
    assert report.reasons == ("breaks an equation",)


@pytest.mark.parametrize(
    ("entry", "change", "reason"),
    [
        ("numerators", {1: -5}, "breaks an equation"),
        ("numerators", {4: 4}, "does not move its own cell its own way"),
        ("indices", {1: 2}, "moves a published cell"),
        ("indices", {1: 0}, "names a cell twice"),
        ("signs", {0: -1}, "does not move its own cell its own way"),
        ("cells", {0: 8}, "does not move its own cell its own way"),
    ],
)
def test_tampering_is_refused(
    table: Table, entry: str, change: dict[int, int], reason: str
) -> None:
    good = rectangle()
    array = getattr(good, entry).copy()
    for place, number in change.items():
        array[place] = number
    report = verify(table, replace(good, **{entry: array}))
    assert not report.safe
    assert reason in report.reasons
    assert report.uncovered.tolist() == [0]


def test_broken_bounds_are_refused(table: Table) -> None:
    report = verify(table, rectangle(up=21))
    assert report.reasons == ("breaks a bound",)
    assert not report.safe
    tight = table.replace(upper=table.value + 5)
    assert verify(tight, rectangle()).reasons == ("breaks a bound",)
    # Up to a bound is within it, both ways.
    exact = table.replace(upper=table.value + 6, lower=table.value - 6)
    assert verify(exact, rectangle()).safe


def test_short_levels_and_missing_witnesses_are_open(table: Table) -> None:
    assert verify(table, rectangle(up=5)).uncovered.tolist() == [0]
    assert verify(table, rectangle(down=3)).uncovered.tolist() == [0]
    good = rectangle()
    half = Certificate(
        good.cells[:1], good.signs[:1], good.indptr[:2], good.indices[:4],
        good.numerators[:4], good.denominators[:1],
    )  # fmt: skip
    report = verify(table, half)
    assert not len(report.refused)
    assert report.uncovered.tolist() == [0]


@pytest.mark.parametrize(
    ("entry", "array", "reason"),
    [
        ("indptr", np.array([0, 4]), "one start for each"),
        ("indptr", np.array([1, 4, 8]), "one start for each"),
        ("indptr", np.array([0, 9, 8]), "one start for each"),
        ("indices", np.array([0, 1, 3, 99, 0, 1, 3, 4]), "outside the table"),
        ("indices", np.array([0, 1, 3, 16, 0, 1, 3, 4]), "outside the table"),
        ("indices", np.array([0, 1, 3, -1, 0, 1, 3, 4]), "outside the table"),
        ("cells", np.array([0, 16]), "outside the table"),
        ("denominators", np.array([1, 0]), "not positive"),
        # A negative one would turn the move round against its sign and its bounds.
        ("denominators", np.array([1, -1]), "not positive"),
        ("denominators", np.array([1]), "differ in number"),
        ("signs", np.array([1], dtype=np.int8), "differ in number"),
        ("numerators", np.arange(3), "differ in number"),
    ],
)
def test_malformed_certificates_prove_nothing(
    table: Table, entry: str, array: np.ndarray, reason: str
) -> None:
    report = verify(table, replace(rectangle(), **{entry: array}))
    assert not report.safe
    assert len(set(report.reasons)) == 1
    assert reason in report.reasons[0]


def test_witnesses_checked_in_parts_are_checked_alike(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large certificates are checked in several parts: nothing may be lost between."""
    good = rectangle()
    off = good.numerators.copy()
    off[5] += 1
    wrong = replace(good, numerators=off)
    monkeypatch.setattr(checker, "_PART_ENTRIES", 1)
    assert verify(table, good).safe
    report = verify(table, wrong)
    assert report.refused.tolist() == [1]
    assert report.reasons == ("breaks an equation",)
    assert report.uncovered.tolist() == [0]
    assert report.unchecked == 0


def test_cells_without_equations_are_checked_by_their_bounds() -> None:
    alone = Table.of(
        [5.0], sparse.csr_array((0, 1)), status=["u"], lower=[1.0], lpl=[4], upl=[9]
    )
    move = Certificate(
        cells=np.array([0, 0]), signs=np.array([1, -1], dtype=np.int8),
        indptr=np.arange(3), indices=np.array([0, 0]),
        numerators=np.array([9, -4]), denominators=np.array([1, 1]),
    )  # fmt: skip
    assert verify(alone, move).safe
    below = replace(move, numerators=np.array([9, -5]))
    assert verify(alone, below).reasons == ("breaks a bound",)


def test_bounds_of_whole_numbers_are_rounded_inwards(table: Table) -> None:
    up, down = rectangle(7, 4), rectangle(6, 5)
    for more in (6, 6.5):
        counts = table.replace(origin=Origin(counts=True), upper=table.value + more)
        assert verify(counts, rectangle()).safe
        report = verify(counts, up)
        assert report.refused.tolist() == [0]
        assert report.reasons == ("breaks a bound",)
        half_more = verify(counts, rectangle(13, 8, 2), fractions=True)
        assert half_more.refused.tolist() == [0]
    for less in (4, 4.5):
        lower = np.where(np.arange(len(table)) == 0, table.value - less, table.lower)
        counts = table.replace(origin=Origin(counts=True), lower=lower)
        assert verify(counts, rectangle()).safe
        assert verify(counts, down).refused.tolist() == [1]


def test_bounds_and_levels_are_read_as_decimals() -> None:
    """Truncated to whole numbers or rounded, they would be met by other moves."""
    table = square([[0.3, 1], [1, 1]], "ummm", lpl=[0.1, 0, 0, 0], upl=[0.2, 0, 0, 0])
    low, high = table.lower.copy(), table.upper.copy()
    low[0], high[0] = 0.2, 0.5
    table = table.replace(lower=low, upper=high)
    moves = replace(rectangle(2, 1, 10), indices=np.array([0, 1, 2, 3] * 2))
    assert verify(table, moves).safe
    for name, bound, witness in (
        ("upper", 0.4999999999, 0),
        ("lower", 0.2000000001, 1),
    ):
        changed = getattr(table, name).copy()
        changed[0] = bound
        report = verify(table.replace(**{name: changed}), moves)
        assert report.refused.tolist() == [witness]
        assert report.reasons == ("breaks a bound",)
    for name in ("upl", "lpl"):
        level = getattr(table, name).copy()
        level[0] += 1e-10
        report = verify(table.replace(**{name: level}), moves)
        assert not len(report.refused)
        assert report.uncovered.tolist() == [0]


def test_strict_levels_end_at_bounds_that_everyone_knows(table: Table) -> None:
    """What a bound leaves no room for cannot be required; the level itself is."""
    low, high = table.lower.copy(), table.upper.copy()
    low[0], high[0] = table.value[0] - 4, table.value[0] + 6
    bounded = table.replace(lower=low, upper=high)
    assert verify(bounded, rectangle(), strict=True).safe
    assert verify(table.replace(upper=high), rectangle(6, 5), strict=True).safe
    assert not verify(table.replace(upper=high), rectangle(6, 4), strict=True).safe
    assert verify(table.replace(lower=low), rectangle(7, 4), strict=True).safe
    assert not verify(table.replace(lower=low), rectangle(6, 4), strict=True).safe
    spl = np.zeros(len(table))
    spl[0] = 10
    assert verify(bounded.replace(spl=spl), rectangle(), strict=True).safe
    only = table.replace(lpl=0 * spl, upl=0 * spl, spl=spl)
    assert not verify(only, rectangle(), strict=True).safe
    assert verify(only, rectangle(7, 4), strict=True).safe
    high[0] -= 1
    assert not verify(table.replace(upper=high), rectangle(5, 5), strict=True).safe


def test_rounding_of_whole_numbers_and_a_tolerance_go_together() -> None:
    share = 1 - Fraction(1, 100)
    needed = {0: (6 * share, 4 * share, Fraction(0))}
    levels = RequiredLevels([0], np.ones(1, dtype=bool), needed, True, share)
    assert levels.covers(0, 6 * share, 4 * share)
    assert not levels.covers(0, 6 * share - Fraction(1, 10**9), 4 * share)
    assert not levels.covers(0, 6 * share, 4 * share - Fraction(1, 10**9))


@pytest.mark.parametrize(
    ("up", "down", "how", "covered"),
    [
        (12, 8, {}, True),
        (13, 8, {}, False),
        (12, 9, {}, False),
        (11, 7, {"strict": True}, True),
        (12, 7, {"strict": True}, False),
        (11, 8, {"strict": True}, False),
        (11.5, 7.5, {"whole": True}, True),
        (12.5, 8, {"whole": True}, False),
        (12, 8.5, {"whole": True}, False),
    ],
)
def test_sums_of_one_respondent_are_judged_like_cells(
    table: Table, up: float, down: float, how: dict[str, bool], covered: bool
) -> None:
    """The rectangle moves cells 0 and 4 together, and 0 and 1 against each other."""
    low = dict.fromkeys(("lpl", "upl"), np.zeros(len(table)))
    both = RespondentSums(
        np.array([0, 2]), np.array([0, 4]), np.array([up]), np.array([down])
    )

    def open_sums(sums: RespondentSums, given: Table, **more: object) -> list[int]:
        report = verify(
            given, rectangle(), insiders=True, attackers=AttackerKnowledge.public(),
            sums=sums, **how, **more,
        )  # fmt: skip
        return report.sums.tolist()

    assert open_sums(both, table.replace(**low)) == ([] if covered else [0])
    # Witnesses that are refused do not count, nor moves that cancel out.
    known = np.arange(len(table)) == 4
    assert open_sums(both, table.replace(**low), known=known) == [0]
    apart = replace(both, cell=np.array([0, 1]))
    assert open_sums(apart, table.replace(**low)) == [0]


def test_each_sum_has_its_own_witnesses(table: Table) -> None:
    four = np.array([6.0, 0, 0, 6]), np.array([4.0, 0, 0, 4])
    sums = RespondentSums(
        np.array([0, 2, 4, 6, 8]), np.array([0, 2, 0, 1, 5, 8, 4, 7]), *four
    )
    report = verify(
        table, rectangle(), insiders=True, attackers=AttackerKnowledge.public(),
        sums=sums,
    )  # fmt: skip
    # The second moves are of no account to each other, the third is a point.
    assert report.sums.tolist() == [1, 2]
    assert not report.safe
    assert not len(report.uncovered)


def test_strict_levels_of_a_sum_end_at_the_bounds_of_its_cells(table: Table) -> None:
    sums = RespondentSums(
        np.array([0, 2]), np.array([0, 4]), np.array([12.0]), np.array([7.0])
    )

    def covered(given: Table) -> bool:
        report = verify(
            given, rectangle(), strict=True, insiders=True,
            attackers=AttackerKnowledge.public(), sums=sums,
        )  # fmt: skip
        assert not len(report.refused)
        return not len(report.sums)

    high = table.upper.copy()
    assert not covered(table)
    high[0] = table.value[0] + 6
    # The other cell has no upper bound: neither has the sum.
    assert not covered(table.replace(upper=high))
    high[4] = table.value[4] + 6
    assert covered(table.replace(upper=high))


def test_width_needs_both_ways(table: Table) -> None:
    spl = np.zeros(len(table))
    spl[0] = 10
    assert verify(table.replace(spl=spl), rectangle()).safe
    spl[0] = 11
    assert not verify(table.replace(spl=spl), rectangle()).safe


def test_strict_asks_for_one_unit_more(table: Table) -> None:
    assert not verify(table, rectangle(), strict=True).safe
    assert verify(table, rectangle(7, 5), strict=True).safe


def test_secondaries_must_not_be_points(table: Table) -> None:
    assert verify(table, rectangle(), secondaries=True).safe
    status = table.status.copy()
    status[8] = "m"
    report = verify(table.replace(status=status), rectangle(), secondaries=True)
    assert report.uncovered.tolist() == [8]


def test_tolerance_is_measured_and_said(table: Table) -> None:
    good = rectangle()
    numerators = good.numerators * 10**9
    numerators[1] += 6
    rough = replace(good, numerators=numerators, denominators=good.denominators * 10**9)
    assert not verify(table, rough).safe
    report = verify(table, rough, tolerance=1e-6)
    assert report.safe
    assert not report.exact
    assert report.error == pytest.approx(1e-9)
    assert verify(table, rough, tolerance=1.1e-9).safe
    assert not verify(table, rough, tolerance=0.9e-9).safe
    assert not verify(table, rough, tolerance=1e-10).safe


def test_numbers_are_shortest_decimals() -> None:
    """In doubles 0.3 - 0.1 is less than 0.2: as decimals the level is just reached."""
    n = 4
    table = square([[0.3, 1], [1, 1]], "ummm", lpl=[0] * n, upl=[0.2, 0, 0, 0])
    table = table.replace(lower=np.where(table.value == 1, 0.8, 0.1))
    verdict, _ = judge(table)
    assert verdict.safe
    assert verdict.exact
    level = table.upl.copy()
    level[0] = 0.20000000000000004
    assert not judge(table.replace(upl=level))[0].safe


def test_certificates_survive_plain_arrays(table: Table) -> None:
    good = rectangle()
    huge = replace(good, numerators=good.numerators.astype(object) * 10**30)
    for certificate in (good, huge):
        arrays = witness_arrays(certificate)
        assert all(a.dtype != object for a in arrays.values())
        back = certificate_from_arrays(arrays)
        for name in arrays:
            one, two = getattr(back, name), getattr(certificate, name)
            assert one.tolist() == two.tolist()
    with pytest.raises(InputError, match="signs"):
        certificate_from_arrays({"cells": good.cells})


def test_strict_margin_is_what_the_searchers_aim_at(table: Table) -> None:
    for t in (table, table.replace(upl=table.upl + 0.5)):
        assert strict_margin(t).tolist() == problem.strict_margin(t).tolist()


def test_known_cells_do_not_move(table: Table) -> None:
    known = np.zeros(len(table), dtype=bool)
    known[4] = True
    report = verify(table, rectangle(), known=known)
    assert set(report.reasons) == {"moves a cell that is known"}
    assert report.uncovered.tolist() == [0]
    known[4], known[2] = False, True
    assert verify(table, rectangle(), known=known).safe


def test_a_sensitive_cell_without_levels_must_not_be_a_point(table: Table) -> None:
    bare = table.replace(lpl=np.zeros(len(table)), upl=np.zeros(len(table)))
    nothing = Certificate(*(np.empty(0, dtype=np.int64) for _ in range(2)),
        np.zeros(1, dtype=np.int64), *(np.empty(0, dtype=np.int64) for _ in range(3)),
    )  # fmt: skip
    assert verify(bare, nothing).uncovered.tolist() == [0]
    assert verify(bare, rectangle(1, 1)).safe
    # Levels of 0 that must be exceeded are more than that: both ways.
    assert not verify(bare, half(rectangle(1, 1)), strict=True).safe
    assert verify(bare, rectangle(1, 1), strict=True).safe


def test_fractions_of_a_person_are_refused(table: Table) -> None:
    counts = table.replace(origin=Origin(counts=True))
    assert verify(counts, rectangle()).safe
    assert verify(counts, rectangle(12, 8, 2)).safe
    report = verify(counts, rectangle(13, 9, 2))
    assert set(report.reasons) == {"moves a cell by a fraction"}
    assert not report.safe
    assert verify(counts, rectangle(13, 9, 2), whole=False).safe
    assert not verify(table, rectangle(13, 9, 2), whole=True).safe
    odd = table.replace(value=table.value / 2)
    assert not verify(odd, rectangle(), whole=True).safe


def test_witnesses_that_move_an_insider_do_not_count(table: Table) -> None:
    frequency = np.full(len(table), 5)
    frequency[4] = 1
    known = table.replace(frequency=frequency)
    assert verify(known, rectangle()).safe
    report = verify(known, rectangle(), insiders=True)
    assert not report.safe
    assert report.insiders == 1
    assert not len(report.uncovered)
    assert report.against.tolist() == [[0, 4]]
    frequency[[0, 4]] = 1, 5
    own = verify(table.replace(frequency=frequency), rectangle(), insiders=True)
    assert own.safe, "nobody is judged against itself"


def test_cells_that_time_leaves_out_are_not_looked_at_one_by_one(table: Table) -> None:
    frequency = np.full(len(table), 5)
    frequency[4] = 1
    known, shown = table.replace(frequency=frequency), rectangle()
    levels = RequiredLevels.of(known, False, False, 0.0, None)
    accepted, lone = np.ones(len(shown.cells), dtype=bool), lone_attackers(known)

    def against(left_out: set[int], deadline: float | None) -> object:
        return uncovered_against(levels, shown, accepted, lone, left_out, deadline)

    assert against(set(), moment() - 1) == ([], [0])
    assert against({0}, moment() - 1) == ([], [])
    assert against(set(), None) == ([(0, 1)], [])


@pytest.fixture
def two_ways(table: Table) -> tuple[Table, Certificate]:
    """A third witness moves the first cell down by 3 without cell 4."""
    good = rectangle()
    more = Certificate(
        cells=np.array([0, 0, 0]), signs=np.array([1, -1, -1], dtype=np.int8),
        indptr=np.array([0, 4, 8, 12]),
        indices=np.append(good.indices, [0, 2, 3, 5]),
        numerators=np.append(good.numerators, [-3, 3, 3, -3]),
        denominators=np.ones(3, dtype=np.int64),
    )  # fmt: skip
    return table.replace(status=np.array(list("ummmmmmmm" + "s" * 7))), more


def failing_against(
    given: tuple[Table, Certificate], up: float, down: float, **room: float
) -> list[tuple[int, int]]:
    """The pairs that fail against one who believes cell 4 this far away at most."""
    table, certificate = given
    levels = RequiredLevels.of(table, False, False, 0.0, None)
    who = AttackerKnowledge(
        np.array([0, 0, 1]), np.array([4]), np.array([up]), np.array([down]),
        ("public", "largest"),
    )  # fmt: skip
    accepted = np.ones(len(certificate.cells), dtype=bool)
    rooms = {0: room["room"]} if room else {}
    found, late = uncovered_against(
        levels, certificate, accepted, who, set(), None, lambda _: rooms
    )
    assert not late
    return found


@pytest.mark.parametrize(
    ("up", "down", "fails"),
    [
        (6, 4, False),
        (5.9, 4, True),
        (6, 3.9, True),
        (np.inf, 4, False),
        (np.inf, 3.9, True),
        (6, np.inf, False),
        (5.9, np.inf, True),
    ],
)
def test_witnesses_beyond_belief_do_not_count(
    two_ways: tuple[Table, Certificate], up: float, down: float, fails: bool
) -> None:
    assert bool(failing_against(two_ways, up, down)) is fails


def test_lower_levels_end_where_an_attacker_believes_no_further(
    two_ways: tuple[Table, Certificate],
) -> None:
    assert failing_against(two_ways, np.inf, 3.9, room=3) == []
    assert failing_against(two_ways, np.inf, 3.9, room=3.1) == [(0, 1)]
    # How far down is believed says nothing of the upper level.
    assert failing_against(two_ways, 5.9, 4, room=0) == [(0, 1)]
    needed = {0: (Fraction(2), Fraction(4), Fraction(0))}
    levels = RequiredLevels([0], np.ones(1, dtype=bool), needed)
    assert levels.covers(0, Fraction(2), Fraction(3), Fraction(3))
    assert not levels.covers(0, Fraction(2), Fraction(2), Fraction(3))
    assert not levels.covers(0, Fraction(2), Fraction(3), Fraction(5))


def test_sliding_levels_are_judged_without_what_is_beyond_belief(
    two_ways: tuple[Table, Certificate],
) -> None:
    table, certificate = two_ways
    none = np.zeros(len(table))
    for width, down, fails in ((10, 4, False), (10, 3.9, True), (9, 3.9, False)):
        spl = np.where(np.arange(len(table)) == 0, width, 0.0)
        wide = table.replace(lpl=none, upl=none, spl=spl)
        found = failing_against((wide, certificate), np.inf, down)
        assert bool(found) is fails


def test_cells_are_judged_against_attackers_in_parts_alike(
    two_ways: tuple[Table, Certificate], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, certificate = two_ways
    status, upl, lpl = table.status.copy(), table.upl.copy(), table.lpl.copy()
    # The third cell is moved by the third witness alone, the last by none.
    status[:3], upl[:3], lpl[:3] = "u", (6, 4, 3), (4, 6, 0)
    several = table.replace(status=status, upl=upl, lpl=lpl)
    expected = [(0, 1), (1, 1)]
    assert failing_against((several, certificate), 0, 0) == expected
    monkeypatch.setattr(coverage_against, "_PAIRS_PER_PART", 1)
    assert failing_against((several, certificate), 0, 0) == expected


def test_what_time_leaves_out_is_not_covered(table: Table) -> None:
    report = verify(table, rectangle(), deadline=moment() - 1)
    assert report.unchecked == 2
    assert not len(report.refused)
    assert report.uncovered.tolist() == [0]


def half(certificate: Certificate) -> Certificate:
    """The first witness alone."""
    end = int(certificate.indptr[1])
    return Certificate(
        certificate.cells[:1], certificate.signs[:1], certificate.indptr[:2],
        certificate.indices[:end], certificate.numerators[:end],
        certificate.denominators[:1],
    )  # fmt: skip
