"""Parameters that several commands share and that are no options of a verb."""

from __future__ import annotations

import typer

from evosdc.formats import suffix_list

TABLES = suffix_list("table", reading=True)
TABLES_WRITTEN = suffix_list("table", reading=False)
ADDRESS = "or postgresql://host/database?table=NAME"
RECORDS = suffix_list("records", reading=True)
FORCE = typer.Option(False, "--force", help="Overwrite existing output.")
JSON = typer.Option(False, "--json", help="Print one JSON object and nothing else.")
OUTPUT = typer.Option(..., "-o", "--output", help="Directory to write.")
CHECKPOINT = typer.Option(
    None,
    "--checkpoint",
    metavar="FILE",
    help="Where to write what a run has every 10 seconds, until the answer is written "
    "(default: in DIR/confidential, if the run may take over a minute).",
)
NO_CHECKPOINT = typer.Option(
    False, "--no-checkpoint", help="Write none: a run that is killed is lost."
)
RESUME = typer.Option(
    False,
    "--resume",
    help="Go on from the checkpoint of a run that was killed; what it spent counts.",
)
SEED = typer.Option(0, "--seed", help="Root of all randomness.")
