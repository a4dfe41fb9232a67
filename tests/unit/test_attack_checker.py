"""The checker refuses every kind of tampering, and reads numbers as decimals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from builders import flat_table
from evosdc.attack import certificate_from_arrays, judge, strict_margin, verify
from evosdc.attack.certificate import witness_arrays
from evosdc.attack.coverage import RequiredLevels
from evosdc.attack.coverage_against import uncovered_against
from evosdc.compile.clock import moment
from evosdc.errors import InputError
from evosdc.results import Certificate
from evosdc.suppress.problem import problem
from evosdc.table import Origin, Table
from evosdc.table.attackers import lone_attackers


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
    ("entry", "array"),
    [
        ("indptr", np.array([0, 4])),
        ("indices", np.array([0, 1, 3, 99, 0, 1, 3, 4])),
        ("denominators", np.array([1, 0])),
        ("signs", np.array([1], dtype=np.int8)),
        ("numerators", np.arange(3)),
    ],
)
def test_malformed_certificates_prove_nothing(
    table: Table, entry: str, array: np.ndarray
) -> None:
    report = verify(table, replace(rectangle(), **{entry: array}))
    assert not report.safe
    assert len(set(report.reasons)) == 1


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
