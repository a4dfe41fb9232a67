"""Every example runs as it stands, and together they use every verb."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import evosdc

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip()
    assert not list(tmp_path.iterdir())


def test_every_verb_has_an_example() -> None:
    verbs = [name for name in evosdc.__all__ if name.islower() and name[0] != "_"]
    verbs.remove("errors")
    text = "".join(path.read_text(encoding="utf-8") for path in EXAMPLES)
    assert len(verbs) == 14
    for verb in verbs:
        assert f"evosdc.{verb}(" in text
