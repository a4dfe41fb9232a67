"""`evosdc run`: the steps of a file of options, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from evosdc.errors import InputError

DEFAULT = "evosdc.toml"


def run(context: typer.Context) -> None:
    """Run the steps of a file of options: evosdc run FILE STEP FLAGS.

    FILE is evosdc.toml where none is named. It has a section for each step and for the
    objects of its options: tabulate, protect, protect.stop, output. Without a STEP all
    are run, in the order of the file, until one does not end with exit code 0. FLAGS
    of the STEP override what the file says.

    Example: evosdc run evosdc.toml protect --time-limit 300
    """
    from evosdc.cli.settings import defaults_of, read_settings

    words = list(context.args)
    file = words.pop(0) if words and words[0].endswith(".toml") else DEFAULT
    sections = {
        name.replace("-", "_"): one for name, one in read_settings(Path(file)).items()
    }
    commands = _commands(context)
    steps = [name for name in sections if name != "output"]
    for name in steps:
        if name not in commands:
            raise InputError(
                f"{file} has a section [{name}]",
                expected=f"some of {', '.join(commands)}, output",
                hint="check the spelling; see docs/how-to/options-file.md",
            )
    if not steps:
        raise InputError(
            f"{file} has no step",
            expected=f"sections such as {', '.join(f'[{name}]' for name in commands)}",
            hint="see docs/how-to/options-file.md",
        )
    if words:
        word = words.pop(0)
        if word.startswith("-"):
            raise InputError(
                f"{word} comes before the name of a step",
                expected=f"one of {', '.join(steps)}, and its flags after it",
                hint=f"write: evosdc run {file} {steps[0].replace('_', '-')} {word}",
            )
        step = word.replace("-", "_")
        if step not in steps:
            raise InputError(
                f"{file} has no step {step!r}",
                expected=f"one of {', '.join(steps)}",
                hint=f"add a section [{step}]",
            )
        steps = [step]
    for step in steps:
        command = commands[step]
        several = {p.name: p.multiple or p.nargs != 1 for p in command.params}
        objects = getattr(command.callback, "objects", {})
        values = defaults_of(step, sections, objects, several)
        if len(steps) > 1:
            typer.echo(f"evosdc {command.name}", err=True)
        _invoke(context, command, values, words)


def _commands(context: typer.Context) -> dict[str, Any]:
    """Return the commands that can be steps, by the names of their sections."""
    root: Any = context.find_root().command
    steps = (
        "tabulate",
        "protect",
        "audit",
        "verify",
        "lower-bound",
        "synthesise",
        "evaluate",
    )
    return {name.replace("-", "_"): root.commands[name] for name in steps}


def _invoke(
    context: typer.Context, command: Any, values: dict[str, Any], words: list[str]
) -> None:
    """Run a command with other defaults; go on only if it ends well."""
    made = command.make_context(
        command.name, list(words), parent=context.find_root(), default_map=values
    )
    with made as inner:
        try:
            command.invoke(inner)
        except typer.Exit as end:
            if end.exit_code:
                raise
