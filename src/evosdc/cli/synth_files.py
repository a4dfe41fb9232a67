"""Write the directory of a synthesis or an evaluation.

``publish/`` holds what may leave the office and nothing else; ``confidential/`` the
rest, for its owner only. A copy is written before it is judged, to ``confidential/``,
and moves to ``publish/`` with the verdict that it is fit for release. Which files are
ours is in ``claim.json``, as for a protected table (`evosdc.io.folders`).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evosdc import __version__
from evosdc.io import open_output, write_records
from evosdc.io.folders import (
    CLAIM,
    CONFIDENTIAL,
    PUBLISH,
    RECORDS,
    REPORT,
    make_folder,
    or_nothing,
    refuse_foreign,
    remove_stale,
    write_claim,
)
from evosdc.io.paths import write_text

if TYPE_CHECKING:
    from evosdc.api import Synthesis
    from evosdc.io.records import Records
    from evosdc.metrics import Evaluation
    from evosdc.results.synthetic import SyntheticClaim

# Metrics that are the same number as an objective.
_AXES = {
    "jsd:1": "jsd_1",
    "jsd:2": "jsd_2",
    "jsd:3": "jsd_3",
    "jsd:4": "jsd_4",
    "jsd:full": "jsd_full",
}


def write_copies(
    output: Path, copies: Sequence[Any], records: Records, *, suffix: str
) -> None:
    """Write the copies where nobody else sees them; what an earlier run left goes."""
    folder = _begin(output)
    files = [folder / name for name in _names(len(copies), suffix)]
    with or_nothing(output, [*files, folder / CLAIM]):
        write_claim(output, [*files, folder / CLAIM])
        for path, copy in zip(files, copies, strict=True):
            write_records(path, copy, like=records)


def write_synthesis(output: Path, result: Synthesis, *, suffix: str) -> None:
    """Write the run record, the front and the reports; publish copies that are fit.

    The copies are there already, by `write_copies`.
    """
    folder = make_folder(output / CONFIDENTIAL, private=True)
    front = result.front_rows()
    named = _names(len(result.copies), suffix)
    copies = [folder / name for name in named]
    made = [folder / name for name in ("run.csv", REPORT, "evaluation.json")]
    made += [folder / "front.csv"] * bool(front)
    if result.fit:
        made += [output / PUBLISH / name for name in (REPORT, "README.txt", *named)]
    refuse_foreign(output, RECORDS)
    write_claim(output, [*copies, *made, folder / CLAIM])
    with or_nothing(output, made):
        _write_inside(folder, result, front)
        if result.fit:
            _publish(output / PUBLISH, result, copies)
    if result.fit:
        for path in copies:
            path.unlink()
        copies = []
    written = [*copies, *made, folder / CLAIM]
    _claim(output, written, result.evaluation, result.claim)


def write_evaluation(
    output: Path, evaluation: Evaluation, claim: SyntheticClaim
) -> None:
    """Write metrics.csv, evaluation.json and the report of any synthetic file."""
    folder = _begin(output)
    names = ("metrics.csv", "evaluation.json", REPORT, CLAIM)
    files = [folder / name for name in names]
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
    with or_nothing(output, files):
        write_claim(output, files)
        _write_rows(folder / "metrics.csv", rows)
        summary = {**evaluation.summary(), "claim": claim.summary()}
        _write_json(folder / "evaluation.json", summary)
        write_page(folder, evaluation, claim, None, None)
        _claim(output, files, evaluation, claim)


def _begin(output: Path) -> Path:
    """Make the folder for its owner's eyes, without what an earlier run left."""
    refuse_foreign(output, RECORDS)
    remove_stale(output)
    return make_folder(output / CONFIDENTIAL, private=True)


def _names(copies: int, suffix: str) -> list[str]:
    if copies == 1:
        return [f"synthetic{suffix}"]
    return [f"synthetic-{number}{suffix}" for number in range(1, copies + 1)]


def _claim(
    output: Path, files: Sequence[Path], evaluation: Evaluation, claim: SyntheticClaim
) -> None:
    content = {"version": __version__, "verdict": evaluation.verdict}
    write_claim(output, files, {**content, "claim": claim.summary()})


def _write_inside(
    folder: Path, result: Synthesis, front: Sequence[Mapping[str, Any]]
) -> None:
    run = result.run_rows()
    _write_rows(folder / "run.csv", run)
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
    write_text(folder / REPORT, page)


def _publish(folder: Path, result: Synthesis, copies: Sequence[Path]) -> None:
    from evosdc.report.synthesis_share import shared_html

    make_folder(folder)
    page = shared_html(result.evaluation, result.claim, copies=len(result.copies))
    write_text(folder / REPORT, page, public=True)
    write_text(folder / "README.txt", _readme(result), public=True)
    for path in copies:
        with (
            path.open("rb") as source,
            open_output(folder / path.name, public=True) as stream,
        ):
            shutil.copyfileobj(source, stream)


def _readme(result: Synthesis) -> str:
    from textwrap import fill

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


def _write_json(path: Path, summary: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(summary, indent=2) + "\n")


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    import pyarrow as pa

    names = list(dict.fromkeys(name for row in rows for name in row)) or ["metric"]
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    write_records(path, table)
