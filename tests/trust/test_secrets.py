"""Records stay where they are: in no message, in no folder that others can read."""

from __future__ import annotations

import re
import stat
import traceback
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from builders import Command
from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.io import read_table
from evosdc.tabulation import source, tabulate
from evosdc.tabulation.source import Columns, connect, open_records

ANY = Columns(("k",), None)
SECRET = "Miller Ltd 987654"


def folder_of(connection: Any) -> Path:
    rows = connection.sql("SELECT current_setting('temp_directory')").fetchall()
    return Path(rows[0][0])


def spill(connection: Any) -> None:
    """Sort more than fits."""
    connection.execute(
        "CREATE TEMP TABLE big AS SELECT md5(i::VARCHAR) || md5((i + 1)::VARCHAR) AS h "
        "FROM range(800000) AS r(i)"
    )
    connection.execute("CREATE TEMP TABLE again AS SELECT * FROM big ORDER BY h")


class StopError(Exception):
    """Stands for anything that goes wrong."""


@pytest.mark.parametrize("end", [None, StopError, KeyboardInterrupt])
def test_what_duckdb_spills_is_private_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException] | None
) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[Path] = []

    def work() -> None:
        with connect("50MB", 1) as connection:
            seen.append(folder_of(connection))
            spill(connection)
            assert list(seen[0].iterdir())
            assert stat.S_IMODE(seen[0].stat().st_mode) == 0o700
            if end is not None:
                raise end

    if end is None:
        work()
    else:
        with pytest.raises(end):
            work()
    assert not seen[0].exists()
    assert not list(tmp_path.iterdir())


def test_all_records_are_opened_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    opened: list[Path] = []
    plain = source.duckdb.connect

    def note(**options: Any) -> Any:
        opened.append(Path(options["config"]["temp_directory"]))
        assert stat.S_IMODE(opened[-1].stat().st_mode) == 0o700
        return plain(**options)

    monkeypatch.setattr(source.duckdb, "connect", note)
    frame = pa.table({"k": ["a", "b", "b"], "v": [1.0, 2.0, 3.0], "h": list("xyz")})
    tabulate(frame, ["k"], "v", holding="h")
    assert opened
    assert not any(path.exists() for path in opened)
    assert Path.cwd() not in {p for path in opened for p in path.parents}


def told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def files(folder: Path) -> dict[str, Path]:
    """Files that DuckDB cannot read, with what it would quote."""
    texts = {
        "unicode": b"k,v\na,1\n" + SECRET.encode() + b"\x81,2\n",
        "fields": b"k,v\n" + b"a,1\n" * 30_000 + SECRET.encode() + b",2,3,4\n",
        "quotes": b'k,v\n"a",1\n' * 30_000 + b'"' + SECRET.encode() + b'"x,2\n',
    }
    for name, text in texts.items():
        (folder / f"{name}.csv").write_bytes(text)
    (folder / "half.parquet").write_bytes(b"PAR1" + SECRET.encode() + b"PAR1")
    return {p.stem: p for p in folder.iterdir()}


@pytest.mark.parametrize("name", ["unicode", "fields", "quotes", "half"])
def test_what_duckdb_says_of_a_file_is_not_passed_on(
    run: Command, tmp_path: Path, name: str
) -> None:
    path = files(tmp_path)[name]
    with pytest.raises(InputError) as caught:
        tabulate(path, ["k"], "v")
    assert "Miller" not in told(caught.value)
    assert "987654" not in told(caught.value)
    assert caught.value.hint
    out = tmp_path / "t.csv"
    words = ("tabulate", path, "--by", "k", "--rule", "none", "-o", out)
    code, text, err = run(*words)
    assert (code, text) == (2, "")
    assert "Miller" not in err
    assert "987654" not in err


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = files(tmp_path)["unicode"]
    with pytest.raises(InputError, match=r"line 3"):
        tabulate(path, ["k"], "v")


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT CAST('{SECRET}' AS INTEGER)",
        f"SELECT error('{SECRET}')",
        f"SELECT CAST('{SECRET}' AS DATE)",
    ],
)
def test_no_query_of_ours_lets_a_value_out(query: str) -> None:
    """Also one that is asked of the local DuckDB, while the records are open."""

    def ask(how: str) -> None:
        with open_records(pa.table({"k": ["a"]}), ANY) as records:
            if how == "store":
                records.store("kept", query)
            elif how == "fetch_row":
                records.fetch_row(query)
            else:
                records.local.sql(query).fetchall()

    for how in ("store", "fetch_row", "local"):
        with pytest.raises(InputError, match="the records cannot be read") as caught:
            ask(how)
        assert "Miller" not in told(caught.value)


def test_too_little_memory_has_a_next_step(tmp_path: Path) -> None:
    def ask() -> None:
        with open_records(pa.table({"k": ["a"]}), ANY, "50MB", 1) as records:
            records.local.execute("SET max_temp_directory_size = '1MB'")
            spill(records.local)

    with pytest.raises(InputError, match="not enough memory") as caught:
        ask()
    assert "TMPDIR" in str(caught.value)


def test_a_frame_that_arrow_cannot_take_is_not_quoted() -> None:
    with pytest.raises(InputError) as caught:
        to_arrow({"born": [1, date(1987, 6, 5)]})
    assert "date(1987" in str(caught.value.__context__)
    # The traceback shows this line of the test, and must not show the value.
    assert told(caught.value).count("1987") == 1


def test_a_stream_that_breaks_off_is_not_quoted() -> None:
    """The error is that of whatever library sends the batches."""
    schema = pa.schema([("k", pa.string())])

    class Engine:
        __module__ = "duckdb.relation"

        def __arrow_c_stream__(self, _: Any = None) -> Any:
            raise RuntimeError(f"value {SECRET} is odd")

    def batches() -> Any:
        yield pa.record_batch({"k": ["a"]}, schema=schema)
        raise ValueError(f"value {SECRET} is odd")

    for stream in (pa.RecordBatchReader.from_batches(schema, batches()), Engine()):
        with pytest.raises(InputError, match="cannot be read") as caught:
            tabulate(stream, ["k"])
        assert "Miller" not in told(caught.value)


def test_a_lazy_frame_that_fails_is_not_quoted() -> None:
    pl = pytest.importorskip("polars")
    lazy = pl.LazyFrame({"k": ["1", SECRET]}).select(pl.col("k").cast(pl.Int64))
    with pytest.raises(InputError, match="cannot be turned into columns") as caught:
        to_arrow(lazy)
    assert "Miller" not in told(caught.value)


def test_no_contributor_and_no_contribution_is_published(
    run: Command, tmp_path: Path
) -> None:
    """Not even of published cells: the two largest of them are confidential as well."""
    draw = np.random.default_rng(5)
    n = 90
    firms = {
        "region": draw.choice(list("NSEW"), n),
        "size": draw.choice(list("pqr"), n),
        "turnover": draw.integers(100_000, 999_999, n),
        "firm": [f"Miller-{k}" for k in range(n)],
    }
    pd.DataFrame(firms).to_csv(tmp_path / "firms.csv", index=False)
    table, out = tmp_path / "t.csv", tmp_path / "out"
    code, _, error = run(
        *("tabulate", tmp_path / "firms.csv", "--by", "region,size", "-o", table),
        *("--value", "turnover", "--holding", "firm", "--contributions"),
        *("--rule", "freq:4", "--rule", "p:10"),
    )
    assert code == 0, error
    kept = read_table(table).contributions
    assert kept is not None
    secret = {str(who) for who in kept.who.ravel() if who}
    secret |= {f"{amount:.0f}" for amount in kept.amount.ravel()} | {"Miller"}
    assert len(secret) > 30
    assert "Miller" not in table.read_text() + table.with_name("t.csv.json").read_text()
    code, shown, error = run(
        *("protect", table, "--evaluations", 2, "--workers", 1, "-o", out),
        *("--formats", "pivot,grid,sbs,tab,parquet"),
    )
    assert code == 0, error
    files = sorted((out / "publish").iterdir())
    assert len(files) > 6
    texts = {path.name: path.read_bytes().decode("latin-1") for path in files}
    texts["shown"] = shown + error
    texts["parquet"] = pd.read_parquet(
        out / "publish" / "published.parquet"
    ).to_string()
    for name, text in texts.items():
        found = set(re.findall("[A-Za-z]+|[0-9a-f]{16}|[0-9]+", text.replace(",", "")))
        assert not secret & found, name
        assert "contribut" not in texts["parquet"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_name_with_brackets_is_that_file(tmp_path: Path, suffix: str) -> None:
    """DuckDB would read data1, which the pattern data[1] matches."""
    right = pd.DataFrame({"k": ["right"], "v": [1]})
    wrong = pd.DataFrame({"k": ["wrong"], "v": [2]})
    for frame, name in ((right, "data[1]"), (wrong, "data1")):
        path = tmp_path / f"{name}{suffix}"
        frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    found = tabulate(tmp_path / f"data[1]{suffix}", ["k"], "v")
    assert "right" in found.dimensions[0].hierarchy.codes
