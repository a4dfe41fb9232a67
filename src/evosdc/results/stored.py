"""A result read back from its folder, and checked."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from evosdc.errors import InputError
from evosdc.io.paths import open_output
from evosdc.results.folder import (
    CLAIM,
    CONFIDENTIAL,
    DRAFT,
    FORMAT,
    PUBLISH,
    REPORT,
    Output,
    digest_of,
    is_unjudged,
    read_claim,
)
from evosdc.results.result import WrittenResult, chosen_formats
from evosdc.results.verdict import Claim, TableVerdict, Verdict

# What each verdict is, by its word.
_OK = {w: ok for of in (Verdict, TableVerdict) for ok, w in of.WORDS.items()}
_BOOKKEEPING = ("format", "kind", "created", "warnings", "digests", "files")
# What the next run knows a table and its pattern by.
_MARKS = ("table", "pattern", "kin")


@dataclass(frozen=True, eq=False, repr=False)
class StoredResult(WrittenResult):
    """A result as a folder has it: what it states, and where its files are.

    Attributes
    ----------
    folder
        Where it was read from.
    kind
        Which result it was: protection, audit, tabulation, synthesis or evaluation.
    files
        Its files, by their names below the folder: ``publish/published.csv``.
    """

    folder: Path
    kind: str
    verdict: Verdict
    claim: Claim
    notes: tuple[str, ...]
    settings: Mapping[str, Any]
    seconds: float | None
    seed: int | None
    version: str
    files: Mapping[str, Path]
    stored: Mapping[str, Any] = field(repr=False)

    @property
    def place(self) -> str:
        """The folder of the main files, as when the result was written."""
        places = {name.partition("/")[0] for name in self.files}
        return next(p for p in (PUBLISH, DRAFT, CONFIDENTIAL) if p in places)

    def summary(self) -> dict[str, Any]:
        """Return the summary that the result was written with."""
        apart = (*_BOOKKEEPING, *_MARKS)
        kept = {k: v for k, v in self.stored.items() if k not in apart}
        return {**super().summary(), **kept}

    def marks(self) -> Mapping[str, Any]:
        """Return what the next run knows the result by."""
        return {k: self.stored[k] for k in _MARKS if k in self.stored}

    def report(self, *, share: bool = False) -> str:
        """Return the page in the folder."""
        place = CONFIDENTIAL
        if share:
            place = PUBLISH if self.place == PUBLISH else DRAFT
        path = self.files.get(f"{place}/{REPORT}")
        if path is None:
            raise InputError(
                f"{self.folder} has no page of the kind",
                expected=f"{place}/{REPORT}",
                hint="only protected tables and synthetic records have one to share",
            )
        return path.read_text(encoding="utf-8")

    def outputs(
        self, formats: str | Sequence[str], source: Any, warnings: Sequence[str]
    ) -> list[Output]:
        """Return the files as they are, for another folder."""
        del source, warnings
        chosen_formats(formats, ())
        return [
            Output(name.partition("/")[0], (path.name,), partial(_copy, path, name))
            for name, path in self.files.items()
            if path.name != CLAIM
        ]

    def __repr__(self) -> str:
        return (
            f"StoredResult({self.kind}: {self.verdict.brief}; {len(self.files)} files)"
        )


def read_result(folder: str | PathLike[str]) -> StoredResult:
    """Read back a result from the folder that it was written to, and check it.

    Every file that the claim lists must be there, and be the one that was written,
    where the claim has its digest; folders of versions before 0.3 have none. A digest
    finds what changed by accident and is no signature: of a protected table `verify`
    adds the proof up again.

    Parameters
    ----------
    folder
        What was given to `write` or to the option ``-o``: the folder in which
        ``confidential/`` lies.

    Raises
    ------
    InputError
        For a folder without a claim, of another format or of a run that was cut short,
        and where a file is missing or was changed.

    Examples
    --------
    >>> import evosdc, tempfile
    >>> cells = {
    ...     "region": ["N", "S", "E"],
    ...     "value": [5, 20, 30],
    ...     "status": ["u", "s", "s"],
    ...     "upl": [2, 0, 0],
    ... }
    >>> result = evosdc.protect(cells, stop=evosdc.Stop(evaluations=5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = result.write(folder)
    ...     stored = evosdc.read_result(folder)
    >>> stored.verdict.word, stored.claim == result.claim
    ('SAFE', True)
    """
    root = Path(folder)
    stored = read_claim(root)
    if stored is None:
        raise InputError(
            f"{root} has no {CONFIDENTIAL}/{CLAIM} that can be read",
            expected="the folder of a result",
            hint="give the folder that was named with -o, not one of those in it",
        )
    form = stored.get("format")
    if form not in (None, FORMAT):
        raise InputError(
            f"the result in {root} has format {str(form)[:40]!r}",
            expected=repr(FORMAT),
            hint="use the version of evosdc that wrote it",
        )
    if is_unjudged(stored) or stored.get("verdict") not in _OK:
        raise InputError(
            f"the result in {root} has no verdict: its run was cut short",
            expected="a result that was judged",
            hint="run it again; --force replaces what lies there",
        )
    try:
        return _stored(root, stored)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"the claim of the result in {root} cannot be read "
            f"({type(error).__name__})",
            expected="the claim.json of a run",
            hint="take the folder from where it was archived, or run it again",
        ) from error


def _stored(root: Path, stored: Mapping[str, Any]) -> StoredResult:
    files = {
        str(name): root.joinpath(*str(name).split("/")) for name in stored["files"]
    }
    _check_files(root, files, dict(stored.get("digests", {})))
    claim = Claim(**stored["claim"])
    settings = dict(stored.get("settings", {}))
    of = TableVerdict if "rules" in claim else Verdict
    ok = _OK[stored["verdict"]]
    said = {k: tuple(stored.get(k, ())) for k in ("reasons", "next_steps")}
    verdict = Verdict(ok, **said)
    if of is TableVerdict:
        verdict = _StoredTableVerdict(ok, **said)
    return StoredResult(
        folder=root,
        kind=str(stored.get("kind") or _kind_of(files)),
        verdict=verdict,
        claim=claim,
        notes=tuple(stored.get("notes", ())),
        settings=settings,
        seconds=stored.get("seconds"),
        seed=stored.get("seed", settings.get("seed")),
        version=str(stored["version"]),
        files=files,
        stored=stored,
    )


class _StoredTableVerdict(Verdict):
    """The verdict on a table without the findings of the judge, which are not kept."""

    WORDS: ClassVar[Mapping[bool | None, str]] = TableVerdict.WORDS


def _check_files(
    root: Path, files: Mapping[str, Path], digests: Mapping[str, str]
) -> None:
    """Refuse a result with a file that is missing, a link, or was changed."""
    for name, path in files.items():
        if ".." in Path(name).parts or path.is_symlink() or not path.is_file():
            raise InputError(
                f"{root} lacks {name}, which its claim lists",
                expected="all files of the result",
                hint="take the folder from where it was archived, or run it again",
            )
        if name in digests and digest_of(path) != digests[name]:
            raise InputError(
                f"{path} was changed after it was written",
                expected="the file that the claim has the digest of",
                hint="take the folder from where it was archived, or run it again",
            )


def _kind_of(files: Mapping[str, Path]) -> str:
    """Tell by its files which result a version before 0.3 wrote."""
    if any(path.name == "certificate.npz" for path in files.values()):
        return "protection"
    return "evaluation" if f"{CONFIDENTIAL}/metrics.csv" in files else "synthesis"


def _copy(path: Path, name: str, folder: Path) -> None:
    public = name.startswith(f"{PUBLISH}/")
    with (
        path.open("rb") as source,
        open_output(folder / path.name, public=public) as to,
    ):
        shutil.copyfileobj(source, to)
