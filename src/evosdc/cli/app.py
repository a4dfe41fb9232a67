"""The command `evosdc`: collects the commands and turns errors into exit codes."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable

import typer

from evosdc import __version__
from evosdc.cli import (
    audit,
    demo,
    evaluate,
    inspect,
    instances,
    lower_bound,
    methods,
    protect,
    run,
    synthesise,
    tabulate,
    verify,
)
from evosdc.cli.flags import command_class
from evosdc.errors import EvosdcError

app = typer.Typer(
    name="evosdc",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"evosdc {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show version."
    ),
) -> None:
    """Statistical disclosure control by evolutionary search.

    Exit codes: 0 safe, or fit for release; 2 bad input; 3 cells stay exposed or were
    not judged, or a copy is not fit for release.
    """
    del version


_COMMANDS: dict[str, Callable[..., None]] = {
    "tabulate": tabulate.tabulate,
    "protect": protect.protect,
    "audit": audit.audit,
    "verify": verify.verify,
    "lower-bound": lower_bound.lower_bound,
    "inspect": inspect.inspect,
    "synthesise": synthesise.synthesise,
    "evaluate": evaluate.evaluate,
}
_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}
app.command("demo")(demo.demo)
app.command("run", context_settings=_WORDS)(run.run)
for _name, _command in _COMMANDS.items():
    app.command(_name, cls=command_class(_command))(_command)
_bounds = command_class(lower_bound.lower_bound, renamed="lower-bound")
app.command("bounds", cls=_bounds, hidden=True)(lower_bound.lower_bound)
app.command("methods")(methods.methods)
app.command("instances", context_settings=_WORDS)(instances.instances)


def main() -> None:
    """Run the command line."""
    # Matrices here are small. On a machine with other work, threads that wait for each
    # other make them a hundred times slower, past any limit of time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Commands say by themselves what the library would log.
    logging.getLogger("evosdc").addHandler(logging.NullHandler())
    try:
        app()
    except EvosdcError as error:
        typer.echo(f"evosdc: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        typer.echo(f"evosdc: {error}. Next step: check the file and disk.", err=True)
        sys.exit(EvosdcError.exit_code)
    except SystemExit as end:
        # Typer ends a command that Ctrl-C interrupts without a word.
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            typer.echo("evosdc: interrupted; no result was written.", err=True)
        raise
