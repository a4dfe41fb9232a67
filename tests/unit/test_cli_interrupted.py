"""Ctrl-C before there is anything to write is told, with its own exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from evosdc.cli import app as commands


def test_a_command_that_is_interrupted_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    def over() -> None:
        raise typer.Exit(3)

    for work, code, words in ((interrupted, 130, "no result"), (over, 3, "")):
        app = typer.Typer()
        app.command()(work)
        monkeypatch.setattr(commands, "app", app)
        monkeypatch.setattr("sys.argv", ["evosdc"])
        with pytest.raises(SystemExit) as end:
            commands.main()
        assert end.value.code == code
        said = capsys.readouterr().err
        assert words in said
        assert bool(said) == bool(words)


def test_ctrl_c_while_the_command_line_is_imported_is_quiet(tmp_path: Path) -> None:
    # Ctrl-C is pressed in the first import of a library.
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    ended = subprocess.run(
        [sys.executable, "-m", "evosdc", "--help"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
