"""Every kind of frame and every suffix, through every verb and command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evosdc
from evosdc.formats import ASC, CSV, PARQUET, suffixes
from evosdc.io import read_records, write_records, write_table
from evosdc.io.paths import open_output
from evosdc.table import Table

Run = Callable[..., tuple[int, str, str]]

REGIONS, SIZES = ["01", "02", "03"], ["a", "b", "c"]
BY, RULES = ["region", "size"], ["p:15", "freq:6"]
TABLES = suffixes("table", reading=True)
RECORDS = suffixes("records", reading=True)


def firms() -> dict[str, list[Any]]:
    rng = np.random.default_rng(3)
    return {
        "region": [REGIONS[k] for k in rng.integers(0, 3, 60)],
        "size": [SIZES[k] for k in rng.integers(0, 3, 60)],
        "turnover": [float(x) for x in rng.integers(1, 400, 60)],
    }


def relation(data: dict[str, Any]) -> Any:
    rows = pa.table(data)
    connection = duckdb.connect()
    connection.register("rows", rows)
    return connection.sql("SELECT * FROM rows")


KINDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "pandas with an index": lambda d: pd.DataFrame(d).set_index(["region", "size"]),
    "pandas filtered": lambda d: pd.DataFrame(
        {
            k: ["zz" if k != "turnover" and k != "value" else 0.0, *v]
            for k, v in d.items()
        }
    ).iloc[1:],
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "reader": lambda d: pa.table(d).to_reader(),
    "relation": relation,
}


def tabulated(source: Any) -> evosdc.Tabulation:
    return evosdc.tabulate(source, BY, "turnover", rules=RULES)


@pytest.fixture(scope="module")
def table() -> Table:
    return tabulated(firms()).table


@pytest.fixture(scope="module")
def cells(table: Table) -> dict[str, list[Any]]:
    """Return the cells as the columns of a labelled file."""
    codes = {
        d.name: [d.hierarchy.codes[c] for c in table.codes[:, k]]
        for k, d in enumerate(table.dimensions)
    }
    numbers = ("value", "lpl", "upl", "frequency")
    return {
        **codes,
        "status": table.status.tolist(),
        **{name: getattr(table, name).tolist() for name in numbers},
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_is_tabulated_alike(kind: str, table: Table) -> None:
    found = tabulated(KINDS[kind](firms())).table
    assert found.value.tolist() == table.value.tolist()
    assert found.status.tolist() == table.status.tolist()
    assert [d.hierarchy for d in found.dimensions] == [
        d.hierarchy for d in table.dimensions
    ]


@pytest.fixture(scope="module")
def of_columns(cells: dict[str, Any]) -> tuple[evosdc.Protection, float]:
    """What a dict of columns gives, and its bound."""
    made = evosdc.protect(
        dict(cells), method="marginal", attackers=evosdc.Attackers(who="public")
    )
    return made, evosdc.lower_bound(dict(cells)).value


@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_is_protected_alike(
    kind: str, cells: dict[str, Any], of_columns: tuple[evosdc.Protection, float]
) -> None:
    make = KINDS[kind]
    wanted, bound = of_columns
    found = evosdc.protect(
        make(cells), method="marginal", attackers=evosdc.Attackers(who="public")
    )
    assert found.table.status.tolist() == wanted.table.status.tolist()
    assert found.summary()["verdict"] == wanted.summary()["verdict"] == "SAFE"
    # What came out goes in again, in the kind it came out in.
    judged = evosdc.audit(
        make(cells), found.pattern, attackers=evosdc.Attackers(who="public")
    )
    assert judged.verdict.safe
    low = evosdc.lower_bound(make(cells)).value
    assert low == bound <= found.cost


@pytest.fixture(scope="module")
def evaluated() -> dict[str, Any]:
    """What is said of a dict of columns beside itself."""
    found = evosdc.evaluate(firms(), firms(), key=["region"], target="size")
    return {**found.summary(), "seconds": None}


@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_is_evaluated_alike(kind: str, evaluated: dict[str, Any]) -> None:
    # A reader can be read once.
    made = [KINDS[kind](firms()) for _ in range(2)]
    found = evosdc.evaluate(*made, key=["region"], target="size")
    assert not found.fit
    assert {**found.summary(), "seconds": None} == evaluated


def put_table(path: Path, table: Table) -> Path:
    write_table(path, table)
    return path


def put_records(path: Path) -> Path:
    """Write the firms in the format that the suffix says."""
    if ".asc" not in path.suffixes:
        write_records(path, pa.table(firms()))
        return path
    description = path.parent / f"{path.name.split('.')[0]}.rda"
    description.write_text(
        "region 1 2\n<RECODEABLE>\nsize 3 1\n<RECODEABLE>\nturnover 4 8\n<NUMERIC>\n"
    )
    rows = zip(*firms().values(), strict=True)
    with open_output(path) as stream:
        stream.write("".join(f"{r}{s}{t:8.1f}\n" for r, s, t in rows).encode())
    return path


@pytest.fixture(scope="module")
def of_table(table: Table) -> tuple[float, float]:
    """What protecting the table costs, and its bound."""
    made = evosdc.protect(
        table, method="marginal", attackers=evosdc.Attackers(who="public")
    )
    return made.cost, evosdc.lower_bound(table).value


@pytest.mark.parametrize("suffix", TABLES)
def test_every_suffix_of_tables(
    suffix: str,
    table: Table,
    of_table: tuple[float, float],
    tmp_path: Path,
    run: Run,
) -> None:
    cost, bound = of_table
    path = put_table(tmp_path / f"t{suffix}", table)
    made = evosdc.protect(
        path, method="marginal", attackers=evosdc.Attackers(who="public")
    )
    assert made.cost == pytest.approx(cost)
    assert (
        evosdc.audit(path, attackers=evosdc.Attackers(who="public")).verdict.safe
        is False
    )
    assert evosdc.lower_bound(path).value == pytest.approx(bound)
    out = tmp_path / "out"
    quick = ("--method", "marginal", "--attackers", "public", "--json")
    code, said, _ = run("protect", path, "-o", out, *quick)
    assert code == 0
    assert json.loads(said)["cost"] == pytest.approx(cost)
    pattern = out / "confidential/pattern.csv"
    assert run("audit", path, "--pattern", pattern, "--attackers", "public")[0] == 0
    assert run("lower-bound", path)[0] == 0
    assert run("verify", path, out / "confidential/certificate.npz")[0] == 0


@pytest.mark.parametrize("suffix", RECORDS)
def test_every_suffix_of_records(
    suffix: str, table: Table, tmp_path: Path, run: Run
) -> None:
    path = put_records(tmp_path / f"firms{suffix}")
    found = tabulated(path).table
    assert found.value.tolist() == table.value.tolist()
    assert found.status.tolist() == table.status.tolist()
    rules = [word for rule in RULES for word in ("--rule", rule)]
    out = tmp_path / "table.csv"
    asked = ("--by", ",".join(BY), "--value", "turnover")
    assert run("tabulate", path, *asked, *rules, "-o", out)[0] == 0
    assert evosdc.audit(out).table.value.tolist() == table.value.tolist()
    assert read_records(path).frame.to_pydict() == firms()


@pytest.mark.parametrize(
    "suffix", [CSV.suffixes[2], PARQUET.suffixes[1], ASC.suffixes[0]]
)
def test_files_are_synthesised_and_evaluated(
    suffix: str, tmp_path: Path, run: Run
) -> None:
    path = put_records(tmp_path / f"firms{suffix}")
    roles: dict[str, Any] = {"key": ["region"], "target": "size"}
    quick: dict[str, Any] = {"generations": 2, "population": 4, "memetic": False}
    made = evosdc.synthesise(path, **roles, **quick, holdout=path)
    wanted = evosdc.synthesise(read_records(path).frame, **roles, **quick)
    assert made.copies[0].equals(wanted.copies[0])
    judged = evosdc.evaluate(path, made.copies[0], **roles)
    assert judged.verdict == evosdc.evaluate(firms(), made.copies[0], **roles).verdict
    words = ("--key", "region", "--target", "size")
    out = tmp_path / "out"
    code, _, _ = run("evaluate", path, path, *words, "-o", out)
    assert code == 3  # the very records are not fit for release
    budget = ("--generations", 2, "--population", 4, "--no-memetic")
    code, _, _ = run("synthesise", path, *words, *budget, "-o", tmp_path / "made")
    written = [p.suffix for p in (tmp_path / "made").rglob("synthetic.*")]
    assert written == [".parquet" if suffix == ".pq" else ".csv"]
