"""Pages of results: what people wrote on them outlives the next run."""

from __future__ import annotations

from pathlib import Path

from benchmarks.experiments.write import write_under_remarks


def test_remarks_are_kept_when_a_page_is_written_again(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    write_under_remarks(page, "# First\n\n")
    assert page.read_text() == "# First\n\n## Remarks\n\nNone.\n"
    page.write_text(page.read_text().replace("None.", "- Seen on a loaded machine."))
    write_under_remarks(page, "# Second\n\n")
    assert page.read_text() == (
        "# Second\n\n## Remarks\n\n- Seen on a loaded machine.\n"
    )
