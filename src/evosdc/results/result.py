"""What every result has in common, and how its folder is written."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable
from warnings import warn

from evosdc.errors import InputError
from evosdc.report.card import card_html
from evosdc.report.verdict import Headline, headline
from evosdc.results.folder import (
    CONFIDENTIAL,
    PUBLISH,
    REPORT,
    Output,
    check_output_directory,
    text_output,
    write_outputs,
)
from evosdc.results.table_files import refuse_replaced
from evosdc.results.verdict import Claim, Verdict


@runtime_checkable
class Result(Protocol):
    """What a verb gives back: a verdict, what it states, and how it was reached.

    `Protection`, `Audit`, `Tabulation`, `Synthesis` and `Evaluation` are results, and
    so is what `read_result` reads back.
    """

    @property
    def verdict(self) -> Verdict:
        """What was found: a word, reasons, and what to do next."""

    @property
    def claim(self) -> Claim:
        """What the verdict states: a sentence for each question."""

    @property
    def notes(self) -> Sequence[str]:
        """What else there is to say."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was asked for, by the names of options."""

    @property
    def seconds(self) -> float | None:
        """How long it took; None where it is not known."""

    @property
    def seed(self) -> int | None:
        """Where random numbers began; None where none were drawn, or not known."""

    @property
    def version(self) -> str:
        """Which version of the package it was."""

    def write(
        self,
        folder: str | PathLike[str],
        force: bool = False,
        formats: str | Sequence[str] = (),
    ) -> Path:
        """Write the folders of the result; return the one with its main files."""

    def report(self, *, share: bool = False) -> str:
        """Return the page about the result; `share` for the one to be published."""

    def summary(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""

    def _repr_html_(self) -> str: ...


class WrittenResult:
    """What results share: they are written, summarised and shown in one way."""

    if TYPE_CHECKING:
        # Fields of some results, properties of others.
        @property
        def kind(self) -> str: ...
        @property
        def verdict(self) -> Any: ...
        @property
        def claim(self) -> Claim: ...
        @property
        def notes(self) -> Sequence[str]: ...
        @property
        def settings(self) -> Mapping[str, Any]: ...
        @property
        def seconds(self) -> float | None: ...
        @property
        def seed(self) -> int | None: ...
        @property
        def version(self) -> str: ...

    @abstractmethod
    def outputs(
        self, formats: str | Sequence[str], source: Any, warnings: Sequence[str]
    ) -> list[Output]:
        """Return the files of the result.

        Parameters
        ----------
        formats
            Further formats; which ones there are depends on the result.
        source
            What the input was read from, where files are to look like it.
        warnings
            With which results this one must not be published, for its report.
        """

    @abstractmethod
    def report(self, *, share: bool = False) -> str:
        """Return the page about the result; `share` for the one to be published."""

    @property
    def place(self) -> str:
        """The folder that the main files of the result go to."""
        return PUBLISH if self.verdict.ok else CONFIDENTIAL

    @property
    def inputs(self) -> Sequence[Path]:
        """Files that were read, which the result is never written over."""
        return ()

    def related(self, folder: Path) -> tuple[str, ...]:
        """Name results near a folder with which this one must not be published."""
        del folder
        return ()

    def marks(self) -> Mapping[str, Any]:
        """Return what the next run knows the result by, for ``claim.json``."""
        return {}

    def summary(self) -> dict[str, Any]:
        """Return what ``--json`` prints: plain values."""
        return {
            **self.verdict.summary(),
            "claim": dict(self.claim),
            "notes": list(self.notes),
            "seconds": None if self.seconds is None else round(self.seconds, 3),
            "seed": self.seed,
            "version": self.version,
            "settings": dict(self.settings),
        }

    def headline(self) -> Headline:
        """Put the verdict into a line and a paragraph."""
        return headline(self.verdict, getattr(self, "table", None))

    def _repr_html_(self) -> str:
        """Show the verdict and what it states in a notebook: no value, no cost."""
        return card_html(self.headline(), self.verdict, self.claim)

    def write(
        self,
        folder: str | PathLike[str],
        force: bool = False,
        formats: str | Sequence[str] = (),
    ) -> Path:
        """Write the folders that the command line writes.

        Parameters
        ----------
        folder
            Made where it is not there; refused where there is something in it.
        force
            Write to a folder with something in it: what an earlier run of evosdc left
            there is removed, other files are not.
        formats
            Further formats of a table: pivot, grid, sbs, tab, parquet, jj, hst; or the
            format of synthetic records: csv, parquet.

        Returns
        -------
        Path
            The folder with the main files: ``publish/`` where they may leave the
            office, else ``draft/`` or ``confidential/``.

        Warns
        -----
        UserWarning
            For results near it that must not be published with it.
        """
        output = Path(folder)
        for line in write_result(output, self, force=force, formats=formats):
            warn(line, UserWarning, stacklevel=2)
        return output / self.place

    def _report_output(self) -> Output:
        """Return the report as the only page of a result that stays inside."""
        return text_output(CONFIDENTIAL, REPORT, self.report())


def chosen_formats(
    formats: str | Sequence[str], known: Sequence[str], usual: Sequence[str] = ()
) -> list[str]:
    """Read ``"csv,parquet"`` or a list of such words; `usual` where there are none."""
    texts = [formats] if isinstance(formats, str) else list(formats)
    words = [w.strip().lower() for text in texts for w in text.split(",") if w.strip()]
    unknown = [word for word in words if word not in known]
    if unknown:
        raise InputError(
            f"this result is not written as {unknown[0]!r}",
            expected=f"some of {', '.join(known)}" if known else "no further format",
            hint="give other formats, or none; see docs/reference/formats.md",
        )
    return list(dict.fromkeys(words or usual))


def write_result(
    output: Path,
    result: WrittenResult,
    *,
    force: bool,
    formats: str | Sequence[str] = (),
    source: Any = None,
    warnings: tuple[str, ...] | None = None,
) -> tuple[str, ...]:
    """Write what may leave the office and what must not; return the warnings.

    Parameters
    ----------
    source
        What the input was read from: the path of a table, which is written back where
        it is a JJ file, or the `RecordFile` that copies are written like.
    warnings
        With which results this one must not be published, where they were looked for;
        an earlier result that it was about may be gone by now.
    """
    refuse_replaced(output, result.inputs)
    if warnings is None:
        warnings = result.related(output)
    outputs = result.outputs(formats, source, warnings)
    check_output_directory(
        output,
        force=force,
        unjudged=True,
        sources=() if not isinstance(source, (str, PathLike)) else (source,),
    )
    content = {
        "kind": result.kind,
        **result.summary(),
        "warnings": list(warnings),
        **result.marks(),
    }
    write_outputs(output, outputs, content)
    return warnings
