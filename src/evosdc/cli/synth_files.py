"""Write the directory of a synthesis or an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evosdc.api import Synthesis
    from evosdc.io.records import Records
    from evosdc.metrics import Evaluation

# Metrics that are the same number as an objective.
_AXES = {
    "jsd:1": "jsd_1",
    "jsd:2": "jsd_2",
    "jsd:3": "jsd_3",
    "jsd:4": "jsd_4",
    "jsd:full": "jsd_full",
}


def write_synthesis(
    output: Path, result: Synthesis, records: Records, *, suffix: str, force: bool
) -> None:
    """Write the copies, the run record, the front and the report."""
    from evosdc.io import write_records

    output.mkdir(parents=True, exist_ok=True)
    for number, copy in enumerate(result.copies, 1):
        name = "synthetic" if len(result.copies) == 1 else f"synthetic-{number}"
        path = output / f"{name}{suffix}"
        write_records(path, copy, like=records, force=force)
    _write_rows(output / "run.csv", result.run_rows(), force)
    front = result.front_rows()
    if front:
        _write_rows(output / "front.csv", front, force)
    # The map has metrics on its axes: a front of other objectives has no place there.
    first = next(iter(result.model.front_[0].distances))
    alike = first in _AXES and result.first_risk == "dcap-u"
    write_page(
        output,
        result.evaluation,
        result.run_rows(),
        [{**row, "utility": row[first]} for row in front] if alike else None,
        force,
        utility=_AXES.get(first, "jsd_2"),
        small_groups=result.model.small_groups_,
    )


def write_page(
    output: Path,
    evaluation: Evaluation,
    run: Sequence[Mapping[str, Any]] | None,
    front: Sequence[Mapping[str, Any]] | None,
    force: bool,
    *,
    utility: str = "jsd_2",
    small_groups: Any = None,
) -> None:
    """Write report.html."""
    from evosdc.io import open_output
    from evosdc.report.synthesis import synthesis_html

    output.mkdir(parents=True, exist_ok=True)
    page = synthesis_html(
        evaluation, run, front, utility=utility, small_groups=small_groups
    )
    with open_output(output / "report.html", force) as stream:
        stream.write(page.encode())


def write_metrics(output: Path, evaluation: Evaluation, force: bool) -> None:
    """Write metrics.csv: every metric with its goal and its baselines."""
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
    output.mkdir(parents=True, exist_ok=True)
    _write_rows(output / "metrics.csv", rows, force)


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]], force: bool) -> None:
    import pyarrow as pa

    from evosdc.io import write_records

    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    write_records(path, table, force=force)
