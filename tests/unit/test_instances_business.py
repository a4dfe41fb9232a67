"""The invented firms look like a business survey."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.errors import InputError
from evosdc.instances import business


def test_firms_carry_known_leaf_codes() -> None:
    made = business(seed=0)
    records = made.records
    assert records.num_rows == 6000
    for name, levels in (("region", 3), ("activity", 3)):
        tree = made.hierarchies[name]
        nodes = [tree.node_of[code] for code in records[name].to_pylist()]
        assert tree.is_leaf[nodes].all()
        assert tree.depth.max() == levels
        assert len(set(nodes)) > 10


def test_sizes_follow_employees_and_weights_follow_sizes() -> None:
    rows = business(seed=1, firms=500).records.to_pylist()
    for row in rows:
        low, _, high = row["size"].replace("+", "-").partition("-")
        assert row["employees"] >= int(low)
        assert not high or row["employees"] <= int(high)
        assert row["turnover"] >= 1
        assert row["weight"] >= 1
        assert row["weight"] == 1 or row["size"] != "50+"


def test_turnover_is_heavy_tailed_and_some_cells_are_small() -> None:
    records = business(seed=0).records
    turnover = np.sort(records["turnover"].to_numpy())
    assert turnover[-40:].sum() > 0.2 * turnover.sum()
    columns = [records[c].to_pylist() for c in ("region", "activity", "size")]
    cells = list(zip(*columns, strict=True))
    _, counts = np.unique(np.array(["|".join(c) for c in cells]), return_counts=True)
    assert (counts <= 2).sum() > 20


def test_holdings_own_several_firms_and_some_ask_for_protection() -> None:
    records = business(seed=0).records
    assert len(set(records["holding"].to_pylist())) < records.num_rows
    requests = records["request"].to_numpy()
    assert 0 < requests.sum() < 0.03 * len(requests)


def test_same_seed_same_firms() -> None:
    assert business(seed=4, firms=50).records.equals(business(4, 50).records)
    assert not business(seed=4, firms=50).records.equals(business(5, 50).records)


def test_no_firms_is_an_error() -> None:
    with pytest.raises(InputError, match="0 firms"):
        business(firms=0)
