"""An experiment: families, contenders, published figures; run, stored and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.experiments.provenance import (
    Provenance,
    provenance_now,
    read_provenance,
    write_provenance,
)
from benchmarks.experiments.published import Figure
from benchmarks.experiments.run import (
    COLUMNS,
    KEY,
    Contender,
    Instance,
    OnRow,
    Run,
    run_all,
)
from benchmarks.experiments.store import Row, Store
from benchmarks.experiments.write import Page, write_page
from evosdc.errors import InputError
from evosdc.table import Table

_TABLE = ("family", "table")


@dataclass(frozen=True)
class Experiment:
    """What `python -m benchmarks` runs.

    Attributes
    ----------
    name
        What scripts call it; its files are ``NAME.csv``, ``NAME.md`` and so on.
    title, about
        Heading and first paragraph of its page.
    families, methods
        What is run unless told otherwise.
    instance
        Makes a table of a family from its name and number.
    reference
        The contender whose cost the improvement ratio starts from.
    with_reference
        Whether it runs where it is not among the methods.
    published
        Figures to stand beside ours.
    tables
        Tables a family, unless told otherwise.
    copies
        The most tables of a family, where it has an end.
    strict
        Whether levels must be exceeded, not only reached.
    columns
        Columns of the rows.
    facts
        What is said of each table once, from the table alone: columns, and how they are
        found. They are kept in ``NAME.tables.csv``.
    samples
        Small tables of the same kinds, for compiling.
    write
        Makes the page.
    """

    name: str
    title: str
    about: str
    families: tuple[str, ...]
    methods: tuple[str, ...]
    instance: Callable[[str, int], Instance]
    reference: str
    published: tuple[Figure, ...] = ()
    with_reference: bool = False
    tables: int = 3
    copies: Mapping[str, int] = field(default_factory=dict)
    strict: bool = False
    columns: tuple[str, ...] = COLUMNS
    facts: tuple[tuple[str, ...], Callable[[Table], Row]] | None = None
    samples: tuple[Callable[[], Table], ...] = ()
    write: Callable[[Page, Path], None] = write_page


@dataclass(frozen=True)
class Settings:
    """How much of an experiment to run; what is empty or None is the experiment's."""

    tables: int | None = None
    seeds: int = 1
    time_limit: float = 60.0
    methods: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    workers: int | None = None
    cluster: str | None = None
    bound_limit: float = 60.0
    reference: str = ""

    def __post_init__(self) -> None:
        for name in ("tables", "seeds", "workers"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise InputError(f"{name} is {number}", expected="1 or more")
        if self.time_limit <= 0 or self.bound_limit < 0:
            raise InputError(
                f"time limits of {self.time_limit:g} s (a run) and "
                f"{self.bound_limit:g} s (a bound)",
                expected="seconds above 0 (0 leaves the bounds out)",
            )


def plan(experiment: Experiment, settings: Settings) -> list[Run]:
    """List the runs, table by table."""
    named = settings.methods or experiment.methods
    asked = {text.strip() for text in named}
    if settings.reference or experiment.with_reference:
        first = settings.reference or experiment.reference
        named = tuple(dict.fromkeys((first, *named)))
    contenders = [Contender.parse(text, settings.time_limit) for text in named]
    tables = settings.tables or experiment.tables
    return [
        Run(
            experiment.instance(family, number),
            contender,
            seed,
            strict=experiment.strict,
        )
        for family in settings.families or experiment.families
        for number in range(1, 1 + min(tables, experiment.copies.get(family, tables)))
        for contender in contenders
        # A reference that nobody named is there to compare with: one run a table.
        for seed in range(1, 1 + (settings.seeds if contender.label in asked else 1))
    ]


def conduct(
    experiment: Experiment,
    settings: Settings,
    output: Path,
    *,
    command: str,
    force: bool = False,
    on_row: OnRow = lambda *_: None,
) -> list[Path]:
    """Run what is not there yet and write CSV, page and plots; return the files.

    Rows in the output folder are kept and not run again, unless `force` begins anew. An
    interrupt still writes the page of what is finished.
    """
    runs = plan(experiment, settings)
    files = _Files(output, experiment.name)
    files.prepare(force)
    store = Store(files.rows, KEY, experiment.columns)
    before = len(store)
    facts = _describe(experiment, runs, files)
    try:
        run_all(
            runs,
            store,
            workers=settings.workers,
            cluster=settings.cluster,
            bound_limit=settings.bound_limit,
            on_row=on_row,
            samples=experiment.samples,
        )
    finally:
        if len(store):
            store.sort(sorted_keys(store, runs))
            page = Page(
                name=experiment.name,
                title=experiment.title,
                about=experiment.about,
                rows=store.rows,
                reference=settings.reference or experiment.reference,
                published=experiment.published,
                provenance=_provenance(files, command, len(store) - before),
                facts=facts,
            )
            experiment.write(page, files.folder)
    return files.written()


def sorted_keys(store: Store, runs: Sequence[Run]) -> list[tuple]:
    """Order of the rows: families and tables by name, methods as they are listed."""
    place = {run.contender.label: n for n, run in reversed(list(enumerate(runs)))}
    later = len(runs)
    keys = [store.key_of(row) for row in store.rows]
    return sorted(keys, key=lambda k: (k[0], k[1], place.get(k[2], later), k[2], k[3]))


def _describe(experiment: Experiment, runs: Sequence[Run], files: _Files) -> list[Row]:
    """Describe the tables that are not described yet."""
    if experiment.facts is None:
        return []
    columns, describe = experiment.facts
    store = Store(files.tables, _TABLE, (*_TABLE, *columns))
    for run in runs:
        key = (run.instance.family, run.instance.number)
        if key not in store:
            found = describe(run.instance.load())
            store.add({**dict(zip(_TABLE, key, strict=True)), **found})
    return store.rows


def _provenance(files: _Files, command: str, added: int) -> list[Provenance]:
    """Keep who made the rows; return all that is known of it."""
    provenance = read_provenance(files.provenance)
    if added or not provenance:
        provenance.append(provenance_now(command, added))
        write_provenance(files.provenance, provenance)
    return provenance


@dataclass(frozen=True)
class _Files:
    folder: Path
    name: str

    @property
    def rows(self) -> Path:
        return self.folder / f"{self.name}.csv"

    @property
    def tables(self) -> Path:
        return self.folder / f"{self.name}.tables.csv"

    @property
    def provenance(self) -> Path:
        return self.folder / f"{self.name}.provenance.json"

    def prepare(self, force: bool) -> None:
        """Make the folder; pages that are not of an experiment are left alone."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file", expected="a folder to write")
        self.folder.mkdir(parents=True, exist_ok=True)
        if force:
            for path in self.written():
                path.unlink()
        page = self.folder / f"{self.name}.md"
        if page.exists() and not self.rows.exists():
            raise InputError(
                f"{page} exists already without its rows",
                expected=f"no such file, or {self.rows.name} beside it",
                hint="name another folder, or give --force to overwrite it",
            )

    def written(self) -> list[Path]:
        return sorted(self.folder.glob(f"{self.name}.*"))
