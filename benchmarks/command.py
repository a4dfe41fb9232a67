"""`python -m benchmarks`: experiments run again, published beside measured."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evosdc.errors import EvosdcError, InputError, MissingExtraError

if TYPE_CHECKING:
    from benchmarks.experiments.searches import Plan

# Modules with an `EXPERIMENT`, by the name that scripts call.
_EXPERIMENTS = {
    "gensup": "benchmarks.experiments.gensup",
    "heurgene": "benchmarks.experiments.heurgene",
    "ons": "benchmarks.experiments.ons",
}
_THESIS, _NIST, _FLAGSHIP, _SCALE = "thesis", "nist", "flagship", "scale"
_REPEATS, _NUMBERS, _ATTACKS, _PEERS = "repeats", "numbers", "attacks", "peers"
_FAMILIES, _CONSTANTS, _HIERARCHICAL = "families", "constants", "hierarchical"
# Experiments that run `protect` for wall seconds, with options of their own.
_SEARCHES = (_FAMILIES, _CONSTANTS, _HIERARCHICAL)
_OLDER = (_THESIS, _NIST, _REPEATS, _NUMBERS, _ATTACKS, _FLAGSHIP, _PEERS, _SCALE)
_OTHERS = (*_OLDER, *_SEARCHES)
_PROGRAM = "python -m benchmarks"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def bench(
    ctx: typer.Context,
    name: str = typer.Argument(
        ...,
        help=", ".join((*_EXPERIMENTS, *_OTHERS)) + ".",
    ),
    data: Path | None = typer.Option(
        None,
        help="Directory of CSV microdata for thesis (default: made up), nist, "
        "repeats, numbers and attacks, or of JJ tables for flagship and peers, or of "
        "tables of offices for hierarchical.",
    ),
    tables: int | None = typer.Option(
        None,
        help="Tables per family (default: 3; 5 for ons, 10 for peers); families, "
        "constants: tables in all.",
    ),
    seeds: int = typer.Option(1, help="Runs of each method on each table."),
    time_limit: float = typer.Option(60.0, help="CPU seconds per run."),
    methods: str = typer.Option(
        "", help="a,b,c: NAME@SECONDS#EVALUATIONS+option=value, only NAME is needed."
    ),
    families: str = typer.Option("", help="a,b,c: families (default: all)."),
    reference: str = typer.Option(
        "", help="ons: the contender that stands for order-by-weight."
    ),
    quick: bool = typer.Option(False, "--quick", help="ons: two small tables only."),
    workers: str = typer.Option(
        "1",
        help="Processes; 1 gives the cleanest times. families, hierarchical: a,b,c.",
    ),
    limits: str = typer.Option(
        "",
        "--limits",
        "--limit",
        help="families, constants, hierarchical: a,b,c: wall seconds per run "
        "(default: 10,30,120 for families, 10 for constants, 60 for hierarchical).",
    ),
    attackers: str = typer.Option(
        "public",
        help="The same: public, or lone (lone respondents too), or public,lone.",
    ),
    half: str = typer.Option("both", help="families: tuning, checking or both."),
    measure: str = typer.Option(
        "", help="constants: NAME or FILE:NAME, run at half, once and twice its value."
    ),
    cluster: str | None = typer.Option(
        None,
        metavar="ADDRESS",
        help="gensup, heurgene, ons: the Dask workers of tcp://host:8786 in place of "
        "processes, one for each core; --workers of them at most (default: all).",
    ),
    bound_limit: float = typer.Option(
        60.0, help="CPU seconds for the bounds of a table; 0: no bounds."
    ),
    python: Path | None = typer.Option(
        None,
        help="peers, families, attacks: the Python of an environment with pytauargus, "
        "or with "
        "anonymeter.",
    ),
    output: Path = typer.Option(..., "-o", "--output", help="Directory to write."),
    force: bool = typer.Option(False, "--force", help="Begin anew: drop old rows."),
) -> None:
    """Run a published experiment again: CSV, a page and plots.

    Rows that the directory holds already are not run again: a run that was stopped goes
    on where it was, and a large one can be made in pieces.

    Example: python -m benchmarks gensup --tables 1 --families class1-50x20 -o results
    """
    # The plots come last: whoever cannot draw them hears of it before hours of runs.
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "bench")
    if name not in _EXPERIMENTS:
        _refuse(ctx, name, "cluster")
    if name in _SEARCHES:
        _refuse(ctx, name, "time_limit", "bound_limit", "reference", "quick")
        plan = _plan(name, methods, limits, workers, attackers, seeds)
        for path in _search(
            ctx,
            name,
            plan,
            output,
            data,
            tables,
            families,
            python,
            half,
            measure,
            force,
        ):
            typer.echo(str(path))
        return
    _refuse(ctx, name, "limits", "attackers", "half", "measure")
    processes = _whole(workers)
    if name == _THESIS:
        _refuse(ctx, name, "tables", "time_limit", "bound_limit", "reference", "quick")
        from benchmarks.experiments import thesis

        for path in thesis.conduct(
            output,
            data=data,
            seeds=seeds,
            experiments=_names(families),
            methods=_names(methods),
            workers=processes,
            command=_command(),
            force=force,
            on_row=_tell_trial,
        ):
            typer.echo(str(path))
        return
    if name == _NIST:
        _refuse(ctx, name, "tables", "methods", "bound_limit", "reference", "quick")
        from benchmarks.experiments import nist

        for path in nist.conduct(
            output,
            data=data,
            seeds=seeds,
            time_limit=time_limit,
            families=_names(families),
            target="tx2019",
            force=force,
            command=_command(),
            on_row=lambda e: typer.echo(
                f"{e.features} {e.library} {e.seed}: {e.score:.1f}, {e.matched:.2f} %"
            ),
        ):
            typer.echo(str(path))
        return
    if name == _REPEATS:
        _refuse(ctx, name, "tables", "methods", "bound_limit", "reference", "quick")
        from benchmarks.experiments import repeats

        for path in repeats.conduct(
            output,
            data=data,
            seeds=seeds,
            time_limit=time_limit,
            files=_names(families),
            command=_command(),
            on_row=lambda r: typer.echo(f"{r.file}: {r.between:.4f} apart"),
        ):
            typer.echo(str(path))
        return
    if name == _NUMBERS:
        _refuse(ctx, name, "tables", "methods", "bound_limit", "reference", "quick")
        from benchmarks.experiments import numbers

        for path in numbers.conduct(
            output,
            data=data,
            seeds=seeds,
            time_limit=time_limit,
            files=_names(families),
            force=force,
            command=_command(),
            on_row=lambda r: typer.echo(
                f"{r.file} {r.synthesiser} {r.seed}: {r.means_off} means, "
                f"{r.spreads_off} sd, {r.links_off} of {r.links} correlations off"
            ),
        ):
            typer.echo(str(path))
        return
    if name == _ATTACKS:
        _refuse(ctx, name, "tables", "methods", "bound_limit", "reference", "quick")
        from benchmarks.experiments import attacks

        for path in attacks.conduct(
            output,
            data=data,
            python=python,
            seeds=seeds,
            time_limit=time_limit,
            files=_names(families),
            force=force,
            command=_command(),
            on_row=lambda r: typer.echo(
                f"{r.file} {r.copy} {r.seed}, {r.name}: {r.value:.4f}"
            ),
        ):
            typer.echo(str(path))
        return
    if name == _FLAGSHIP:
        _refuse(ctx, name, "tables", "seeds", "methods", "reference", "quick")
        from benchmarks.experiments import flagship

        for path in flagship.conduct(
            output,
            data=data,
            time_limit=time_limit,
            families=_names(families),
            workers=processes,
            command=_command(),
            on_row=lambda r: typer.echo(
                f"{r.table}, {r.part}: {r.cost:,.0f}, gap {100 * r.gap:.1f} %"
            ),
        ):
            typer.echo(str(path))
        return
    if name == _PEERS:
        _refuse(ctx, name, "seeds", "methods", "workers", "reference", "quick")
        from benchmarks.experiments import peers

        for path in peers.conduct(
            output,
            python=python,
            data=data,
            tables=10 if tables is None else tables,
            time_limit=time_limit,
            families=_names(families),
            command=_command(),
            force=force,
            on_row=_tell_peer,
        ):
            typer.echo(str(path))
        return
    _refuse(ctx, name, "python")
    if name == _SCALE:
        _refuse(ctx, name, "data", "tables", "seeds", "methods", "reference", "quick")
        from benchmarks.experiments import scale

        for path in scale.conduct(
            output,
            families=_names(families),
            command=_command(),
            on_row=lambda row: typer.echo(
                f"{row['part']} {row.get('name') or format(row['size'], ',')}: "
                f"{row['seconds']:,.1f} s"
            ),
        ):
            typer.echo(str(path))
        return
    _refuse(ctx, name, "data")
    if name not in _EXPERIMENTS:
        raise InputError(
            f"there is no experiment {name!r}",
            expected=f"one of {', '.join((*_EXPERIMENTS, *_OTHERS))}",
        )
    from benchmarks.experiments.experiment import Settings, conduct

    module = import_module(_EXPERIMENTS[name])
    if name == "ons":
        _refuse(ctx, name, "bound_limit")
        bound_limit = 0.0
    else:
        _refuse(ctx, name, "reference", "quick")
    settings = Settings(
        tables=tables,
        seeds=seeds,
        time_limit=time_limit,
        methods=_names(methods),
        families=_names(families),
        workers=_most(ctx, processes, cluster),
        cluster=cluster,
        bound_limit=bound_limit,
        reference=reference,
    )
    if quick:
        _refuse(ctx, "--quick", "tables", "time_limit", "families")
        settings = replace(settings, **module.QUICK)
    try:
        written = conduct(
            module.EXPERIMENT,
            settings,
            output,
            command=_command(),
            force=force,
            on_row=_tell,
        )
    except KeyboardInterrupt:
        typer.echo(
            f"benchmarks: interrupted; what is finished is in {output}, and the same "
            "command goes on from there.",
            err=True,
        )
        raise typer.Exit(130) from None
    for path in written:
        typer.echo(str(path))


def main() -> None:
    """Run the command line."""
    try:
        app(prog_name=_PROGRAM)
    except EvosdcError as error:
        typer.echo(f"benchmarks: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        typer.echo(
            f"benchmarks: {error}. Next step: check the file and disk.", err=True
        )
        sys.exit(EvosdcError.exit_code)
    except KeyboardInterrupt:
        typer.echo("benchmarks: interrupted; rows that are finished stay.", err=True)
        sys.exit(130)


def _plan(
    name: str, methods: str, limits: str, workers: str, attackers: str, seeds: int
) -> Plan:
    from benchmarks.experiments import family_runs, searches

    by_default = {_FAMILIES: "10,30,120", _CONSTANTS: "10", _HIERARCHICAL: "60"}
    few = family_runs.METHODS if name == _FAMILIES else (searches.AUTO,)
    return searches.Plan(
        methods=_names(methods) or few,
        limits=tuple(map(_seconds, _names(limits or by_default[name]))),
        workers=tuple(map(_whole, _names(workers))),
        attackers=_names(attackers),
        seeds=seeds,
    )


def _search(
    ctx: typer.Context,
    name: str,
    plan: Plan,
    output: Path,
    data: Path | None,
    tables: int | None,
    families: str,
    python: Path | None,
    half: str,
    measure: str,
    force: bool,
) -> list[Path]:
    """Conduct one of the experiments that run `protect` for wall seconds."""
    from benchmarks.experiments import constants, family_runs, hierarchical
    from benchmarks.experiments.searches import told

    shared: dict[str, Any] = {
        "plan": plan,
        "command": _command(),
        "force": force,
        "on_row": lambda row: typer.echo(told(row), err=True),
    }
    chosen = _names(families)
    if name == _FAMILIES:
        _refuse(ctx, name, "data", "measure")
        shared |= {"half": half, "tables": tables, "python": python}
        return family_runs.conduct(output, families=chosen, **shared)
    _refuse(ctx, name, "half", "python")
    if name == _CONSTANTS:
        _refuse(ctx, name, "data")
        shared |= {"measure": measure, "tables": tables, "families": chosen}
        return constants.conduct(output, **shared)
    _refuse(ctx, name, "tables", "measure")
    shared |= {"data": data, "names": chosen, "tell": typer.echo}
    return hierarchical.conduct(output, **shared)


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise InputError(f"workers are {text!r}", expected="whole numbers above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"a limit is {text!r}", expected="seconds") from None


def _command() -> str:
    """Return the command line; folders of this machine by their last name."""
    return f"{_PROGRAM} {shlex.join(_plain(word) for word in sys.argv[1:])}"


def _plain(word: str) -> str:
    elsewhere = word.startswith(("/", "..", "~"))
    return Path(word).name or word if elsewhere else word


def _refuse(ctx: typer.Context, experiment: str, *options: str) -> None:
    """Refuse options that an experiment has no use for."""
    for option in options:
        source = ctx.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            raise InputError(
                f"--{option.replace('_', '-')} means nothing to {experiment!r}",
                hint="leave it out",
            )


def _most(ctx: typer.Context, workers: int, cluster: str | None) -> int | None:
    """Return how many workers were asked for; None for all of a cluster."""
    source = ctx.get_parameter_source("workers")
    named = source is not None and source.name == "COMMANDLINE"
    return workers if cluster is None or named else None


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _tell(row: Mapping[str, Any], done: int, total: int) -> None:
    cost = "failed" if row["failed"] else f"cost {row['cost']:,.6g}"
    typer.echo(
        f"{done}/{total} {row['family']} table {row['table']} {row['method']} "
        f"seed {row['seed']}: {cost}, {row['seconds']:.1f} s",
        err=True,
    )


def _tell_trial(row: Mapping[str, Any], done: int, total: int) -> None:
    figures = ("after", "utility", "pressure", "correlation", "found")
    found = next(row[name] for name in figures if row[name] is not None)
    typer.echo(
        f"{done}/{total} {row['family']} {row['method']} seed {row['seed']}: "
        f"{found:.4f}, {row['seconds']:.1f} s",
        err=True,
    )


def _tell_peer(row: Mapping[str, Any]) -> None:
    told = row["failed"] or (
        f"cost {row['cost']:,.0f}, bound {row['bound']:,.0f}, "
        f"{row['cpu_seconds']:.2f} CPU s"
    )
    typer.echo(f"{row['family']} {row['table']} {row['program']}: {told}")
