"""The blocks of README and manual: found, run, compared and renewed.

    python tests/manual.py --check [PAGE ...]
    python tests/manual.py --renew [PAGE ...]

checks pages, or writes the output that their commands have now. A page is a path such
as ``docs/faq.md``; without one all are taken.

The blocks of a page are run in their order in a new folder. A comment in front of a
block, ``<!-- NAME: VALUE -->``, says what the fences cannot:

``data``
    Files that the page begins with: names of `DATA`.
``prepare``
    A command that is run there and not shown.
``file``
    The block is the content of this file.
``run instead``
    A command that takes the place of the one that is shown: ``make demo`` installs.
``exit code``
    Of the last command of the block, where it is not 0.
``not run``
    Why the block is not run.

A ``console`` block has commands after ``$`` with what they print (stderr too); a line
``...`` stands for any lines. What a ``python`` block prints is in the ``text`` block
that follows it. Seconds, numbers of evaluations and versions are not compared, nor is
where lines are broken.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import evosdc
from evosdc.cli import main
from evosdc.instances import business
from evosdc.io import write_hrc, write_records

ROOT = Path(__file__).parents[1]
COLUMNS = 80
OTHER_OUTPUT = "..."
COMMENTS = ("data", "prepare", "file", "exit code", "run instead", "not run")
_FENCE = re.compile(r"^( *)```(\w*)\s*$")
_COMMENT = re.compile(r"^ *<!-- ([a-z ]+): (.*) -->\s*$")
# What differs from run to run: by what, and what takes its place.
_MASKS = (
    (r"\b\d[\d,.]* (s|seconds)\b", "N s"),
    (r"\b\d[\d,]* (evaluations|generations)\b", r"N \1"),
    (r"\(\d[\d,]* by [a-z -]+(, \d[\d,]* by [a-zA-Z -]+)*\)", "(by what)"),
    # A bound that is raised until the gap is closed, more or less.
    (r"lower bound \S+: at most 0\.\d\d %", "lower bound: at most 0 %"),
    (r"(seed \d+), (finished|target gap|optimal)\)", r"\1, END)"),
    (r"\b\d[\d,]* witness(es| tables)\b", "N witnesses"),
    (r"\b0\.\d+\.\d+(\.?(dev|rc|a|b)\d+)?\b", "VERSION"),
    (r"\b20\d\d-\d\d-\d\dT[\d:.+]+", "TIME"),
    (r"[│┃┏┓┗┛┡┩└┘├┤┬┴┼━─╭╮╯╰╇┳╞╡═]+", " "),
)


@dataclass
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    line
        Of its first fence, from 0.
    language
        The word after the fence.
    indent
        Blanks in front of the fence.
    lines
        Its content, without the indent.
    comments
        What is said in front of it, by name.
    """

    line: int
    language: str
    indent: str
    lines: list[str] = field(default_factory=list)
    comments: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"line {self.line + 1} ({self.language or 'no language'})"

    @property
    def text(self) -> str:
        """The content."""
        return "\n".join(self.lines) + "\n"


def pages() -> list[str]:
    """Return README and the pages in the navigation, as paths below the root.

    Without those for developers, which have tests of their own.
    """
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = text.partition("\nnav:")[2].partition("- For developers:")[0]
    found = re.findall(r"(?:^|[ :])([\w./-]+\.md)\s*$", nav, re.MULTILINE)
    return ["README.md", *(f"docs/{name}" for name in found)]


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a page."""
    found, inside = list[Block](), None
    comments = dict[str, list[str]]()
    for number, line in enumerate(text.split("\n")):
        fence, comment = _FENCE.match(line), _COMMENT.match(line)
        if inside is not None:
            if fence and not fence[2] and fence[1] == inside.indent:
                found, inside = [*found, inside], None
            else:
                inside.lines.append(line.removeprefix(inside.indent))
        elif fence:
            inside = Block(number, fence[2], fence[1], comments=comments)
            comments = {}
        elif comment:
            comments.setdefault(comment[1], []).append(comment[2])
        elif line.strip():
            comments = {k: v for k, v in comments.items() if k in ("data", "prepare")}
    return found


def faults_of(blocks: list[Block]) -> list[str]:
    """Return what nobody could run, and why."""
    faults = []
    for before, block in zip([None, *blocks], blocks, strict=False):
        said = block.comments
        printed = (
            block.language == "text"
            and before is not None
            and before.language == "python"
        )
        runs = block.language in ("console", "python") or "file" in said or printed
        if not block.language:
            faults.append(f"{block}: the fence needs a language")
        if not runs and not any(said.get("not run", [])):
            faults.append(
                f"{block}: say <!-- not run: REASON --> or <!-- file: NAME -->"
            )
        if set(said) - set(COMMENTS):
            faults.append(f"{block}: comments are called {', '.join(COMMENTS)}")
        if (
            block.language == "console"
            and "not run" not in said
            and not block.lines[0].startswith("$ ")
        ):
            faults.append(f"{block}: begins with no command")
    return faults


@dataclass
class Step:
    """A command, or the code of a block, with the output that the page shows."""

    block: Block
    command: str
    first: int
    shown: list[str]


def steps_of(block: Block) -> Iterator[Step]:
    """Take a ``console`` block apart; `first` is where its output begins."""
    at = 0
    while at < len(block.lines):
        words = [block.lines[at].removeprefix("$ ")]
        while words[-1].endswith("\\"):
            at += 1
            words.append(block.lines[at])
        at = first = at + 1
        while at < len(block.lines) and not block.lines[at].startswith("$ "):
            at += 1
        yield Step(block, "\n".join(words), first, block.lines[first:at])


def masked(lines: list[str]) -> str:
    """Return an output as it is compared."""
    text = " ".join("\n".join(lines).split())
    for what, instead in _MASKS:
        text = re.sub(what, instead, text)
    return " ".join(text.split())


def agree(shown: list[str], printed: list[str]) -> bool:
    """Whether an output is what a page shows."""
    parts, part = list[str](), list[str]()
    for line in shown:
        if line.strip() == OTHER_OUTPUT:
            # A number in brackets that are cut off cannot be masked.
            parts, part = [*parts, re.sub(r"\([^()]*$", "", masked(part))], []
        else:
            part.append(line)
    wanted = r"(?:.*)".join(rf"\s*{re.escape(p)}\s*" for p in [*parts, masked(part)])
    return re.fullmatch(wanted, masked(printed)) is not None


def renewed(shown: list[str], printed: list[str]) -> list[str]:
    """Return what to show now: as many lines before and after an ellipsis."""
    if OTHER_OUTPUT not in [line.strip() for line in shown]:
        return printed
    gaps = [i for i, line in enumerate(shown) if line.strip() == OTHER_OUTPUT]
    before, after = gaps[0], len(shown) - gaps[-1] - 1
    if before + after >= len(printed):
        return printed
    return [*printed[:before], OTHER_OUTPUT, *printed[len(printed) - after :]]


def run_page(name: str, folder: Path, *, renew: bool = False) -> list[str]:
    """Run the blocks of a page in a folder; return where it says something else.

    `renew` writes the page with what is printed now.
    """
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    faults = faults_of(blocks)
    if faults:
        return faults
    names: dict[str, Any] = {"__name__": "__main__"}
    wrong: list[Outcome] = []
    with contextlib.chdir(folder), _environment():
        for block, after in zip(blocks, [*blocks, None][1:], strict=True):
            faults += _prepare(block)
            for outcome in _outcomes(block, after, names):
                for place in (folder.resolve(), folder):
                    outcome.printed = outcome.printed.replace(f"{place}/", "")
                if fault := outcome.fault():
                    faults.append(f"{block}: {outcome.step.command}{fault}")
                    wrong.append(outcome)
    if renew:
        lines = text.split("\n")
        for outcome in reversed(wrong):
            if outcome.code == outcome.right:
                outcome.renew(lines)
        path.write_text("\n".join(lines), encoding="utf-8")
    return faults


@dataclass
class Outcome:
    """What a step printed and how it ended."""

    step: Step
    code: int
    right: int
    printed: str

    @property
    def lines(self) -> list[str]:
        """What was printed."""
        return [line.rstrip() for line in self.printed.rstrip().split("\n") if line]

    def fault(self) -> str:
        """Return what the page says otherwise, or nothing."""
        if self.code != self.right:
            return f": exit code {self.code} instead of {self.right}\n{self.printed}"
        if agree(self.step.shown, self.lines):
            return ""
        shown = "\n".join(self.step.shown)
        return f"\n--- the page\n{shown}\n--- printed\n{self.printed}"

    def renew(self, lines: list[str]) -> None:
        """Put what was printed into the lines of the page."""
        block, shown = self.step.block, renewed(self.step.shown, self.lines)
        start = block.line + 1 + self.step.first
        if block.language == "python":
            # What it prints has no block of its own yet.
            shown = ["", "```text", *shown, "```"]
            start += 1
        end = start + len(self.step.shown)
        lines[start:end] = [f"{block.indent}{line}".rstrip() for line in shown]


def _prepare(block: Block) -> list[str]:
    """Make what a block needs; return what went wrong."""
    for data in " ".join(block.comments.get("data", [])).split():
        DATA[data]()
    calls = [(c, *_call(c)) for c in block.comments.get("prepare", [])]
    return [
        f"{block}: {command}: exit code {code}\n{printed}"
        for command, code, printed in calls
        if code not in (0, 3)
    ]


def _outcomes(
    block: Block, after: Block | None, names: dict[str, Any]
) -> Iterator[Outcome]:
    """Run a block; `after` is the next one, `names` what code has defined so far."""
    if "not run" in block.comments:
        return
    if "file" in block.comments:
        Path(block.comments["file"][0]).write_text(block.text, encoding="utf-8")
        return
    right = int(block.comments.get("exit code", ["0"])[0])
    if block.language == "python":
        shown = after if after is not None and after.language == "text" else None
        code, printed = _run_code(block.text, f"line {block.line + 1}", names)
        step = Step(block, block.text, len(block.lines), [])
        if shown is not None:
            step = Step(shown, block.text, 0, shown.lines)
        yield Outcome(step, code, right, printed)
    elif block.language == "console":
        steps = list(steps_of(block))
        instead = block.comments.get("run instead", [])
        for number, step in enumerate(steps):
            command = instead[number] if number < len(instead) else step.command
            last = step is steps[-1]
            yield Outcome(step, *_ended(command, right if last else 0))


def _ended(command: str, right: int) -> tuple[int, int, str]:
    code, printed = _call(command)
    return code, right, printed


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Have output as wide as on the pages, and `evosdc` for scripts of the shell."""
    with tempfile.TemporaryDirectory() as programs:
        for name, words in (("evosdc", "-m evosdc"), ("python", "")):
            program = Path(programs) / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            program.chmod(0o700)
        here = {
            "COLUMNS": str(COLUMNS),
            "NO_COLOR": "1",
            "TERM": "dumb",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        with patch.dict(os.environ, here):
            yield


def _call(command: str) -> tuple[int, str]:
    """Run a command, `evosdc` by itself in this process, which has loaded it."""
    words = command.replace("\\\n", " ")
    if not words.startswith("evosdc ") or re.search(r"[|<>;&$*]", words):
        done = subprocess.run(
            ["bash", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout
    out = io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        patch.object(sys, "argv", _split(words)),
    ):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def _split(words: str) -> list[str]:
    return shlex.split(words, comments=True)


def _run_code(text: str, name: str, names: dict[str, Any]) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(text, name, "exec"), names)
        except Exception:
            return 1, out.getvalue() + traceback.format_exc()
    return 0, out.getvalue()


def _write_firms(number: int, folder: str = ".") -> None:
    """Write what `evosdc demo` leaves as its input, of so many firms."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    data = business(firms=number)
    write_records(home / "firms.csv", data.records, force=True)
    for name, tree in data.hierarchies.items():
        write_hrc(home / f"{name}.hrc", tree, force=True)


def _write_table() -> None:
    """Write a few firms, and their table by region and size."""
    _write_firms(300)
    tabulated = evosdc.tabulate(
        "firms.csv",
        ["region", "size"],
        "turnover",
        rules=["p:10", "freq:3"],
        read=evosdc.Read(hierarchies={"region": "region.hrc"}),
    )
    evosdc.write_table("table.csv", tabulated.table)


def _write_nested() -> None:
    """Write records with columns of two levels: sections of industries, regions."""
    with open("places.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["A21", "A88", "NUTS2", "NUTS3", "turnover"])
        for n in range(120):
            industry, place = n % 7, n % 5
            writer.writerow(
                [
                    "BC"[industry > 3],
                    f"{'BC'[industry > 3]}{industry}",
                    f"R{place // 2}",
                    f"R{place // 2}{place}",
                    100 + 37 * (n % 11),
                ]
            )


def _write_argus() -> None:
    """Write records and a table as tau-Argus has them, and an a-priori file."""
    _write_table()
    table = evosdc.read_table("table.csv")
    evosdc.write_table("table.tab", table)
    evosdc.write_table("table.jj", table)
    Path("table.hst").write_text("Downs;10-49;P\nFells;Total;C;1000\n")
    with open("firms.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    Path("firms.asc").write_text(
        "".join(
            f"{row['region']:<12}{row['size']:<6}{row['turnover']:>10}\n"
            for row in rows
        )
    )
    Path("firms.rda").write_text(
        "Region 1 12\n  <RECODEABLE>\n  <HIERARCHICAL>\n"
        '  <HIERCODELIST> "region.hrc"\n  <HIERLEADSTRING> "@"\n'
        "Size 13 6\n  <RECODEABLE>\n"
        "Turnover 19 10\n  <NUMERIC>\n  <DECIMALS> 0\n"
    )


def _write_people() -> None:
    """Write the people of the tutorial, by the script that it shows."""
    page = (ROOT / "docs/tutorial/synthesise.md").read_text(encoding="utf-8")
    (script,) = (b for b in blocks_of(page) if b.comments.get("file") == ["people.py"])
    _run_code(script.text, "people.py", {})


# What a page can begin with.
DATA: dict[str, Callable[[], None]] = {
    # The input of the demo, and a few firms under the same names.
    "demo": lambda: _write_firms(3000),
    "firms": lambda: _write_firms(300),
    "table": _write_table,
    "nested": _write_nested,
    "argus": _write_argus,
    "people": _write_people,
}


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--renew", action="store_true")
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    given = parser.parse_args()
    bad = 0
    for name in given.pages or pages():
        with tempfile.TemporaryDirectory() as folder:
            faults = run_page(name, Path(folder), renew=given.renew)
        sys.stdout.write(f"{name}: {'as shown' if not faults else ''}\n")
        for fault in faults:
            sys.stdout.write(f"{fault}\n")
        bad += len(faults)
    sys.exit(1 if bad and given.check else 0)


if __name__ == "__main__":
    _main()
