"""Table 4.4 of the thesis against the spread of seeds: what counts as within."""

from __future__ import annotations

import pytest

from benchmarks.experiments.statistics import summarise
from benchmarks.experiments.thesis_spread import met, spread_tables


@pytest.mark.parametrize(
    ("value", "within"),
    [(10, True), (20, True), (9.9, True), (5.1, True), (4.9, False), (25.1, False)],
)
def test_a_figure_is_within_the_range_or_two_deviations(
    value: float, within: bool
) -> None:
    found = summarise([10.0, 15.0, 20.0])
    assert found is not None
    assert found.sd == 5.0
    assert met(value, found) is within


def rows(method: str, converged: list[int], fitness: list[float]) -> list[dict]:
    return [
        {
            "family": "selection-tiny-made-50",
            "method": method,
            "seed": seed,
            "converged": count,
            "after": value,
            "before": 0.03,
        }
        for seed, (count, value) in enumerate(zip(converged, fitness, strict=True), 1)
    ]


def test_each_published_figure_says_whether_it_is_within() -> None:
    # Published: 50 generations and 0.012 by linear ranking of 50, 2 and 0.018 by
    # exponential ranking.
    text = spread_tables(
        rows("linear-rank", [40, 48, 53], [0.004, 0.005, 0.006])
        + rows("exponential-rank:0.7", [5, 6, 7], [0.017, 0.018, 0.019])
        + rows("exponential-rank:0.7 no crossover", [2, 2, 3], [0.03, 0.03, 0.03])
    )
    assert "tiny-made – / 0.03 / – (of 10 / 50 / 100)" in text
    assert "generations: 1 of 2 within; fitness: 1 of 2 within" in text
    lines = {line.split(" | ")[0]: line for line in text.splitlines()}
    assert ": within |" in lines["| linear-rank, generations, 50"]
    assert "**outside**, above them" in lines["| linear-rank, fitness, 50"]
    assert "**outside**, below them" in lines["| exponential-rank:0.7, generations, 50"]
    # The switched step is shown where the figure is outside, and only there.
    assert ": within" in lines["| exponential-rank:0.7 no crossover, generations, 50"]
    assert "| exponential-rank:0.7 no crossover, fitness, 50" not in lines


def test_nothing_is_written_without_rows() -> None:
    assert spread_tables([]) == ""
