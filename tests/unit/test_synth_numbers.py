"""Numbers as numbers: spikes, decimals, codes among them, and ranks in bins."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from evosdc.metrics.coded_numbers import as_coded, coded_numbers, written
from evosdc.metrics.data import bin_codes
from evosdc.synth import Coding, Synthesiser
from evosdc.synth.apart import LonePeople
from evosdc.synth.data.domain import make_domain
from evosdc.synth.data.identifiers import fresh_column
from evosdc.synth.data.inside import ranks_inside

QUICK = {"moves": 20_000, "generations": 4, "time_limit": None, "seed": 1}


def incomes(size: int = 3000) -> np.ndarray:
    rng = np.random.default_rng(0)
    amount = rng.gamma(2.0, 900.0, size)
    heaped = rng.random(size) < 0.5
    amount = np.where(heaped, np.round(amount, -3), np.round(amount, 0))
    return np.where(rng.random(size) < 0.2, 0.0, amount)


def test_text_with_codes_is_read_as_numbers():
    texts = [str(i) for i in range(100)] + ["N"] * 30 + [None]
    found = coded_numbers(pa.chunked_array([texts]))
    assert found is not None
    assert found.labels == ("N",)
    assert found.decimals == 0
    assert np.isnan(found.numbers[100])
    assert found.absent.sum() == 1
    assert coded_numbers(pa.chunked_array([[f"{i:03d}" for i in range(100)]])) is None
    assert coded_numbers(pa.chunked_array([["a", "b"] * 50])) is None
    other = as_coded(pa.chunked_array([["3.50", "X"]]), ("N",))
    assert other.labels == ("N", "X")
    assert written(np.array([1.5, 2.0]), 2) == ["1.50", "2.00"]


def test_metrics_bin_numbers_with_codes_as_the_search_does():
    texts = [str(i) for i in range(400)] + ["N"] * 40
    codes = bin_codes("x", [pa.chunked_array([texts])])
    assert len(np.unique(codes)) == 21
    assert len(np.unique(codes[400:])) == 1


def test_a_column_of_numbers_with_codes_comes_back_as_it_is_written():
    rng = np.random.default_rng(1)
    ratio = np.where(rng.random(2000) < 0.1, -1, rng.integers(0, 501, 2000))
    sex = rng.integers(0, 2, 2000)
    table = pa.table({"ratio": ["N" if r < 0 else f"{r}.0" for r in ratio], "sex": sex})
    copy = Synthesiser(**QUICK).fit(table).sample()["ratio"].to_pylist()
    numbers = np.array([float(t) for t in copy if t != "N"])
    assert all(t == "N" or t.endswith(".0") for t in copy)
    assert abs(copy.count("N") - (ratio < 0).sum()) < 60
    assert numbers.mean() == pytest.approx(ratio[ratio >= 0].mean(), rel=0.03)


def test_spikes_whole_numbers_and_moments_come_back():
    amount = incomes()
    table = pa.table({"income": amount.astype(int), "x": np.arange(3000) % 3})
    domain = make_domain(table, Coding())
    codes = domain.encode(table)
    drawn = domain.decode(codes, np.random.default_rng(2))["income"].to_numpy()
    assert (drawn == 0).mean() == pytest.approx((amount == 0).mean(), abs=0.001)
    heaps = [1000, 2000, 3000]
    for heap in heaps:
        assert (drawn == heap).mean() == pytest.approx(
            (amount == heap).mean(), abs=0.02
        )
    error = amount.std() / np.sqrt(len(amount))
    assert abs(drawn.mean() - amount.mean()) < 2 * error
    assert drawn.std() == pytest.approx(amount.std(), rel=0.05)
    # Nobody's largest income is shown.
    assert drawn.max() <= np.sort(amount)[-5]


def test_codes_written_as_numbers_stay_codes():
    rng = np.random.default_rng(3)
    known = rng.choice(np.arange(170, 9999), 60, replace=False)
    table = pa.table({"job": rng.choice(known, 4000), "x": rng.integers(0, 3, 4000)})
    domain = make_domain(table, Coding())
    drawn = domain.decode(domain.encode(table), rng)["job"].to_numpy()
    assert set(drawn) <= set(known)


def test_ranks_lie_in_their_bin_from_0_to_1():
    rng = np.random.default_rng(4)
    numbers, levels = rng.normal(size=500), rng.integers(0, 5, 500)
    rank = ranks_inside(numbers, levels, rng)
    for level in range(5):
        mine = levels == level
        assert (np.argsort(numbers[mine]) == np.argsort(rank[mine])).all()
        assert 0 < rank[mine].min() < rank[mine].max() < 1


def test_two_numbers_stay_related_inside_their_bins():
    rng = np.random.default_rng(5)
    x = rng.normal(100, 15, 4000)
    table = pa.table({"x": x, "y": x + rng.normal(0, 1, 4000)})
    # Two bins each: what is left of the correlation is that of the bins.
    options = {**QUICK, "bins": {"x": 2, "y": 2}}
    copy = Synthesiser(**options).fit(table).sample().to_pandas()
    assert copy.corr().loc["x", "y"] > 0.9
    known = Synthesiser("x", "y", **options).fit(table).sample().to_pandas()
    assert known.corr().loc["x", "y"] < 0.8


def test_a_lone_persons_record_is_drawn_again():
    rng = np.random.default_rng(6)
    table = pa.table(
        {
            "age": rng.integers(0, 80, 1500),
            "sex": rng.integers(0, 2, 1500),
            "place": rng.integers(0, 8, 1500),
        }
    )
    model = Synthesiser(**QUICK).fit(table)
    lone = model._fitted.lone
    assert lone is not None
    copy = model.sample()
    assert len(lone.surplus(copy, rng)) <= 0.05 * 1500
    # The original itself has everybody in it.
    assert len(lone.surplus(table, rng)) > 0.05 * 1500


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
@pytest.mark.parametrize("hour", [0, 12])
def test_days_have_no_time_of_day(unit, hour):
    rng = np.random.default_rng(3)
    days = rng.integers(15_000, 18_000, 900).astype("M8[D]").astype("M8[s]")
    times = (days + np.timedelta64(hour, "h")).astype(f"M8[{unit}]")
    column = pa.chunked_array([pa.array(times)])
    (variable,) = make_domain(pa.table({"day": column}), Coding()).variables
    drawn = variable.decode(variable.encode(column), np.random.default_rng(0))
    assert drawn.type == pa.timestamp(unit)
    assert len(drawn.unique()) > 300
    assert {t.as_py().time().isoformat()[:8] for t in drawn} == {f"{hour:02d}:00:00"}
    # Fresh values of an identifier too.
    fresh = fresh_column(column, 500, rng)
    assert {t.as_py().time().isoformat()[:8] for t in fresh} == {f"{hour:02d}:00:00"}
    assert not set(fresh.to_pylist()) & set(column.to_pylist())


def test_times_keep_their_resolution():
    rng = np.random.default_rng(4)
    quarters = (rng.integers(0, 4000, 900) * 900 + 1_600_000_200).astype("M8[s]")
    column = pa.chunked_array([pa.array(quarters.astype("M8[us]"))])
    (variable,) = make_domain(pa.table({"t": column}), Coding()).variables
    drawn = variable.decode(variable.encode(column), np.random.default_rng(0))
    assert {t.as_py().minute % 15 for t in drawn} == {0}
    assert len({t.as_py().minute for t in drawn}) == 4


def test_numbers_are_drawn_again_by_the_seed(monkeypatch):
    drawn = []

    def surplus(self, copy, rng):
        drawn.append(rng.random())
        return np.arange(2)

    monkeypatch.setattr(LonePeople, "surplus", surplus)
    table = pa.table({"x": incomes(200), "y": np.arange(200) % 3})
    for seed in (1, 2):
        Synthesiser(moves=100, generations=1, seed=seed, time_limit=None).fit(table)
    assert len(drawn) > 4
    assert len(set(drawn)) == len(drawn)
