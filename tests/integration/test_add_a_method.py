"""The page "Add a method", followed in a copy of the package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evosdc.instances import make
from evosdc.io import write_table
from how_to import FollowedPage


@pytest.mark.slow
def test_the_method_of_the_page_runs_and_is_judged(tmp_path: Path) -> None:
    page = FollowedPage("add-a-method.md", tmp_path)
    write_table(tmp_path / "table.csv", make("random", seed=1, shape=(6, 5)))
    made = page.run()
    assert made.returncode == 0, made.stderr
    claim = json.loads((tmp_path / "result/confidential/claim.json").read_text())
    assert (claim["verdict"], claim["settings"]["method"]) == ("SAFE", "my-method")
    assert "my-method" in page.run("methods").stdout
    again = page.run(*page.command, "--method-option", "tries=0", "--force")
    assert again.returncode == 2
    assert "tries" in again.stderr
