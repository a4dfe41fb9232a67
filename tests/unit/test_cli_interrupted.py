"""Ctrl-C before there is anything to write is told, with its own exit code."""

from __future__ import annotations

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
