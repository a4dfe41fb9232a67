"""Requests about cells: hidden, published, preferred; contradictions are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evosdc
from builders import flat_table, unlabelled
from evosdc.api.requests import read_requests
from evosdc.errors import InputError, LevelError, RequestError
from evosdc.instances import make
from evosdc.table import Table
from evosdc.table.index import select


def one_sensitive() -> Table:
    """Regions a, b, c by sizes x, y, z; one sensitive cell, a-x, with level 3."""
    dims = {"r": "abc", "s": "xyz"}
    value = [917.0, 20, 30, 40, 50, 60, 70, 80, 90]
    status = ["u"] + ["s"] * 8
    level = [3.0] + [0.0] * 8
    return flat_table(dims, value, status=status, lpl=level, upl=level)


def hidden(result: evosdc.results.Protection) -> set[str]:
    t = result.table
    return {t.label(c) for c in np.flatnonzero(t.hidden)}


def test_select_takes_patterns_and_numbers() -> None:
    t = one_sensitive()
    assert select(t, {"r": "a"}).sum() == 4
    assert select(t, {"r": "[ab]", "s": "?"}).sum() == 6
    assert select(t, {"r": "*"}).all()
    assert np.flatnonzero(select(t, {"cell_id": "3"})).tolist() == [3]
    with pytest.raises(InputError, match=r"no dimension 'q'.*r, s, cell_id"):
        select(t, {"q": "a"})
    with pytest.raises(InputError, match="no cell of the table is 'r=north'"):
        select(t, {"r": "north"})


def test_hide_makes_a_cell_sensitive_and_the_judge_asks_for_it() -> None:
    result = evosdc.protect(
        one_sensitive(),
        stop=evosdc.Stop(evaluations=20),
        cells=evosdc.CellRequests(hide="r=c,s=z"),
    )
    assert result.safe
    assert "r=c, s=z" in hidden(result)
    assert result.verdict.judged == 2
    low, high = evosdc.attack.intervals(result.table, [8])
    assert high[0] > low[0]
    assert result.settings["hide"] == ["r=c,s=z"]


def test_publish_keeps_cells_and_leaves_their_status_alone() -> None:
    free = evosdc.protect(one_sensitive(), stop=evosdc.Stop(evaluations=20))
    assert "r=a, s=y" in hidden(free)
    result = evosdc.protect(
        one_sensitive(),
        stop=evosdc.Stop(evaluations=20),
        cells=evosdc.CellRequests(publish={"r": "a", "s": "[yz]"}),
    )
    assert result.safe
    assert not {"r=a, s=y", "r=a, s=z"} & hidden(result)
    assert result.table.status[1] == "s"
    assert result.cost > free.cost


def test_prefer_moves_the_pattern() -> None:
    free = evosdc.protect(one_sensitive(), stop=evosdc.Stop(evaluations=20))
    kept = evosdc.protect(
        one_sensitive(),
        stop=evosdc.Stop(evaluations=20),
        cells=evosdc.CellRequests(cost_factor={"s=y": 100}),
    )
    assert {"r=a, s=y", "r=b, s=y"} <= hidden(free)
    assert not any("s=y" in name for name in hidden(kept))
    cheap = evosdc.protect(
        one_sensitive(),
        stop=evosdc.Stop(evaluations=20),
        cells=evosdc.CellRequests(cost_factor=[({"r": "c"}, 0.0), ("s=z", 0.01)]),
    )
    assert {"r=c, s=x", "r=c, s=z"} <= hidden(cheap)
    assert kept.settings["cost_factor"] == ["s=y=100"]


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ({"publish": "r=a"}, "1 cell is sensitive and must be published: r=a, s=x"),
        (
            {"hide": "r=b,s=x", "publish": "r=b,s=x"},
            "to be hidden and to be published: r=b, s=x",
        ),
        ({"cost_factor": {"r=a": -1.0}}, "a preference of -1.0 for r=a"),
        ({"cost_factor": {"r=a": float("nan")}}, "a preference of nan"),
    ],
)
def test_contradictions_name_cells_and_no_values(
    requests: dict[str, object], words: str
) -> None:
    with pytest.raises(RequestError) as found:
        evosdc.protect(
            one_sensitive(),
            stop=evosdc.Stop(evaluations=5),
            cells=evosdc.CellRequests(**requests),
        )
    assert words in str(found.value)
    assert "917" not in str(found.value)


def test_fixed_and_bounded_cells_cannot_be_hidden() -> None:
    t = one_sensitive()
    status = t.status.copy()
    status[4] = "z"
    with pytest.raises(RequestError, match="fixed and must be hidden: r=b, s=y"):
        evosdc.protect(
            t.replace(status=status),
            stop=evosdc.Stop(evaluations=5),
            cells=evosdc.CellRequests(hide="r=b,s=y"),
        )
    tight = np.where(np.arange(len(t)) == 4, t.value, t.upper)
    low = np.where(np.arange(len(t)) == 4, t.value, t.lower)
    with pytest.raises(RequestError, match="known to everyone"):
        evosdc.protect(
            t.replace(upper=tight, lower=low),
            stop=evosdc.Stop(evaluations=5),
            cells=evosdc.CellRequests(hide="r=b,s=y"),
        )


def test_a_secondary_to_keep_cannot_be_published() -> None:
    t = one_sensitive()
    status = t.status.copy()
    status[4] = "m"
    with pytest.raises(RequestError, match=r"secondaries to keep.*r=b, s=y"):
        evosdc.protect(
            t.replace(status=status),
            cells=evosdc.CellRequests(keep_secondaries=True, publish="r=b"),
            stop=evosdc.Stop(evaluations=5),
        )


def test_levels_out_of_reach_blame_the_wishes() -> None:
    with pytest.raises(LevelError) as found:
        evosdc.protect(
            one_sensitive(),
            stop=evosdc.Stop(evaluations=5),
            cells=evosdc.CellRequests(publish=["s=[yz]", "s=Total"]),
        )
    assert "r=a, s=x" in str(found.value)
    assert "must be published: s=[yz]; s=Total" in str(found.value)
    assert "917" not in str(found.value)


def test_wishes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keep.csv"
    path.write_text("r,s,factor\na,,5\n,y,0.5\n")
    requests = read_requests(None, f"@{path}", [f"@{path}"])
    assert requests.publish == [{"r": "a"}, {"s": "y"}]
    assert requests.prefer == [({"r": "a"}, 5.0), ({"s": "y"}, 0.5)]
    assert requests.factors(one_sensitive()).tolist()[:2] == [5.0, 2.5]
    path.write_text("r\na\n")
    with pytest.raises(InputError, match="no column 'factor'"):
        read_requests(None, None, f"@{path}")


@pytest.mark.parametrize("text", ["r", "r=", "=a", "r=a,r=b", "r=a,,"])
def test_labels_that_cannot_be_read(text: str) -> None:
    with pytest.raises(InputError, match="a label is"):
        read_requests(text, None, None)


def test_preferences_that_cannot_be_read() -> None:
    with pytest.raises(InputError, match="a preference is"):
        read_requests(None, None, "r=a")


def test_unlabelled_tables_take_numbers() -> None:
    t = make("random", 7, shape=(6, 4, 3), trees=1)
    bare = unlabelled(t)
    safe = np.flatnonzero(bare.status == "s")[:2].tolist()
    result = evosdc.protect(
        bare,
        method="attacker",
        cells=evosdc.CellRequests(
            hide=f"cell_id={safe[0]}", publish=f"cell_id={safe[1]}"
        ),
    )
    assert result.safe
    assert result.table.hidden[safe[0]]
    assert not result.table.hidden[safe[1]]
