"""The reference page of options is what the declarations say."""

from __future__ import annotations

from options_page import PAGE, options_page


def test_the_page_is_current() -> None:
    found = PAGE.read_text(encoding="utf-8")
    assert found == options_page(), "run: python tests/golden/options_page.py"
