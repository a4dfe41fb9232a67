"""The page of two programs side by side says where ours falls short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.experiments import peers
from benchmarks.experiments.peers_page import OURS, THEIRS, write_peers_page
from evosdc.errors import InputError


def row(program: str, table: int, **figures: Any) -> dict[str, Any]:
    given = {
        "family": "class1-50x50",
        "table": table,
        "program": program,
        "cost": 100.0,
        "bound": 100.0,
        "proven": True,
        "safe": True,
        "seconds": 1.0,
        "cpu_seconds": 1.0,
        "version": "0.6.0",
    }
    return dict.fromkeys(peers.COLUMNS) | given | figures


def page_of(tmp_path: Path, *pairs: tuple[dict[str, Any], dict[str, Any]]) -> list[str]:
    path = tmp_path / "peers.md"
    write_peers_page(path, [one for pair in pairs for one in pair], [], 60.0)
    return path.read_text().splitlines()


def test_more_expensive_and_slower_tables_are_marked(tmp_path: Path) -> None:
    lines = page_of(
        tmp_path,
        (row(OURS, 1), row(THEIRS, 1, cpu_seconds=2.0)),
        (row(OURS, 2, cpu_seconds=3.0), row(THEIRS, 2)),
        (row(OURS, 3, cost=101.0, proven=False), row(THEIRS, 3)),
        (row(OURS, 4, cpu_seconds=3.0), row(THEIRS, 4, cost=105.0, proven=False)),
        (row(OURS, 5), row(THEIRS, 5, failed="no answer", cost=None, proven=None)),
    )
    told = [line.split("|") for line in lines if line.startswith("|")]
    said = {cells[1].strip(): cells[-2].strip() for cells in told}
    assert said["1"] == ""
    assert said["2"] == "slower"
    assert said["3"] == "more expensive, slower"
    assert said["4"] == ""
    assert said["5"] == "OPT: no answer"
    assert "| class1-50x50 | 5 | 1 | 1 | 2 | 4 | 3 |" in "\n".join(lines)


def test_a_pattern_that_is_not_safe_is_marked(tmp_path: Path) -> None:
    lines = page_of(tmp_path, (row(OURS, 1), row(THEIRS, 1, safe=False)))
    assert any(line.endswith("| OPT not safe |") for line in lines)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"python": None}, "--python"), ({"time_limit": 90.0}, "time_limit is 90")],
)
def test_what_cannot_be_run_is_refused(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    given: dict[str, Any] = {
        "python": Path("python"),
        "data": None,
        "tables": 1,
        "time_limit": 60.0,
        "families": (),
        "command": "",
        "force": False,
        "on_row": lambda _: None,
    }
    with pytest.raises(InputError, match=words):
        peers.conduct(tmp_path, **given | options)
