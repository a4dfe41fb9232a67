"""Axes of the drawings: logarithmic only where values lie far apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.experiments.plots import trade_off


@pytest.mark.parametrize(("dear", "wide"), [(90.0, False), (30000.0, True)])
def test_costs_far_apart_are_drawn_by_their_logarithm(
    tmp_path: Path, dear: float, wide: bool
) -> None:
    rows = [
        {"family": "A", "method": name, "cpu_seconds": 1.0, "percent": cost}
        for name, cost in (("cheap", 95.0), ("dear", dear))
    ]
    trade_off(rows, "percent", "cost", tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    # Powers of ten are written with the mathematical text of a logarithmic axis.
    assert ("mathdefault{10^{4}}" in text) == wide
    assert text.count("<!-- cheap -->") == 1
