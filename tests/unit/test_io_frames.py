"""Frames of every kind, in and out, and what is wrong with some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evosdc.errors import InputError, NotAdditiveError, TableError
from evosdc.frames import like, to_arrow
from evosdc.io import (
    frame_of,
    pattern_frame,
    published_frame,
    table_from_frame,
)
from evosdc.table import Hierarchy, Table

CELLS = {
    "region": ["01", "02", "01", "02"],
    "size": ["a", "a", "b", "b"],
    "value": [1.5, 2.0, 3.0, 4.0],
}


class UnknownFrame:
    """A frame of a library nobody knows, which speaks Arrow."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = pa.table(data)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.data.__arrow_c_stream__(requested_schema)


KINDS = [
    dict,
    pd.DataFrame,
    pl.DataFrame,
    pl.LazyFrame,
    pa.table,
    pa.RecordBatch.from_pydict,
    UnknownFrame,
    lambda d: pd.DataFrame(d).set_index(["region", "size"]),
    lambda d: pd.DataFrame(d).astype({"region": "category"}),
    lambda d: pl.DataFrame(d).with_columns(pl.col("region").cast(pl.Categorical)),
    lambda d: {k: np.array(v) for k, v in d.items()},
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: Any) -> None:
    table = table_from_frame(kind(CELLS))
    assert sorted(table.value) == [1.5, 2, 3, 3.5, 4, 4.5, 6, 7, 10.5]
    assert table.dimensions[0].hierarchy.codes == ("Total", "01", "02")
    assert table.name == "value"


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_the_same_kind_comes_back(kind: Any) -> None:
    table = table_from_frame(kind(CELLS))
    back = like(pattern_frame(table), kind(CELLS))
    assert type(back) is type(kind(CELLS))
    assert to_arrow(back)["region"].to_pylist()[:2] == ["01", "02"]
    assert to_arrow(back).column_names == [
        "cell_id",
        "region",
        "size",
        "value",
        "status",
    ]


def test_codes_are_text() -> None:
    numbers = pd.DataFrame({"r": [1.0, 2.0], "s": [10, 20], "value": [1, 2]})
    table = table_from_frame(numbers, missing="empty")
    assert [d.hierarchy.codes for d in table.dimensions] == [
        ("Total", "1", "2"),
        ("Total", "10", "20"),
    ]
    padded = table_from_frame({"r": [" 1", "2 "], "value": [1, 2]})
    assert padded.dimensions[0].hierarchy.codes == ("Total", "1", "2")


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
def test_codes_may_mix_numbers_and_words(kind: Any) -> None:
    frame = kind({"r": [1, 2, "Total"], "value": [1.0, 2.0, 3.0]})
    table = table_from_frame(frame)
    assert table.dimensions[0].hierarchy.codes == ("Total", "1", "2")
    with pytest.raises(InputError, match="row 2 has no code"):
        table_from_frame(kind({"r": [1, None, "Total"], "value": [1.0, 2.0, 3.0]}))


def test_padded_hierarchies_match() -> None:
    tree = Hierarchy.flat([" 1", " 2"])
    table = table_from_frame(
        {"r": ["1", "2"], "value": [1, 2]}, hierarchies={"r": tree}
    )
    assert table.value.tolist() == [1, 2, 3]


def test_all_columns() -> None:
    table = table_from_frame(
        {
            "r": ["a", "b", "c"],
            "turnover": ["1", " 2.5", "0"],
            "cell_id": [7, 8, 9],
            "cost": [5, None, 1],
            "status": ["U", "s", None],
            "lower": [-1, None, 0],
            "upper": [None, "inf", "0"],
            "lpl": [0.5, None, None],
            "upl": [0.25, None, None],
            "spl": [1, None, None],
            "frequency": [2, 9, 0],
        },
        value="turnover",
    )
    assert table.name == "turnover"
    assert table.weight.tolist() == [5, 2.5, 1, 3.5]
    assert "".join(table.status) == "uszs"
    assert table.lower.tolist() == [-1, 0, 0, 0]
    assert table.upper.tolist() == [np.inf, np.inf, 0, np.inf]
    assert (table.lpl[0], table.upl[0], table.spl[0]) == (0.5, 0.25, 1)
    assert table.frequency is not None
    assert table.frequency.tolist() == [2, 9, 0, 11]


def test_levels_by_percentage() -> None:
    frame = {"r": ["a", "b"], "value": [-10, 20], "status": ["u", "s"]}
    table = table_from_frame(frame, level_percent=15)
    assert table.lpl.tolist() == [1.5, 0, 0]
    assert table.upl.tolist() == [1.5, 0, 0]
    own = frame | {"lpl": [2, None], "upl": [3, None]}
    assert table_from_frame(own, level_percent=15).upl.tolist() == [3, 0, 0]


def cells(**changes: Any) -> dict[str, Any]:
    return {"r": ["a", "b"], "value": [1, 2]} | changes


@pytest.mark.parametrize(
    ("frame", "options", "error", "words"),
    [
        (cells(value=[1, None]), {}, TableError, "blank, NaN or infinite at r=b"),
        (cells(value=[1, np.nan]), {}, TableError, "r=b"),
        (cells(value=[np.inf, 2]), {}, TableError, "r=a"),
        (
            cells(value=["1", "2x"]),
            {},
            InputError,
            "row 2: column 'value' is not a number",
        ),
        (cells(value=[True, False]), {}, InputError, "holds bool"),
        ({"r": ["a"], "x": [1]}, {}, InputError, "no column 'value'"),
        ({"value": [1]}, {}, InputError, "no column is a dimension"),
        (cells(r=["a", None]), {}, InputError, "row 2 has no code"),
        (cells(r=["a", " "]), {}, InputError, "row 2 has a blank code"),
        (cells(r=[1.5, 2.0]), {}, InputError, "numbers with decimals"),
        (cells(r=["a", "a"]), {}, TableError, "stand twice"),
        (cells(r=["a", "TOTAL"]), {}, TableError, "r=TOTAL (off by"),
        (cells(status=["u", "s"]), {}, TableError, "without protection levels at r=a"),
        (cells(status=["u", "q"]), {}, TableError, "unknown status 'q' at r=b"),
        (cells(frequency=[1, -1]), {}, TableError, "frequency"),
        (cells(frequency=[1, None]), {}, TableError, "'frequency' is blank"),
        (cells(weight=[1, -1]), {}, TableError, "weight"),
        (
            cells(status=["u", "s"], lower=[1, 0], upper=[1, 9], lpl=[1, 0]),
            {},
            TableError,
            "fixed by its bounds",
        ),
        (cells(), {"dimensions": ["q"]}, InputError, "no column 'q'"),
        (cells(status=["s", "s"]), {"dimensions": ["status"]}, InputError, "status"),
        (
            cells(),
            {"hierarchies": {"r": Hierarchy.flat(["a", "c"])}},
            InputError,
            "'b' of column 'r' are not in its hierarchy",
        ),
        (
            cells(),
            {"hierarchies": {"q": Hierarchy.flat(["a"])}},
            InputError,
            "hierarchy for 'q'",
        ),
        (cells() | {"s": ["x", "y"]}, {}, TableError, "inner cells are missing"),
        (
            {"r": ["a", "b", "Total"], "value": [1, 2, 4]},
            {},
            NotAdditiveError,
            "do not add up",
        ),
        ({"r": ["a"], "value": [1, 2]}, {}, InputError, "cannot be turned into"),
        ([1, 2], {}, InputError, "a list is not a frame"),
    ],
)
def test_mistakes(
    frame: Any, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        table_from_frame(frame, **options)
    assert words in str(caught.value)


def test_a_column_twice() -> None:
    frame = pa.table([["a"], ["b"], [1]], names=["r", "r", "value"])
    with pytest.raises(InputError, match="stands twice"):
        table_from_frame(frame)


def hidden_table() -> Table:
    return table_from_frame(
        {
            "r": ["a", "b", "c", "d"],
            "value": [1, 2, 3, 0],
            "status": ["u", "m", "s", "z"],
            "lpl": [1, 0, 0, 0],
            "upl": [1, 0, 0, 0],
        }
    )


def test_publication_hides_values_and_reasons() -> None:
    frame = published_frame(hidden_table())
    assert frame.column_names == ["r", "value", "status"]
    assert frame["value"].to_pylist() == [None, None, 3, 0, 6]
    assert frame["status"].to_pylist() == ["x", "x", "s", "z", "s"]


def test_unlabelled_tables_have_numbers() -> None:
    table = Table.of([3, 1, 2], np.array([[-1, 1, 1]]))
    assert frame_of(table).column_names[:2] == ["cell_id", "value"]
    assert published_frame(table).column_names == ["cell_id", "value", "status"]
    ids = pattern_frame(table, original_ids=[5, 6, 7])["cell_id"].to_pylist()
    assert ids == [5, 6, 7]
