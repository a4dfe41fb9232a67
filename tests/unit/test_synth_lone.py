"""People who are alone in five columns: who is looked for, and who is found."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from evosdc.synth import Synthesiser
from evosdc.synth.objective import sample_uniques
from evosdc.synth.objective.sample_uniques import ORDER, SampleUniques

SIZES = np.array([4, 5, 6, 5, 5, 4, 6])


def people(size: int = 400, seed: int = 0) -> np.ndarray:
    """Draw people whose columns follow a common one, so that tables say something."""
    rng = np.random.default_rng(seed)
    common = rng.random((size, 1))
    mixed = 0.6 * common + 0.4 * rng.random((size, len(SIZES)))
    return (mixed * SIZES).astype(np.int16)


def looked_at(codes: np.ndarray, **changes: object) -> SampleUniques:
    binned = np.zeros(len(SIZES), bool)
    return SampleUniques(
        **{"codes": codes, "sizes": SIZES, "binned": binned, "seed": 1} | changes
    )


def found_whole(original: np.ndarray, copy: np.ndarray) -> float:
    """Count by hand which part of the people alone in five columns a copy has."""
    parts = []
    for table in combinations(range(original.shape[1]), ORDER):
        mine = [tuple(r) for r in original[:, table]]
        alone = {r for r in mine if mine.count(r) == 1}
        parts.append(len(alone & {tuple(r) for r in copy[:, table]}) / len(alone))
    return float(np.mean(parts))


def test_tables_of_too_many_lone_people_are_chosen_the_worst_first():
    codes = people()
    # The original has all of its lone people: every table is off.
    chosen = looked_at(codes).select(codes, ())
    assert sorted(map(sorted, chosen)) == [
        list(t) for t in combinations(range(len(SIZES)), ORDER)
    ]
    shares = [looked_at(codes).share(t) for t in chosen]
    assert shares == sorted(shares)
    assert 0.0 < shares[0] < shares[-1] < sample_uniques.MAX_SHARE_OF_FRESH
    # A copy of one record has none, and only what was followed before stays.
    nobody = np.repeat(codes[:1], len(codes), axis=0)
    assert looked_at(codes).select(nobody, ()) == ()
    assert looked_at(codes).select(nobody, chosen[:2]) == chosen[:2]


def test_numbers_in_bins_and_full_tables_are_not_looked_at():
    codes = people()
    binned = np.arange(len(SIZES)) == 4
    chosen = looked_at(codes, binned=binned).select(codes, ())
    assert chosen
    assert not any(4 in table for table in chosen)
    five = SampleUniques(codes[:, :5], SIZES[:5], np.zeros(5, bool), 1)
    assert five.select(codes[:, :5], ()) == ()


def test_a_copy_has_fewer_of_them_and_not_more_than_a_fresh_sample(
    monkeypatch: pytest.MonkeyPatch,
):
    codes = people()
    table = pa.table({f"v{j}": codes[:, j] for j in range(codes.shape[1])})

    def made() -> np.ndarray:
        model = Synthesiser(seed=1, generations=20, moves=150_000).fit(table)
        copy = model.sample()
        return np.column_stack([copy[name].to_numpy() for name in table.column_names])

    guarded = found_whole(codes, made())
    monkeypatch.setattr(sample_uniques, "_MAX_TABLES", 0)
    plain = found_whole(codes, made())
    fresh = found_whole(codes, people(seed=1))
    assert guarded < 0.9 * plain
    assert guarded <= fresh
