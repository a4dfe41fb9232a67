"""An experiment: families, contenders, published figures; run, stored and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evosdc.bench.published import Figure
from evosdc.bench.run import COLUMNS, KEY, Contender, Hear, Instance, Run, run_all
from evosdc.bench.sittings import read_sittings, this_sitting, write_sittings
from evosdc.bench.store import Store
from evosdc.bench.write import Page, write_page
from evosdc.errors import InputError


@dataclass(frozen=True)
class Experiment:
    """What a command of `evosdc bench` runs.

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
    published
        Figures to stand beside ours.
    """

    name: str
    title: str
    about: str
    families: tuple[str, ...]
    methods: tuple[str, ...]
    instance: Callable[[str, int], Instance]
    reference: str
    published: tuple[Figure, ...]


@dataclass(frozen=True)
class Settings:
    """How much of an experiment to run."""

    tables: int = 3
    seeds: int = 1
    time_limit: float = 60.0
    methods: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    workers: int = 1
    bound_limit: float = 60.0

    def __post_init__(self) -> None:
        for name in ("tables", "seeds", "workers"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"{name} is {getattr(self, name)}", expected="1 or more"
                )
        if self.time_limit <= 0 or self.bound_limit < 0:
            raise InputError(
                f"time limits of {self.time_limit:g} s (a run) and "
                f"{self.bound_limit:g} s (a bound)",
                expected="seconds above 0 (0 leaves the bounds out)",
            )


def plan(experiment: Experiment, settings: Settings) -> list[Run]:
    """List the runs, table by table."""
    contenders = [
        Contender.parse(text, settings.time_limit)
        for text in settings.methods or experiment.methods
    ]
    return [
        Run(experiment.instance(family, number), contender, seed)
        for family in settings.families or experiment.families
        for number in range(1, settings.tables + 1)
        for contender in contenders
        for seed in range(1, settings.seeds + 1)
    ]


def conduct(
    experiment: Experiment,
    settings: Settings,
    output: Path,
    *,
    command: str,
    force: bool = False,
    hear: Hear = lambda *_: None,
) -> list[Path]:
    """Run what is not there yet and write CSV, page and plots; return the files.

    Rows in the output folder are kept and not run again, unless `force` begins anew. An
    interrupt still writes the page of what is finished.
    """
    runs = plan(experiment, settings)
    files = _Files(output, experiment.name)
    files.prepare(force)
    store = Store(files.rows, KEY, COLUMNS)
    before = len(store)
    try:
        run_all(
            runs,
            store,
            workers=settings.workers,
            bound_limit=settings.bound_limit,
            hear=hear,
        )
    finally:
        if len(store):
            store.sort(sorted_keys(store, runs))
            _write(experiment, store, files, command, len(store) - before)
    return files.written()


def sorted_keys(store: Store, runs: Sequence[Run]) -> list[tuple]:
    """Order of the rows: families and tables by name, methods as they are listed."""
    place = {run.contender.label: n for n, run in reversed(list(enumerate(runs)))}
    later = len(runs)
    keys = [store.key_of(row) for row in store.rows]
    return sorted(keys, key=lambda k: (k[0], k[1], place.get(k[2], later), k[2], k[3]))


def _write(
    experiment: Experiment, store: Store, files: _Files, command: str, added: int
) -> None:
    sittings = read_sittings(files.sittings)
    if added or not sittings:
        sittings.append(this_sitting(command, added))
        write_sittings(files.sittings, sittings)
    write_page(
        Page(
            name=experiment.name,
            title=experiment.title,
            about=experiment.about,
            rows=store.rows,
            reference=experiment.reference,
            published=experiment.published,
            sittings=sittings,
        ),
        files.folder,
    )


@dataclass(frozen=True)
class _Files:
    folder: Path
    name: str

    @property
    def rows(self) -> Path:
        return self.folder / f"{self.name}.csv"

    @property
    def sittings(self) -> Path:
        return self.folder / f"{self.name}.sittings.json"

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
