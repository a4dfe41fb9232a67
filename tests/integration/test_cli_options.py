"""Flags that are made of declarations, their former names, and `evosdc run`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from builders import Command
from evosdc.cli.app import app
from evosdc.options.tables import VERBS

CELLS = "region,size,value,status,upl\nN,a,5,u,2\nN,b,20,s,0\nS,a,30,s,0\nS,b,40,s,0\n"
QUICK = ("--evaluations", "5", "--json")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(CELLS)
    return tmp_path / "t.csv"


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_has_the_flags_of_its_verb(verb: str) -> None:
    command = get_command(app).commands[verb.replace("_", "-")]
    flags = {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)}
    for group in VERBS[verb].values():
        for one in group.options():
            if one.flag.name:
                assert set(one.flag.name.split("/")) <= flags
                assert not flags & set(one.flag.former)


@pytest.mark.parametrize(
    ("former", "now"),
    [
        (["--prefer", "region=N=5"], ["--cost-factor", "region=N=5"]),
        (["--prefer=region=N=5"], ["--cost-factor=region=N=5"]),
        (["--bounds", "0:inf"], ["--prior", "0:inf"]),
        (["--secondaries"], ["--protect-secondaries"]),
        (["--no-singletons"], ["--attackers", "public"]),
        (["--option", "restarts=2"], ["--method-option", "restarts=2"]),
        (["--also", "pivot"], ["--formats", "pivot"]),
        (["--earlier", "old.csv"], ["--already-published", "old.csv"]),
    ],
)
def test_a_former_flag_is_understood_and_says_the_new_one(
    run: Command, table: Path, former: list[str], now: list[str]
) -> None:
    (table.parent / "old.csv").write_text("region,size,value\nS,b,40\n")
    found = []
    for words, out in ((former, "a"), (now, "b")):
        code, text, error = run("protect", table, "-o", out, *QUICK, *words)
        assert (code, bool(text)) in ((0, True), (3, True), (2, False)), error
        said = "is now" in error
        assert said == (words is former)
        if said:
            assert former[0].partition("=")[0] in error
            assert now[0].partition("=")[0] in error
        found.append((code, text and json.loads(text)["settings"]))
    assert found[0] == found[1]


def test_what_follows_two_dashes_is_no_flag(run: Command, table: Path) -> None:
    code, _, error = run("audit", "--", "--also", table)
    assert code == 2
    assert "is now" not in error


def test_bounds_is_a_former_name(run: Command, table: Path) -> None:
    code, text, error = run("bounds", table, "--json")
    assert code == 0
    assert "bounds is now lower-bound" in error
    now, same, quiet = run("lower-bound", table, "--json")
    assert (now, quiet) == (0, "")
    one, two = json.loads(text), json.loads(same)
    assert one["lower_bound"] == two["lower_bound"] == 90.0


def test_a_bound_is_of_the_question_that_was_protected(
    run: Command, table: Path
) -> None:
    asked = ("--cost", "unit", "--hide", "region=S,size=b")
    _, text, _ = run("protect", table, "-o", "a", *asked, *QUICK)
    made = json.loads(text)
    code, text, _ = run("lower-bound", table, *asked, "--json")
    assert code == 0
    assert json.loads(text)["lower_bound"] == made["cost"] == made["lower_bound"]


@pytest.mark.parametrize("limit", ["none", "auto", "7"])
def test_no_time_limit_is_said_in_a_word(run: Command, table: Path, limit: str) -> None:
    _, text, _ = run("protect", table, "-o", "a", "--json", "--time-limit", limit)
    wanted = {"none": None, "auto": 60.0, "7": 7.0}[limit]
    assert json.loads(text)["settings"]["time_limit"] == wanted
    code, _, error = run("protect", table, "-o", "b", "--time-limit", "long")
    assert code == 2
    assert "--time-limit is 'long'" in error


FILE = """
[output]
table = "made.csv"
folder = "out"
force = true
json = true

[tabulate]
micro = "firms.csv"
by = ["region,size"]
value = "v"
rules = ["freq:3"]

[tabulate.contributors]
floor = 2

[protect]
time_limit = "none"

[protect.stop]
evaluations = 5

[protect.attackers]
who = "public"

[protect.cells]
hide = [{region = "b", size = "x"}]
cost_factor = {"region=a" = 5}
"""


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{r},{s},{10 * k + 7}"
        for r, many in (("a", 2), ("b", 5), ("c", 6))
        for s in "xyz"
        for k in range(many)
    ]
    (tmp_path / "firms.csv").write_text("\n".join(["region,size,v", *rows]) + "\n")
    (tmp_path / "evosdc.toml").write_text(FILE)
    return tmp_path / "evosdc.toml"


def test_steps_are_run_from_a_file(run: Command, options: Path) -> None:
    code, text, error = run("run")
    assert code in (0, 3), error
    made = json.loads(text[text.index("{") :])
    assert made["settings"]["evaluations"] == 5
    assert made["settings"]["attackers"] == "public"
    assert made["settings"]["hide"] == ["region=b,size=x"]
    assert made["settings"]["cost_factor"] == ["region=a=5"]
    assert (options.parent / "made.csv").exists()
    assert (options.parent / "out/confidential/claim.json").exists()
    code, text, _ = run("run", "evosdc.toml", "protect", "--evaluations", 3)
    assert json.loads(text)["settings"]["evaluations"] == 3
    assert json.loads(text)["settings"]["cost_factor"] == ["region=a=5"]


def test_saved_options_do_the_same_again(run: Command, table: Path) -> None:
    words = ("--cost-factor", "region=N=5", "--prior", "0:inf", "--total", "Total")
    _, text, _ = run(
        *("protect", table, "-o", "a", *QUICK, *words, "--save-options", "s.toml")
    )
    saved = tomllib.loads((table.parent / "s.toml").read_text())
    assert saved["protect"]["cells"]["cost_factor"] == ["region=N=5"]
    assert saved["protect"]["prior"] == {"bounds": "0:inf"}
    assert "force" not in saved["protect"]
    code, again, error = run("run", "s.toml", "protect", "--force", "--json")
    assert code == 0, error
    assert json.loads(again)["settings"] == json.loads(text)["settings"]
    code, _, error = run(
        *("protect", table, "-o", "b", *QUICK, "--save-options", "s.toml")
    )
    assert code == 2
    assert "s.toml" in error


def test_a_limit_of_time_is_saved_as_a_number_and_read_back(
    run: Command, table: Path
) -> None:
    given = (*QUICK, "--time-limit", "2.5", "--save-options", "s.toml")
    code, text, error = run("protect", table, "-o", "a", *given, "--json")
    assert code == 0, error
    file = table.parent / "s.toml"
    assert tomllib.loads(file.read_text())["protect"]["time_limit"] == 2.5
    # Earlier versions wrote text.
    number = file.read_text()
    for said in ("2.5", '"2.5"'):
        file.write_text(number.replace("= 2.5", f"= {said}"))
        code, again, error = run("run", "s.toml", "protect", "--force", "--json")
        assert code == 0, error
        assert json.loads(again)["settings"] == json.loads(text)["settings"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[protect.stop]\nevalutions = 3", "[protect.stop] has 'evalutions'"),
        ("[protect]\nstrict = true", "[protect] has 'strict'"),
        ("[protekt]\n", "has a section [protekt]"),
        ("[output]\nfoldr = 'x'", "[output] has 'foldr'"),
        ("protect = 3", "'protect' is no section"),
        ("[protect]\nstop = 3", "'stop' is no section"),
        ("[protect\n", "cannot be read"),
    ],
)
def test_a_file_of_options_is_checked(
    run: Command, table: Path, text: str, words: str
) -> None:
    (table.parent / "evosdc.toml").write_text(text)
    code, _, error = run("run")
    assert code == 2
    assert words in error


def test_without_a_file_the_next_step_is_said(run: Command, table: Path) -> None:
    code, _, error = run("run", "protect")
    assert code == 2
    assert "there is no file evosdc.toml" in error
    assert "--save-options" in error


def test_flags_before_the_step_are_told_where_they_belong(
    run: Command, options: Path
) -> None:
    code, _, err = run("run", options, "--force")
    assert code == 2
    assert "--force comes before the name of a step" in err
    assert f"evosdc run {options} " in " ".join(err.split())
