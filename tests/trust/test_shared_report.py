"""The report to share holds no hidden value, and nothing that one follows from.

One test reads every number of the page and looks for those that must not be in it;
another changes everything that is not published and sees the same page.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_results import (
    RULES,
    SAFE,
    exposed,
    linked_of,
    numbers,
    result_of,
    tree_of,
    turnover_of,
)

import evosdc
from builders import unlabelled
from evosdc.report import report_html, share_html
from evosdc.report.kit.parts import brief, fixed, number
from evosdc.results import TABLE_QUESTIONS, Claim, TableVerdict
from evosdc.results.tables import Protection
from evosdc.table import Origin, Table

KINDS: dict[str, Callable[[np.random.Generator, int], Table]] = {
    "one dimension": lambda draw, d: turnover_of(numbers(draw, (7,), d)),
    "two dimensions": lambda draw, d: turnover_of(numbers(draw, (6, 5), d)),
    "three dimensions": lambda draw, d: turnover_of(numbers(draw, (3, 4, 3), d)),
    "a hierarchy": tree_of,
    "linked": linked_of,
    "no labels": lambda draw, d: unlabelled(turnover_of(numbers(draw, (4, 4), d))),
    "too large to show": lambda draw, d: turnover_of(numbers(draw, (90, 60), d)),
}
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


def words_for(value: float) -> set[str]:
    """A number in every way that a page, a terminal or a file writes it."""
    found = {number(value), brief(value), f"{value:.6g}", f"{value:,.6g}", repr(value)}
    for decimals in range(7):
        found |= {fixed(value, decimals), number(value, decimals)}
    plain = {w.replace(",", "").replace("−", "").lstrip("-") for w in found}
    return {w.rstrip("0").rstrip(".") if "." in w else w for w in plain}


def numbers_in(page: str) -> set[str]:
    """Every number of a page, attributes and drawings included, without its commas."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    found = {w.replace(",", "") for w in NUMBER.findall(body)}
    return {w.rstrip("0").rstrip(".") if "." in w else w for w in found}


def secrets_of(result: Protection) -> set[str]:
    """What must not be in a page: hidden values, cost, bounds, levels and sums."""
    table = result.table
    hidden = np.flatnonzero(table.hidden)
    value = table.value
    found = {result.cost, result.lower_bound or 0.0, float(value[hidden].sum())}
    found |= {e.cost for e in result.record if e.cost}
    found |= {float(v) for v in value[hidden]}
    for a, b in itertools.combinations(hidden.tolist(), 2):
        found |= {float(value[a] + value[b]), abs(float(value[a] - value[b]))}
    for row in range(table.matrix.shape[0]):
        lo, hi = table.matrix.indptr[row], table.matrix.indptr[row + 1]
        cells, signs = table.matrix.indices[lo:hi], table.matrix.data[lo:hi]
        inside = table.hidden[cells]
        found.add(abs(float(signs[inside] @ value[cells[inside]])))
        found.add(abs(float(np.abs(signs[inside]) @ value[cells[inside]])))
    for name in ("lpl", "upl"):
        level = getattr(table, name)[hidden]
        found |= {float(x) for x in (*level, *(value[hidden] - level))}
        found |= {float(x) for x in value[hidden] + level}
    for e in result.verdict.exposed:
        found |= {e.low, e.high, e.needed_low, e.needed_high}
    assert table.frequency is not None
    found |= {float(n) for n in table.frequency}
    found |= {float(result.seed), 765_432.0, 876_543.0, 31_337.0}
    # Below this a number may be one of cells or codes.
    secret = {w for v in found if v > 9_999 for w in words_for(v)}
    shown = {w for v in value[~table.hidden] for w in words_for(float(v))}
    return secret - shown


def random_result(kind: str, seed: int, verdict: TableVerdict = SAFE) -> Protection:
    draw = np.random.default_rng([seed, len(kind)])
    table = KINDS[kind](draw, int(draw.integers(0, 3)))
    many = min(len(table) // 2, 24)
    cells = draw.permutation(len(table))[:many]
    cut = int(draw.integers(1, many - 1))
    return result_of(table, cells[:cut], cells[cut:], verdict)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_no_secret_is_in_the_page(kind: str, seed: int) -> None:
    result = random_result(kind, seed)
    secrets = secrets_of(result)
    assert len(secrets) > 5
    assert not secrets & numbers_in(share_html(result))


@pytest.mark.parametrize("kind", KINDS)
def test_nor_in_the_draft_of_an_exposed_table(kind: str) -> None:
    result = random_result(kind, 1)
    cells = result.table.primaries.tolist()
    result = replace(result, verdict=exposed(result.table, cells))
    page = share_html(result)
    assert not secrets_of(result) & numbers_in(page)
    assert "Draft: not to be published" in page
    assert "SAFE" not in page


def test_one_secondary_of_a_list_costs_its_value() -> None:
    """The leak that made two reports of one: this cost is a hidden value."""
    table = turnover_of(np.array([123457.0, 234561.0, 345671.0, 456781.0]))
    result = result_of(table, [0], [1])
    assert result.cost == 234561.0
    secrets = secrets_of(result)
    assert "234561" in secrets & numbers_in(report_html(result))
    assert not secrets & numbers_in(share_html(result))


def test_the_search_finds_what_it_looks_for() -> None:
    result = result_of(
        turnover_of(np.array([[123456.75, 2e5], [3e5, 4e5]])), [0], [1, 3]
    )
    page = share_html(result, title="123,456.8 of them")
    assert secrets_of(result) & numbers_in(page) == {"123456.8"}


@pytest.mark.parametrize("size", [(5, 4), (90, 60)])
def test_the_page_depends_on_what_is_published_alone(size: tuple[int, int]) -> None:
    values = numbers(np.random.default_rng(3), size, 0)
    first = result_of(turnover_of(values), [0, 1], [size[1], size[1] + 1])
    moved = values.copy()
    moved[:2, :2] += np.array([[7.0, -7.0], [-7.0, 7.0]])
    # Other values, other cells sensitive, other rules, weights, levels and costs.
    second = result_of(turnover_of(moved), [1, size[1]], [0, size[1] + 1])
    second = replace(
        second,
        table=second.table.replace(
            weight=3 * second.table.weight,
            lpl=2 * second.table.lpl,
            frequency=None,
            origin=Origin(rules=(("p:40", 2), ("freq:9", 5)), floor=2.0),
        ),
        cost=1.0,
        lower_bound=None,
        gap=None,
        record=(),
        seed=4,
        seconds=9.0,
        evaluations=2,
        notes=(),
        claim=Claim(**dict(zip(TABLE_QUESTIONS, "abcdefg", strict=True))),
        verdict=replace(SAFE, judged=9, proofs={}, insiders=3),
        settings={},
    )
    same = np.flatnonzero(~first.table.hidden)
    assert np.array_equal(first.table.value[same], second.table.value[same])
    assert not np.array_equal(first.table.value, second.table.value)
    assert share_html(first) == share_html(second)


def test_rules_are_named_without_their_parameters() -> None:
    result = random_result("two dimensions", 2)
    page = share_html(result)
    assert "The p % rule, a minimum frequency." in page
    for rule, _ in RULES:
        assert rule not in page
    for word in ("12.5", "largest", "17 ", "31 ", "50 %", "sensitive: hidden"):
        assert word not in page
    for question in TABLE_QUESTIONS.values():
        assert question in page
    odd = result.table.replace(origin=Origin(rules=(("house:77", 3),)))
    page = share_html(replace(result, table=odd))
    assert "Another rule of the office." in page
    assert "77" not in re.sub(r"<style>.*?</style>|<td>[\d,.]+</td>", "", page)


def test_all_hidden_cells_look_alike() -> None:
    result = result_of(
        turnover_of(numbers(np.random.default_rng(5), (4, 4), 0)), [0], [1]
    )
    page = share_html(result)
    assert page.count('<td class="hidden" title="hidden">x</td>') == 2
    body = page.partition("</style>")[2]
    assert "primary" not in body
    assert "secondary" not in body
    assert "2 cells are hidden" in page


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (SAFE, "Respondents who are alone in a cell"),
        (replace(SAFE, insiders=None), "were not considered"),
        (replace(SAFE, strict=True), "Exceeded."),
        (replace(SAFE, exact=False, tolerance=1e-9), "in floating point"),
        (replace(SAFE, ok=None, open=("dim_a=a1",)), "Draft: not to be published"),
    ],
)
def test_the_public_claim_follows_the_verdict(
    verdict: TableVerdict, words: str
) -> None:
    page = share_html(random_result("one dimension", 4, verdict))
    assert words in page
    assert "dim_a=a1" not in page


@pytest.mark.parametrize("kind", ["one dimension", "two dimensions", "linked"])
def test_a_table_protected_for_real(kind: str, tmp_path: Path) -> None:
    """Every file that may leave the office, as `protect` and the writer make them."""
    from evosdc import api
    from evosdc.results.result import write_result

    table = KINDS[kind](np.random.default_rng(8), 0)
    inner = np.flatnonzero(
        (table.codes > 0).sum(axis=1) == min(2, table.codes.shape[1])
    )
    status = np.full(len(table), "s")
    status[inner[0]] = "u"
    level = np.where(status == "u", np.round(0.2 * table.value), 0.0)
    table = table.replace(status=status, lpl=level, upl=level)
    result = api.protect(
        table, method="greedy", workers=1, stop=evosdc.Stop(evaluations=5)
    )
    assert result.safe is True
    assert result.secondaries > 0
    write_result(tmp_path / "out", result, force=False)
    counted = replace(
        result, table=result.table.replace(frequency=np.full(len(table), 7_000_001))
    )
    secrets = secrets_of(counted)
    for path in (tmp_path / "out" / "publish").iterdir():
        assert not secrets & numbers_in(path.read_text(encoding="utf-8").lower())
