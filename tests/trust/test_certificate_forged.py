"""Forged certificates: their words are never printed as what was checked.

A seal is no signature: whoever changes a sentence, a setting or a witness can seal the
file again. What `evosdc verify` prints as recomputed must then be the same as before,
and what it cannot know must stand under "not checked".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_certificate_independent import make_files, seal

from builders import Command

NOT_CHECKED = "Stated in the certificate, not checked:"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return make_files(tmp_path)[:2]


def forge(certificate: Path, **changes: Any) -> Path:
    """Change arrays, or entries of texts, and seal the file again."""
    with np.load(certificate) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name, change in changes.items():
        if isinstance(change, dict):
            change = np.array(json.dumps(json.loads(str(arrays[name])) | change))
        arrays[name] = change
    arrays["seal"] = np.array(seal(arrays))
    path = certificate.with_name("forged.npz")
    np.savez(path, **arrays)
    return path


def parts(words: str) -> tuple[list[str], list[str]]:
    """The lines before those that nobody checked, and these."""
    lines = words.splitlines()
    at = lines.index(NOT_CHECKED)
    return lines[:at], lines[at:]


FORGED = {
    "rules": "p:1, freq:100 (every cell)",
    "levels": "levels of 500 % of each value",
    "knowledge": "magnitudes: nothing at all is known",
    "insiders": "each of 900 lone respondents, and all coalitions of three",
    "publication": "12 linked tables together, with all earlier publications",
    "strictness": "levels must be exceeded, twice over",
    "proof": "4,711 cells judged; left open: 0\nWhat was recomputed, and holds:",
}


@pytest.mark.parametrize("name", list(FORGED))
def test_a_forged_sentence_is_not_printed_as_checked(
    name: str, files: tuple[Path, Path], run: Command
) -> None:
    table, certificate = files
    code, words, _ = run("verify", table, certificate)
    assert code == 0
    forged = forge(certificate, claim={name: FORGED[name]})
    code, again, _ = run("verify", table, forged)
    # Nothing in it is false but a sentence, which proves nothing either way.
    assert code == 0
    honest, stated = parts(words)
    checked, forged_words = parts(again)
    assert checked == honest
    first = FORGED[name].split("\n")[0]
    assert not any(first in line for line in checked)
    shown = [line for line in forged_words if first in line]
    # What the check answers in full is not repeated in other words.
    assert len(shown) == (name not in ("knowledge", "strictness", "proof"))
    assert len(forged_words) == len(stated)
    code, answer, _ = run("verify", table, forged, "--json")
    read = json.loads(answer)
    assert first not in json.dumps(read["checked"])
    assert read["stated"][name] == " ".join(FORGED[name].split())
    assert "claim" not in read


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"settings": {"rules": [["p:1", 2], ["freq:100", 9]]}}, "other rules than"),
        ({"settings": {"floor": 99.0}}, "other least levels than"),
        ({"settings": {"secondaries": True}}, "cells are not proved protected"),
        ({"settings": {"strict": True}}, "cells are not proved protected"),
        ({"settings": {"threshold": 3}}, "prior knowledge does not fit"),
        ({"settings": {"bounds": "0:1000"}}, "then: bounds (lower, upper)"),
        ({"settings": {"insiders": False}}, "then: lone respondents"),
        ({"respondent": None}, "then: lone respondents"),
    ],
)
def test_forged_settings_are_found(
    changes: dict[str, Any], fault: str, files: tuple[Path, Path], run: Command
) -> None:
    table, certificate = files
    if "respondent" in changes:
        with np.load(certificate) as archive:
            changes = {"respondent": np.arange(len(archive["respondent"])) - 1}
    code, words, _ = run("verify", table, forge(certificate, **changes))
    assert code == 3
    assert words.startswith("NOT PROVED")
    assert any(
        line.startswith("  fault:") and fault in line for line in words.splitlines()
    ), words
    assert "and holds:" not in words


def test_witnesses_left_out_leave_cells_open(
    files: tuple[Path, Path], run: Command
) -> None:
    """The claim says that nothing is open; half of the witnesses are gone."""
    table, certificate = files
    with np.load(certificate) as archive:
        arrays = {name: archive[name] for name in archive.files}
    half = len(arrays["cells"]) // 2
    moves = int(arrays["indptr"][half])
    forged = forge(
        certificate,
        claim={"proof": "2 cells judged; left open: 0"},
        cells=arrays["cells"][:half],
        signs=arrays["signs"][:half],
        denominators=arrays["denominators"][:half],
        indptr=arrays["indptr"][: half + 1],
        indices=arrays["indices"][:moves],
        numerators=arrays["numerators"][:moves],
    )
    code, words, _ = run("verify", table, forged)
    assert code == 3
    assert "not proved protected" in words
    assert "left open: 0" not in words
    assert "and holds:" not in words
