"""The command line as a user meets it: outputs, exit codes, messages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from builders import Command
from evosdc.cli.app import app
from evosdc.instances import make
from evosdc.io import write_table
from evosdc.suppress.run.registry import load_methods


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "table.jj"
    write_table(path, make("class2", 3, rows=8, columns=6))
    return path


def test_protect_writes_everything_and_the_judge_agrees(
    run: Command, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, text, _ = run("protect", small, "-o", out, "--json", "--evaluations", 20)
    summary = json.loads(text)
    assert code == 0
    assert list(summary) == [
        "method",
        "cost",
        "secondaries",
        "primaries",
        "lower_bound",
        "gap",
        "safe",
        "verdict",
        "exposed",
        "open",
        "insiders",
        "reasons",
        "next_steps",
        "claim",
        "notes",
        "seconds",
        "evaluations",
        "seed",
        "version",
        "settings",
    ]
    assert summary["safe"] is True
    assert summary["exposed"] == 0
    assert {p.name for p in (out / "publish").iterdir()} == {
        "published.csv",
        "report.html",
    }
    assert {p.name for p in (out / "confidential").iterdir()} >= {
        "pattern.csv",
        "certificate.npz",
        "claim.json",
        "run.csv",
        "report.html",
        "table.jj",
    }
    pattern = out / "confidential" / "pattern.csv"
    code, text, _ = run("audit", small, "--pattern", pattern, "--json")
    assert code == 0
    assert json.loads(text)["safe"] is True
    assert json.loads(text)["exact"] is True


def test_published_values_of_hidden_cells_are_blank(
    run: Command, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run("protect", small, "-o", out, "--method", "sp")
    pattern = (out / "confidential" / "pattern.csv").read_text().splitlines()[1:]
    published = (out / "publish" / "published.csv").read_text().splitlines()[1:]
    hidden = 0
    for full, public in zip(pattern, published, strict=True):
        if full.rsplit(",", 1)[1] in "um":
            hidden += 1
            assert full.split(",")[1] not in public.split(",")[1:]
    assert hidden > 0


def test_same_seed_same_pattern_for_any_number_of_workers(
    run: Command, small: Path, tmp_path: Path
) -> None:
    texts = []
    for workers in (1, 2):
        out = tmp_path / f"out{workers}"
        # The one family of methods that evaluates in several threads.
        words = ("--method", "order-ga", "--evaluations", 30, "--seed", 5)
        run("protect", small, "-o", out, *words, "--workers", workers)
        texts.append((out / "confidential" / "pattern.csv").read_text())
    assert texts[0] == texts[1]


def test_audit_finds_a_cell_that_is_given_away(
    run: Command, small: Path, tmp_path: Path
) -> None:
    code, text, _ = run("audit", small, "--json")
    found = json.loads(text)
    assert code == 3
    assert found["safe"] is False
    assert found["exposed"][0]["low"] <= found["exposed"][0]["high"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("protect", "{dir}/no.jj", "-o", "{dir}/o"), "no.jj"),
        (("protect", "{dir}", "-o", "{dir}/o"), "folder|directory"),
        (("protect", "{table}", "-o", "{dir}/o", "--method", "magic"), "no method"),
        (("protect", "{table}", "-o", "{dir}/o", "--cost", "love"), "not known"),
        (
            ("protect", "{table}", "-o", "{dir}/o", "--method-option", "x=1"),
            "no option",
        ),
        (("protect", "{table}", "-o", "{dir}/o", "--method-option", "x"), "NAME=VALUE"),
        (("protect", "{table}", "-o", "{dir}/o", "--time-limit", "0"), "time limit"),
        (("protect", "{table}", "-o", "{dir}/o", "--gap", "2"), "gap is"),
        (("instances", "nothing", "-o", "{dir}/x.jj"), "no family"),
        (("instances", "class1", "--rows", "x", "-o", "{dir}/x.jj"), "rows"),
        (("instances", "class1", "-o", "{table}"), "exists already"),
        (("lower-bound", "{table}", "--method", "x"), "one of node, cut"),
    ],
)
def test_bad_input_gets_one_message_and_exit_code_2(
    run: Command, small: Path, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    filled = [w.format(dir=tmp_path, table=small) for w in words]
    code, out, err = run(*filled)
    assert code == 2
    assert out == ""
    assert any(part in err for part in says.split("|"))
    assert "Traceback" not in err
    assert not (tmp_path / "o").exists()


def test_existing_output_is_kept_unless_forced(
    run: Command, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "pattern.csv").write_text("mine")
    code, _, err = run("protect", small, "-o", out)
    assert code == 2
    assert "--force" in err
    assert (out / "pattern.csv").read_text() == "mine"
    code, _, _ = run("protect", small, "-o", out, "--method", "sp", "--force")
    assert code == 0


def test_levels_that_cannot_be_had_are_named(run: Command, tmp_path: Path) -> None:
    table = make("random", 1, shape="3,3", sensitive=0.3)
    cell = int(table.primaries[0])
    levels = table.lpl.copy()
    levels[cell] = table.value[cell] * 2 + 1
    path = tmp_path / "hard.jj"
    write_table(path, table.replace(lpl=levels))
    code, text, _ = run("protect", path, "-o", tmp_path / "o", "--json")
    found = json.loads(text)
    assert code == 3
    assert found["exposed"] == 1
    assert any(f"cell {cell} (at most " in note for note in found["notes"])
    # The others are protected all the same.
    pattern = tmp_path / "o" / "confidential" / "pattern.csv"
    easy = tmp_path / "easy.jj"
    write_table(easy, table)
    assert run("audit", easy, "--pattern", pattern)[0] == 0


def test_tabulate_protect_audit_from_microdata(run: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = ["region,kind,turnover"]
    rows += [
        f"{r},{k},{v}"
        for r, k, v in zip(
            rng.choice(["N", "S", "E"], 120),
            rng.choice(["a", "b", "c", "d"], 120),
            rng.integers(1, 500, 120),
            strict=True,
        )
    ]
    micro = tmp_path / "firms.csv"
    micro.write_text("\n".join(rows) + "\n")
    table, out = tmp_path / "table.csv", tmp_path / "out"
    words = ("--by", "region,kind", "--value", "turnover", "--rule", "p:30")
    code, _, err = run("tabulate", micro, *words, "--rule", "freq:6", "-o", table)
    assert (code, err) == (0, "")
    code, text, _ = run("protect", table, "-o", out, "--json", "--evaluations", 20)
    assert code == 0
    assert json.loads(text)["primaries"] > 0
    pattern = out / "confidential" / "pattern.csv"
    code, _, _ = run("audit", table, "--pattern", pattern)
    assert code == 0
    header = pattern.read_text().splitlines()[0]
    assert header == "cell_id,region,kind,value,status"


def test_methods_and_families_are_listed(run: Command) -> None:
    code, text, _ = run("methods", "--json")
    assert code == 0
    names = {entry["method"] for entry in json.loads(text)}
    assert {"hypercube", "greedy", "marginal", "attacker"} <= names
    code, text, _ = run("instances")
    assert code == 0
    assert "class2" in text


def test_every_command_is_documented() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
    text = page.read_text()
    for command in app.registered_commands:
        if command.hidden:
            continue
        assert f"## evosdc {command.name}" in text
        assert command.callback is not None
        assert "Example: evosdc" in (command.callback.__doc__ or "")


def test_every_method_is_documented() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "methods.md"
    text = page.read_text()
    for name in load_methods():
        assert f"| `{name}` |" in text


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys; sys.argv = ['evosdc', '--help']\n"
        "from evosdc.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'duckdb', 'highspy', 'matplotlib', 'pandas', 'pyarrow'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_further_formats_are_written_with_the_verdict(
    run: Command, tmp_path: Path
) -> None:
    """Refused before the search where a table has no such format."""
    path, out = tmp_path / "table.csv", tmp_path / "out"
    lines = [
        f"{r},{c},{7 + r * c},{'u' if r == c else 's'},1,1"
        for r in (1, 2, 3)
        for c in (1, 2, 3)
    ]
    path.write_text("a,b,value,status,lpl,upl\n" + "\n".join(lines) + "\n")
    words = ("protect", path, "-o", out, "--evaluations", 5)
    code, _, said = run(*words, "--formats", "grid,word")
    assert code == 2
    assert "no format 'word'" in said
    assert not out.exists()
    code, _, said = run(*words, "--formats", "grid,pivot", "--formats", "jj")
    assert code == 0, said
    names = {p.name for p in (out / "publish").iterdir()}
    assert names >= {"published-grid.csv", "published-pivot.csv"}
    assert (out / "confidential" / "table.jj").exists()
    grid = (out / "publish" / "published-grid.csv").read_text().splitlines()
    assert grid[0] == "a/b,Total,1,2,3"
    assert sum(line.split(",").count("x") for line in grid) >= 6
