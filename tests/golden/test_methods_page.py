"""The reference page of methods is what the registry says."""

from __future__ import annotations

from methods_page import PAGE, with_current_table


def test_the_page_is_current() -> None:
    found = PAGE.read_text(encoding="utf-8")
    assert found == with_current_table(found), (
        "run: python tests/golden/methods_page.py"
    )
