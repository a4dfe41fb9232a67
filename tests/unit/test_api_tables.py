"""The verbs as a library: what may be given, and what must not be shown."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import evosdc
from evosdc.errors import InputError, NotAdditiveError
from evosdc.table import Table, link_tables

CELLS = {
    "r": ["a", "a", "b", "b"],
    "c": ["x", "y", "x", "y"],
    "value": [9117.0, 20.0, 30.0, 40.0],
    "status": ["u", "s", "s", "s"],
    "lpl": [2.0, 0.0, 0.0, 0.0],
    "upl": [2.0, 0.0, 0.0, 0.0],
}
RECORDS = pa.table(
    {
        "a": list("xxyyxxyyxy"),
        "b": list("ppppqqqqqp"),
        "c": list("rsrsrsrsrr"),
        "v": [5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0, 31.0, 37.0],
    }
)


def test_results_do_not_show_confidential_values_when_printed() -> None:
    result = evosdc.protect(CELLS, stop=evosdc.Stop(evaluations=5))
    assert result.safe
    assert "9117" not in repr(result)
    audit = evosdc.audit(CELLS)
    assert not audit.safe
    assert "EXPOSED" in repr(audit)
    assert audit.verdict.exposed[0].label == "r=a, c=x"
    assert "9117" not in repr(audit)


def test_one_variable_and_one_rule_need_no_list() -> None:
    records = pa.table({"region": ["N", "N", "S"], "turnover": [90.0, 1.0, 50.0]})
    one = evosdc.tabulate(records, "region", "turnover", rules="freq:3")
    many = evosdc.tabulate(records, ["region"], "turnover", rules=["freq:3"])
    assert (one.table.status == many.table.status).all()
    assert len(one.table.primaries) == 2


def test_hierarchies_may_be_files(tmp_path: Path) -> None:
    path = tmp_path / "r.hrc"
    path.write_text("top\n@a\n@b\n")
    result = evosdc.protect(
        CELLS,
        stop=evosdc.Stop(evaluations=5),
        read=evosdc.Read(hierarchies={"r": path}),
    )
    assert result.table.dimensions[0].hierarchy.codes == ("Total", "top", "a", "b")


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e15])
def test_wrong_totals_are_found_in_tables_of_any_size(unit: float) -> None:
    Table.of([0.1 * unit, 0.2 * unit, 0.3 * unit], [[1, 1, -1]])
    with pytest.raises(NotAdditiveError):
        Table.of([0.1 * unit, 0.2 * unit, 0.4 * unit], [[1, 1, -1]])


def test_rounding_beside_large_cells_is_no_wrong_total() -> None:
    noise = 0.1 + 0.2 - 0.3
    Table.of([0.3, noise, 0.0], [[0, 1, -1]])


def test_linked_tables_go_in_as_they_are() -> None:
    one = evosdc.tabulate(RECORDS, ["a", "b"], "v", rules="freq:3").table
    two = evosdc.tabulate(RECORDS, ["a", "c"], "v", rules="freq:3").table
    linked = link_tables([one, two])
    result = evosdc.protect(linked, stop=evosdc.Stop(evaluations=20))
    assert len(result.table.primaries) > 0
    assert result.safe
    assert evosdc.audit(result.table).safe


def test_a_table_without_sensitive_cells_says_so() -> None:
    table = evosdc.tabulate(RECORDS, ["a", "b"], "v", rules="nk:1,99")
    result = evosdc.protect(table, stop=evosdc.Stop(evaluations=5))
    assert result.safe
    assert "no sensitive cells" in result.notes[0]
    nothing = evosdc.tabulate(RECORDS, ["a", "b"], "v", rules="none")
    # Cells of which nobody said that no rule applies.
    cells = {"a": ["x", "y"], "value": [1, 2]}
    with pytest.raises(InputError, match="no rule"):
        evosdc.protect(cells)
    none = evosdc.Read(rules="none")
    for source, read in ((nothing, None), (nothing, none), (cells, none)):
        result = evosdc.protect(source, read=read, stop=evosdc.Stop(evaluations=5))
        assert result.safe is None
        assert any("not judged" in note for note in result.notes)
