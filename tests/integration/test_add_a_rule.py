"""The page "Add a rule", followed in a copy of the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from evosdc.io import read_table
from how_to import FollowedPage


@pytest.mark.slow
def test_the_rule_of_the_page_marks_a_cell(tmp_path: Path) -> None:
    page = FollowedPage("add-a-rule.md", tmp_path)
    # Three firms of the same size in the north; in the south they differ.
    sales = {"N": (5, 5, 5), "S": (1, 7, 9), "W": (4, 6, 8)}
    rows = [f"{region},{x}" for region, firms in sales.items() for x in firms]
    page.write("firms.csv", ["region,sales", *rows])
    made = page.run()
    assert made.returncode == 0, made.stderr
    assert "sensitive by rule: equal:20: 1 cells" in made.stdout
    assert "equal:10" in page.run("tabulate", "--help").stdout
    refused = page.run(
        *[a.replace("equal:20", "unequal") for a in page.command[:-1]], "x.csv"
    )
    assert "equal[:PERCENT]" in refused.stderr
    table = read_table(tmp_path / "table.csv")
    (north,) = table.primaries
    assert table.label(int(north)) == "region=N"
    assert (table.lpl[north], table.upl[north]) == (3, 3)
