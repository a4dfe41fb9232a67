"""README and manual say what the commands say, and stay short enough to be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from evosdc.cli.app import app
from manual import ROOT, agree, blocks_of, faults_of, pages, run_page, steps_of

PAGES = pages()
MOST_WORDS = 35_000
MOST_COLUMNS = 100
# Flags of other programs that pages name.
FOREIGN_FLAGS = {
    "--local-directory",
    "--no-cache-dir",
    "--no-dashboard",
    "--nthreads",
    "--nworkers",
    "--port",
    "--protocol",
    "--rm",
    "--seeds",
    "--sets",
}


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(page: str, tmp_path: Path) -> None:
    faults = run_page(page, tmp_path)
    assert not faults, "\n\n".join(
        [*faults, f"renew it: python tests/manual.py --renew {page}"]
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_run_or_says_why_not(page: str) -> None:
    assert not faults_of(blocks_of(text_of(page)))


@pytest.mark.parametrize("page", PAGES)
def test_lines_of_prose_are_short(page: str) -> None:
    inside, long = False, []
    for number, line in enumerate(text_of(page).split("\n"), start=1):
        if line.lstrip().startswith("```"):
            inside = not inside
        unbroken = line.lstrip().startswith(("|", "<!--", "![", "members:"))
        if len(line) > MOST_COLUMNS and not inside and not unbroken:
            long.append(number)
    assert not long, f"longer than {MOST_COLUMNS} columns: lines {long}"


def test_the_manual_is_not_too_long() -> None:
    words = sum(len(text_of(page).split()) for page in PAGES[1:])
    assert words <= MOST_WORDS


def test_every_flag_that_a_page_names_is_there() -> None:
    known = FOREIGN_FLAGS | {"--help", "--version"}
    for command in typer.main.get_command(app).commands.values():  # type: ignore[attr-defined]
        for one in command.params:
            known |= {*one.opts, *one.secondary_opts}
    # The generators of `evosdc instances` have options of their own.
    known |= {"--rows", "--columns", "--name"}
    for page in PAGES:
        if page.startswith(("docs/changelog/", "docs/reference/options.md")):
            continue
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text_of(page)))
        assert not named - known, f"{page}: {named - known}"


def test_outputs_are_compared_but_for_time() -> None:
    shown = ["SAFE in 3.1 s (763", "evaluations, seed 0, finished)", "...", "end 2"]
    assert agree(shown, ["SAFE in 12 s (8 evaluations,", "seed 0, finished)", "end 2"])
    assert not agree(shown, ["SAFE in 12 s (8 evaluations, seed 0, finished)", "end 3"])
    assert not agree(["2 cells"], ["3 cells"])
    assert not agree(["2 cells"], ["2 cells", "exposed"])


def test_a_block_without_a_reason_is_a_fault() -> None:
    (block,) = blocks_of("```console\n$ rm \\\n  -r x\ngone\n```\n")
    assert not faults_of([block])
    (step,) = steps_of(block)
    assert (step.command, step.shown) == ("rm \\\n  -r x", ["gone"])
    for text in ("```\nx\n```", "```toml\nx\n```", "```console\nno command\n```"):
        assert faults_of(blocks_of(text))
    (told,) = blocks_of("<!-- not run: a file of another program -->\n```toml\nx\n```")
    assert not faults_of([told])
    (silent,) = blocks_of("<!-- not run:  -->\n```toml\nx\n```")
    assert faults_of([silent])
