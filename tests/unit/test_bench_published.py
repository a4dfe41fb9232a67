"""Published tables are well formed and stand beside the right runs."""

from __future__ import annotations

from fnmatch import fnmatch

import numpy as np
import pytest

from benchmarks.experiments import gensup, heurgene
from benchmarks.experiments.experiment import Experiment, Settings, plan
from benchmarks.experiments.published import HEURGENE, Figure
from benchmarks.experiments.run import COLUMNS, Contender
from benchmarks.experiments.statistics import summarise
from evosdc.errors import InputError, MethodError

EXPERIMENTS = [gensup.EXPERIMENT, heurgene.EXPERIMENT]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)
def test_every_figure_is_about_something_that_is_run(experiment: Experiment) -> None:
    seen = set()
    for figure in experiment.published:
        assert figure.method in experiment.methods
        assert figure.quantity in (*COLUMNS, "ratio")
        assert any(
            fnmatch(family, pattern)
            for pattern in figure.families
            for family in experiment.families
        )
        assert figure.value >= 0
        assert any(str(year) in figure.place for year in (2008, 2015))
        key = (figure.where, figure.method, figure.quantity, figure.statistic)
        assert key not in seen
        seen.add(key)
    assert experiment.reference in experiment.methods


def test_published_statistics_are_in_order() -> None:
    by_name = {
        (f.where, f.method, f.quantity, f.statistic): f.value
        for f in heurgene.EXPERIMENT.published
    }
    series = {
        (key[:3], key[3].removesuffix("best")) for key in by_name if "best" in key[3]
    }
    assert len(series) == 7 * 5 + 3 * 6
    for where, prefix in series:
        low, mean, median, high = (
            by_name[(*where, prefix + name)]
            for name in ("best", "mean", "median", "worst")
        )
        assert low <= mean <= high
        assert low <= median <= high


def test_published_improvement_ratios_follow_from_costs_and_seconds() -> None:
    """Herrington's tables 19 and 20 are (C_hypercube - C) / seconds of the means."""
    by_name = {
        (f.where, f.method, f.quantity): f.value
        for f in heurgene.EXPERIMENT.published
        if f.statistic in ("mean", "lowest mean")
    }
    reference = heurgene.EXPERIMENT.reference
    for dataset in (1, 2, 3, 7):
        where = f"heurgene-{dataset}"
        saved = by_name[where, reference, "cost"] - by_name[where, HEURGENE, "cost"]
        ratio = saved / by_name[where, HEURGENE, "cpu_seconds"]
        assert ratio == pytest.approx(by_name[where, HEURGENE, "ratio"], rel=0.02)


# Figure 26 of Herrington (2015): lowest and mean cost of ten runs on ten tables of set
# 2, and the seconds of the slowest run.
_LOWEST = (7224, 6392, 6330, 6971, 6429, 5754, 5562, 6099, 5268, 5792)
_MEAN = (7951, 7138, 7124, 7516, 6846, 6387, 6068, 6540, 5857, 6359)
_SLOWEST = (16.505, 24.878, 17.386, 20.45, 18.143, 30.888, 16.185, 19.624, 18.283)
_SLOWEST += (15.912,)


def test_the_source_reports_the_lowest_of_ten_runs_and_leaves_a_table_out() -> None:
    """Tables 7 and 8 follow from the appendix so, and table 3 from its means."""
    by_name = {
        (f.method, f.quantity, f.statistic): f.value
        for f in heurgene.EXPERIMENT.published
        if f.where == "heurgene-2"
    }
    for quantity, prefix, values in (
        ("cost", "lowest ", _LOWEST[1:]),
        ("cost", "run mean ", _MEAN),
        ("cpu_seconds", "", _SLOWEST[1:]),
    ):
        found = summarise(values)
        for name in ("mean", "median", "best", "worst"):
            published = by_name[HEURGENE, quantity, prefix + name]
            # Figures are cut off, not rounded, and costs are whole.
            assert getattr(found, name) == pytest.approx(published, rel=2e-3)
        # The source divides by n.
        deviation = by_name[HEURGENE, quantity, prefix + "sd"]
        assert np.std(values) == pytest.approx(deviation, rel=2e-3)


def row(family: str, method: str, cost: float | None, table: int = 1) -> dict:
    return {
        "family": family,
        "table": table,
        "method": method,
        "cost": cost,
        "failed": cost is None,
    }


def test_a_figure_finds_its_number_in_the_rows() -> None:
    rows = [
        row("class1-5x5", "sp", 1.0),
        row("class1-5x5", "sp", 3.0),
        row("class1-9x9", "sp", 10.0),
        row("class1-9x9", "castro", 99.0),
        row("class2-9x9", "sp", None),
    ]

    def measured(statistic: str, quantity: str = "cost", family: str = "class1-*"):
        figure = Figure("", (family,), "sp", quantity, statistic, 0.0, "")
        return figure.measured(rows)

    assert measured("mean") == pytest.approx(14 / 3)
    assert measured("worst") == 10.0
    assert measured("best set") == 2.0
    assert measured("worst set") == 10.0
    assert measured("share", "failed", "class2-*") == 1.0
    assert measured("mean", "cost", "class2-*") is None
    assert measured("lowest mean") == 5.5
    assert measured("lowest worst") == 10.0
    assert measured("run mean best") == 2.0


def test_a_plan_lists_every_combination_once() -> None:
    settings = Settings(
        tables=2,
        seeds=3,
        methods=("sp", "kelly@2"),
        families=("class1-6x6", "class2-6x6"),
    )
    runs = plan(gensup.EXPERIMENT, settings)
    assert len({run.key for run in runs}) == len(runs) == 2 * 2 * 2 * 3
    limits = {run.contender.label: run.contender.time_limit for run in runs}
    assert limits == {"sp": 60.0, "kelly@2": 2.0}
    assert len(runs[0].instance.load()) == 49


def test_contenders_are_read_with_limits_and_options() -> None:
    found = Contender.parse("castro@2.5+recovery=false+order=random", 9.0)
    assert (found.method, found.time_limit) == ("castro", 2.5)
    assert found.options == {"recovery": "false", "order": "random"}
    assert found.label == "castro@2.5+recovery=false+order=random"


@pytest.mark.parametrize("text", ["", "@3", "sp@x", "sp@-1", "sp+clean_up"])
def test_contenders_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="a method reads"):
        Contender.parse(text, 1.0)


@pytest.mark.parametrize("text", ["magic", "sp+colour=red"])
def test_unknown_methods_and_options_are_refused(text: str) -> None:
    with pytest.raises(MethodError):
        Contender.parse(text, 1.0)


@pytest.mark.parametrize(
    ("experiment", "family"),
    [
        (gensup.EXPERIMENT, "class3-5x5"),
        (gensup.EXPERIMENT, "class1"),
        (heurgene.EXPERIMENT, "heurgene-8"),
    ],
)
def test_unknown_families_are_refused(experiment: Experiment, family: str) -> None:
    with pytest.raises(InputError, match="no family"):
        plan(experiment, Settings(families=(family,), methods=("sp",)))


@pytest.mark.parametrize(
    "wrong", [{"tables": 0}, {"seeds": 0}, {"workers": 0}, {"time_limit": 0.0}]
)
def test_settings_out_of_range_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError):
        Settings(**wrong)
