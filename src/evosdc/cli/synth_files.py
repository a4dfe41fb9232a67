"""Write the directory of a synthesis or an evaluation.

``publish/`` holds what may leave the house and nothing else; ``confidential/`` the
rest, for its owner only. A copy is written before it is judged, to ``confidential/``,
and moves to ``publish/`` with the verdict that it is fit for release.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evosdc.api import Synthesis
    from evosdc.io.records import Records
    from evosdc.metrics import Evaluation
    from evosdc.synthetic_claim import SyntheticClaim

# Metrics that are the same number as an objective.
_AXES = {
    "jsd:1": "jsd_1",
    "jsd:2": "jsd_2",
    "jsd:3": "jsd_3",
    "jsd:4": "jsd_4",
    "jsd:full": "jsd_full",
}
PUBLISH, CONFIDENTIAL = "publish", "confidential"
# Names that a synthesis gives its files, in either folder; no other file is removed.
_OURS = re.compile(
    r"synthetic(-\d+)?\.(csv|parquet)|run\.csv|front\.csv|report\.html"
    r"|evaluation\.json|README\.txt"
)


def confidential(output: Path) -> Path:
    """Return the folder for its owner's eyes, made where there is none."""
    folder = output / CONFIDENTIAL
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def write_copies(
    output: Path, copies: Sequence[Any], records: Records, *, suffix: str
) -> None:
    """Write the copies where nobody else sees them; what an earlier run left goes."""
    from evosdc.io import write_records

    for name in (PUBLISH, CONFIDENTIAL):
        folder = output / name
        for path in folder.iterdir() if folder.is_dir() else ():
            if _OURS.fullmatch(path.name) and path.is_file():
                path.unlink()
    with suppress(OSError):
        # An empty folder of that name would promise something; a user's file stays.
        (output / PUBLISH).rmdir()
    folder = confidential(output)
    for number, copy in enumerate(copies, 1):
        name = "synthetic" if len(copies) == 1 else f"synthetic-{number}"
        write_records(folder / f"{name}{suffix}", copy, like=records, force=True)
    _hide(folder)


def write_synthesis(output: Path, result: Synthesis, *, suffix: str) -> None:
    """Write the run record, the front and the reports; publish copies that are fit."""
    folder = confidential(output)
    run = result.run_rows()
    _write_rows(folder / "run.csv", run)
    front = result.front_rows()
    if front:
        _write_rows(folder / "front.csv", front)
    # The map has metrics on its axes: a front of other objectives has no place there.
    known = result.model.front_[0].distances
    first = "jsd:2" if "jsd:2" in known else next(iter(known))
    alike = first in _AXES and result.first_risk == "dcap-u"
    write_page(
        folder,
        result.evaluation,
        result.claim,
        run,
        [{**row, "utility": row[first]} for row in front] if alike else None,
        utility=_AXES.get(first, "jsd_2"),
        small_groups=result.model.small_groups_,
    )
    summary = {**result.summary(), "evaluation": result.evaluation.summary()}
    _write_json(folder / "evaluation.json", summary)
    _hide(folder)
    if result.fit:
        _publish(output, result, suffix)


def write_evaluation(
    output: Path, evaluation: Evaluation, claim: SyntheticClaim
) -> None:
    """Write metrics.csv, evaluation.json and the report of any synthetic file."""
    folder = confidential(output)
    rows = [
        {
            "metric": v.name,
            "kind": v.kind,
            "goal": v.goal,
            "value": v.value,
            **{f"baseline_{k}": b for k, b in v.baselines.items()},
        }
        for v in evaluation.values
    ]
    _write_rows(folder / "metrics.csv", rows)
    summary = {**evaluation.summary(), "claim": claim.summary()}
    _write_json(folder / "evaluation.json", summary)
    write_page(folder, evaluation, claim, None, None)
    _hide(folder)


def write_page(
    folder: Path,
    evaluation: Evaluation,
    claim: SyntheticClaim,
    run: Sequence[Mapping[str, Any]] | None,
    front: Sequence[Mapping[str, Any]] | None,
    *,
    utility: str = "jsd_2",
    small_groups: Any = None,
) -> None:
    """Write report.html for the owner of the data."""
    from evosdc.report.synthesis import synthesis_html

    page = synthesis_html(
        evaluation,
        run,
        front,
        utility=utility,
        claim=claim,
        small_groups=small_groups,
    )
    _write_text(folder / "report.html", page)


def _publish(output: Path, result: Synthesis, suffix: str) -> None:
    from evosdc.report.synthesis_share import shared_html

    folder = output / PUBLISH
    folder.mkdir(parents=True, exist_ok=True)
    page = shared_html(result.evaluation, result.claim, copies=len(result.copies))
    _write_text(folder / "report.html", page)
    _write_text(folder / "README.txt", _readme(result))
    for path in sorted((output / CONFIDENTIAL).glob(f"synthetic*{suffix}")):
        if _OURS.fullmatch(path.name):
            moved = path.replace(folder / path.name)
            moved.chmod(0o666 & ~_umask())


def _readme(result: Synthesis) -> str:
    from textwrap import fill

    from evosdc import __version__

    evaluation = result.evaluation
    copies = len(result.copies)
    files = "synthetic.*" if copies == 1 else f"synthetic-1.* to synthetic-{copies}.*"
    return (
        fill(
            f"This folder holds artificial records ({files}), made by evosdc "
            f"{__version__}. There are {evaluation.synthetic_rows:,} of them with "
            f"{len(evaluation.names)} variables. No record is that of a person; "
            "one may equal that of a person by chance. Verdict: "
            f"{evaluation.verdict}. Tested: {result.claim.scenario}. Guarantee: "
            f"{result.claim.guarantee}. report.html says what was tested and how far "
            "statistics of these records can be trusted.",
            width=88,
        )
        + "\n"
    )


def _umask() -> int:
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask


def _hide(folder: Path) -> None:
    """Let nobody but the owner read the files of ours in a folder."""
    for path in folder.iterdir():
        if _OURS.fullmatch(path.name) or path.name == "metrics.csv":
            path.chmod(0o600)


def _write_json(path: Path, summary: Mapping[str, Any]) -> None:
    _write_text(path, json.dumps(summary, indent=2) + "\n")


def _write_text(path: Path, text: str) -> None:
    from evosdc.io import open_output

    with open_output(path, True) as stream:
        stream.write(text.encode())


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    import pyarrow as pa

    from evosdc.io import write_records

    names = list(dict.fromkeys(name for row in rows for name in row)) or ["metric"]
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    write_records(path, table, force=True)
