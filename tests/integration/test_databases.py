"""The same table from DuckDB, PostgreSQL and Spark, and only ever reading."""

from __future__ import annotations

import re
from importlib.util import find_spec
from shutil import which

import numpy as np
import pyarrow as pa
import pytest

import evosdc
from builders import options_of
from evosdc import api
from evosdc.databases import as_database
from evosdc.errors import InputError
from evosdc.table import Hierarchy
from postgresql_server import PASSWORD, running, why_not

N = 3_000
TREE = Hierarchy.from_levels([(f"S{i % 5}", str(i)) for i in range(1, 41)])
CASES = {
    "decimals": {"by": ["region", "industry"], "value": "money"},
    "weights": {
        "by": ["region", "industry", "size"],
        "value": "turnover",
        "weight": "w",
        "rules": ["nk:2,75", "freq:3"],
    },
    "contributions": {
        "by": ["region", "industry"],
        "value": "money",
        "weight": "w",
        "contributions": True,
    },
    "contributions of holdings": {
        "by": [["region", "industry"], ["region", "size"]],
        "value": "money",
        "holding": "h",
        "contributions": True,
    },
    "holdings": {"by": ["region", "industry"], "value": "turnover", "holding": "h"},
    "consent": {
        "by": ["region", "industry"],
        "value": "money",
        "weight": "w",
        "holding": "h",
        "request": "r",
        "consent": ["H1", "H2"],
        "rules": ["p:10", "req:60,30"],
    },
    "counts": {"by": ["region", "size"], "rules": ["freq:5"]},
    "groups": {"by": ["region", "size"], "rules": ["group"]},
    "requests": {
        "by": ["region", "industry"],
        "value": "money",
        "request": "r",
        "rules": ["req:60,30"],
    },
    "shadow": {
        "by": ["region", "industry"],
        "value": "money",
        "shadow": "turnover",
        "cost": "w",
    },
    "shadow of holdings": {
        "by": ["region", "industry"],
        "value": "money",
        "shadow": "turnover",
        "holding": "h",
    },
    "zeros that count": {
        "by": ["region", "industry"],
        "value": "money",
        "rules": ["freq:3"],
        "count_zeros": True,
    },
    "linked": {
        "by": [["region", "industry"], ["region", "size"]],
        "value": "turnover",
        "holding": "h",
    },
    "ring": {
        "by": [["region", "industry"], ["industry", "size"], ["region", "size"]],
        "value": "turnover",
    },
}


def made_up() -> pa.Table:
    rng = np.random.default_rng(3)
    reports = rng.random((2, N)) < 0.8  # the others report zero
    return pa.table(
        {
            # One code has a blank too many, one comes in two ways to write it.
            "region": rng.choice(["N1", "N 1", "S1", "S2 ", "S2", "e\u0301", "é"], N),
            "industry": rng.integers(1, 41, N),
            "size": rng.choice([1.0, 2.0, 2.5], N),
            "turnover": rng.lognormal(5, 2, N)
            * rng.choice([1, -1], N, p=[0.95, 0.05])
            * reports[0],
            "money": np.round(rng.lognormal(5, 2, N), 2) * reports[1],
            "w": rng.choice([0, 1, 1.37, 2.2], N),
            "h": rng.choice([f"H{i}" for i in range(N // 4)], N),
            "r": rng.choice(["0", "1", "2"], N),
            "{odd} name": rng.choice(["a'b", "back\\slash", None], N),
        }
    )


def tabulated(source, case):
    options = {"rules": ["p:10", "freq:3"], **CASES[case]}
    if "industry" in str(options["by"]):
        options["hierarchies"] = {"industry": TREE}
    return evosdc.tabulate(source, **options_of("tabulate", **options)).table


def assert_same(one, other):
    names = "value weight status lower upper lpl upl spl codes frequency holdings"
    for name in [*names.split(), "respondent", "unshown"]:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.contributions is None) == (other.contributions is None)
    if one.contributions is not None:
        mine, theirs = one.contributions.columns(), other.contributions.columns()
        assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    assert one.origin == other.origin
    assert one.notes == other.notes
    assert (one.matrix != other.matrix).nnz == 0


@pytest.fixture(scope="module")
def records():
    return made_up()


@pytest.fixture(scope="module")
def server(records):
    psycopg = pytest.importorskip("psycopg", reason="pip install 'evosdc[postgres]'")
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with running() as found, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", PASSWORD)
        with psycopg.connect(found.server, autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE firms (region text, industry integer, "
                "size double precision, turnover double precision, "
                "money numeric(20, 2), w double precision, h varchar(20), r char(1), "
                '"{odd} name" text)'
            )
            connection.execute("CREATE SEQUENCE numbers")
            with (
                connection.cursor() as cursor,
                cursor.copy("COPY firms FROM STDIN") as copy,
            ):
                for row in records.to_pylist():
                    copy.write_row(list(row.values()))
        yield found


@pytest.mark.parametrize("case", CASES)
def test_postgresql_gives_the_same_table(records, server, case):
    assert_same(tabulated(records, case), tabulated(server.address("firms"), case))


def test_a_query_and_a_schema(records, server):
    table = tabulated(records, "decimals")
    asked = server.address(query="SELECT+*+FROM+firms")
    assert_same(table, tabulated(asked, "decimals"))
    assert_same(table, tabulated(server.address("public.firms"), "decimals"))


def test_command_line(run, records, server, tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(records, tmp_path / "firms.parquet")
    (tmp_path / "tree.hrc").write_text("")
    found = []
    for name, source in (
        ("file", tmp_path / "firms.parquet"),
        ("server", server.address("firms")),
    ):
        output = tmp_path / f"{name}.csv"
        run(
            "tabulate", source, "--by", "region,size", "--value", "money",
            "--rule", "p:10", "-o", output,
        )  # fmt: skip
        found.append(output.read_bytes())
    assert found[0] == found[1]


def test_only_reads_are_sent(server):
    log = server.folder / "log"
    before = log.stat().st_size
    tabulated(server.address("firms"), "linked")
    sent = re.findall(
        r"(?:statement|execute \S+): *(\w+)", log.read_text()[before:], re.I
    )
    assert {word.upper() for word in sent} <= {"BEGIN", "SET", "SELECT", "COPY"}
    # One transaction for all linked tables: they see the same records.
    assert [word.upper() for word in sent].count("BEGIN") == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM firms; DROP TABLE firms",
        "SELECT 1) AS t; COMMIT; DROP TABLE firms; --",
        "DELETE FROM firms RETURNING *",
        "WITH d AS (DELETE FROM firms RETURNING *) SELECT * FROM d",
        "SELECT *, nextval('numbers') AS n FROM firms",
    ],
)
def test_nothing_is_written(server, query):
    from urllib.parse import quote

    with pytest.raises(InputError, match="PostgreSQL cannot read"):
        tabulated(server.address(query=quote(query)), "counts")
    assert len(tabulated(server.address("firms"), "counts")) > 1


def test_the_transaction_is_read_only(server):
    database = as_database(server.address("firms"))
    with database:
        asked = "SELECT current_setting('transaction_read_only') AS a"
        assert database.fetch(asked).read_all()["a"].to_pylist() == ["on"]


def test_credentials_are_not_told(server, monkeypatch, caplog):
    monkeypatch.setenv("PGPASSWORD", "a-wrong-secret")
    with pytest.raises(InputError) as caught:
        tabulated(server.address("firms"), "counts")
    text = "".join(map(str, (caught.value, caplog.text)))
    assert "a-wrong-secret" not in text
    assert "PGPASSFILE" in str(caught.value)


def test_a_password_in_an_address_is_refused():
    with pytest.raises(InputError, match="PGPASSWORD") as caught:
        evosdc.tabulate("postgresql://me:hush@host/db?table=t", ["a"], rules="none")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://host/db", "names no table"),
        ("postgresql://host/db?table=t&password=x", "setting 'password'"),
        ("postgresql://host/db?table=a.b.c", "table 'a.b.c'"),
        ("postgresql://host/db?table=a&query=SELECT 1", "both a table and a query"),
    ],
)
def test_addresses(address, words):
    with pytest.raises(InputError, match=re.escape(words)):
        evosdc.tabulate(address, ["a"], rules="none")


def test_errors_of_the_records(server):
    with pytest.raises(InputError, match="no column 'nobody'"):
        evosdc.tabulate(server.address("firms"), ["nobody"], rules="none")
    with pytest.raises(InputError, match="column 'h' has type varchar"):
        evosdc.tabulate(server.address("firms"), ["region"], "h", rules="none")
    with pytest.raises(InputError, match=r"has no code in \d+ of 3000 records"):
        evosdc.tabulate(server.address("firms"), ["{odd} name"], rules="none")
    with pytest.raises(InputError, match="UndefinedTable"):
        evosdc.tabulate(server.address("nothing"), ["a"], rules="none")


def test_values_that_cannot_be_read_are_not_told(server):
    odd = server.address(query="SELECT+date+'infinity'+AS+born")
    with pytest.raises(InputError, match="cannot be read") as caught:
        api.inspect(odd)
    assert "infinity" not in str(caught.value)


def test_other_verbs_read_the_same_records(records, server):
    few = server.address(
        query="SELECT region, industry, size FROM firms ORDER BY money, turnover"
    )
    plans = api.inspect(few)
    assert [plan.name for plan in plans] == ["region", "industry", "size"]
    made = evosdc.synthesise(few, generations=1, time_limit=None)
    assert made.copies[0].num_rows == N
    found = evosdc.evaluate(few, made.copies[0], key=["region"], target="size")
    assert found.rows == N


def test_ibis_tables(records, server):
    ibis = pytest.importorskip("ibis")
    connection = ibis.postgres.connect(
        host=str(server.folder),
        user=server.user,
        password=PASSWORD,
        database="postgres",
    )
    there = connection.table("firms")
    assert_same(tabulated(records, "linked"), tabulated(there, "linked"))
    here = ibis.duckdb.connect()
    here.con.register("firms", records)
    streamed = tabulated(here.table("firms"), "weights")
    assert_same(tabulated(records, "weights"), streamed)
    connection.disconnect()


@pytest.fixture(scope="module")
def spark():
    if find_spec("pyspark") is None:
        pytest.skip("Spark is not installed: pip install 'evosdc[spark]'")
    if which("java") is None:
        pytest.skip("Spark needs Java (Debian: apt-get install default-jre-headless)")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_spark_gives_the_same_table(records, spark):
    frame = spark.createDataFrame(records)
    for case in ("weights", "linked"):
        assert_same(tabulated(records, case), tabulated(frame, case))
    assert [plan.name for plan in api.inspect(frame)] == records.column_names
    with pytest.raises(InputError, match="does not say which records"):
        tabulated(spark, "counts")


def test_nothing_is_loaded_before_it_is_needed():
    import subprocess
    import sys

    code = (
        "import sys, evosdc, evosdc.cli, evosdc.databases; "
        "print({'ibis', 'pyspark', 'psycopg'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert answer.stdout.strip() == "set()"
