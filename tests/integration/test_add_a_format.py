"""The page "Add a file format" works as it is written, on a copy of the source."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/add-a-format.md"
ROW = "| `.hst` |"
USE = """
from pathlib import Path

import evosdc
from evosdc.io import read_records, write_records

folder = Path(__file__).parent
firms = {"region": ["N", "N", "S", "S"], "size": ["1", "2"] * 2, "v": [90, 8, 40, 5]}
made = evosdc.tabulate(firms, ["region", "size"], "v", rules=["p:10"]).table
for name in ("t.jsonl", "t.jsonl.gz"):
    evosdc.write_table(folder / name, made)
    again = evosdc.read_table(folder / name)
    assert again.origin.rules == made.origin.rules
    assert again.status.tolist() == made.status.tolist()
    assert [d.hierarchy for d in again.dimensions] == [
        d.hierarchy for d in made.dimensions
    ]
(folder / "t.jsonl").write_text((folder / "t.jsonl").read_text().replace("90", "91"))
try:
    evosdc.read_table(folder / "t.jsonl")
except evosdc.EvosdcError as error:
    assert "was not written with the table as it is now" in str(error)
else:
    raise AssertionError("a side file of another table was taken")
(folder / "tree.jsonl").write_text(
    '{"high": "N", "low": "N1"}\\n{"high": "N", "low": "N2"}\\n'
)
write_records(folder / "f.jsonl", evosdc.frames.to_arrow(firms))
assert read_records(folder / "f.jsonl").frame.to_pydict() == firms
same = evosdc.tabulate(folder / "f.jsonl", ["region"], "v", rules="none")
assert same.table.value.max() == sum(firms["v"])
tree = evosdc.read_hierarchy(folder / "tree.jsonl")
assert tree.codes == ("Total", "N", "N1", "N2")
plain = evosdc.tabulate(firms, ["region"], "v", rules="none")
plain.write(folder / "out", formats="json-lines")
assert (folder / "out/confidential/table.jsonl").exists()
"""


def blocks() -> list[tuple[str, str, str]]:
    """Return language, title and text of each block of code on the page."""
    found = re.findall(
        r'^( *)```(\w+)(?: title="(.*?)")?\n(.*?)^\1```$',
        PAGE.read_text(encoding="utf-8"),
        re.M | re.S,
    )
    return [(language, title, dedent(text)) for _, language, title, text in found]


def call(folder: Path, *words: str) -> str:
    """Run Python on the copy of the package; return what it prints."""
    there = {
        **os.environ,
        "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=there, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_the_steps_of_the_page_make_a_format(tmp_path: Path) -> None:
    without = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=without)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    commands: list[str] = []
    for language, title, text in blocks():
        name, _, where = title.partition(", in ")
        path = tmp_path / name
        if language == "sh":
            commands += text.splitlines()
        elif where == "FORMATS":
            source = path.read_text(encoding="utf-8")
            begin = re.escape("FORMATS = (\n")
            entry = "".join(f"    {line}\n" for line in text.splitlines())
            changed, count = re.subn(
                rf"(?ms)^{begin}.*?(?=^\)$)", rf"\g<0>{entry}", source
            )
            assert count == 1
            path.write_text(changed, encoding="utf-8")
        elif where:
            source = path.read_text(encoding="utf-8")
            assert source.count(ROW) == 1
            path.write_text(source.replace(ROW, text + ROW), encoding="utf-8")
        elif title:
            assert not path.exists()
            path.write_text(text, encoding="utf-8")
    assert len(commands) == 3
    for command in commands:
        program, *words = shlex.split(command)
        call(tmp_path, *(["-m", program] if program == "pytest" else []), *words)
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    call(tmp_path, "use.py")
    assert ".jsonl" in call(tmp_path, "-m", "evosdc", "protect", "--help")
