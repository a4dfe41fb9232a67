"""Drawings of an experiment as SVG files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.statistics import column, group
from benchmarks.experiments.store import Row
from evosdc.io.paths import open_output

_MARKERS = "osD^v<>Ph*X8pd"


def dots(rows: Sequence[Row], quantity: str, label: str, path: Path) -> None:
    """Draw a panel a family: each method a line, each run a dot, the mean a bar."""
    families = group(rows, "family")
    methods = [name for (name,) in group(rows, "method")]
    with _panels(len(families), 0.26 * len(methods) + 1.1) as (figure, axes):
        for axis, ((family,), mine) in zip(axes, families.items(), strict=False):
            for place, method in enumerate(reversed(methods)):
                values = column([r for r in mine if r["method"] == method], quantity)
                axis.plot(values, [place] * len(values), "o", ms=4, alpha=0.6)
                if values:
                    axis.plot([np.mean(values)], [place], "k|", ms=12)
            axis.set_yticks(range(len(methods)), list(reversed(methods)), fontsize=7)
            axis.set_title(family, fontsize=9)
            axis.grid(axis="x", alpha=0.3)
            axis.set_xlabel(label, fontsize=8)
            if _is_wide(column(mine, quantity)):
                axis.set_xscale("log")
            else:
                axis.set_xlim(left=0)
        _save(figure, path)


def trade_off(rows: Sequence[Row], quantity: str, label: str, path: Path) -> None:
    """Draw mean quality against mean CPU seconds, a panel a family."""
    families = group(rows, "family")
    methods = [name for (name,) in group(rows, "method")]
    shown: dict[str, Any] = {}
    with _panels(len(families), 3.2) as (figure, axes):
        for axis, (family, mine) in zip(axes, families.items(), strict=False):
            for (method,), runs in group(mine, "method").items():
                quality = column(runs, quantity)
                seconds = column(runs, "cpu_seconds")
                if not quality:
                    continue
                # The same in every panel, so that one legend does for all.
                number = methods.index(method)
                (shown[method],) = axis.plot(
                    [max(float(np.mean(seconds)), 1e-3)],
                    [np.mean(quality)],
                    _MARKERS[number % len(_MARKERS)],
                    color=f"C{number % 10}",
                )
            axis.set_xscale("log")
            axis.tick_params(which="minor", labelbottom=False)
            axis.set_title(family[0], fontsize=9)
            axis.set_xlabel("CPU seconds", fontsize=8)
            axis.set_ylabel(label, fontsize=8)
            if _is_wide(column(mine, quantity)):
                axis.set_yscale("log")
            else:
                axis.set_ylim(bottom=0)
            axis.grid(alpha=0.3)
        figure.legend(
            shown.values(), shown, loc="outside lower center", ncols=5, fontsize=7
        )
        _save(figure, path)


def heat_maps(
    maps: Mapping[str, NDArray[np.float64]],
    down: Sequence[str],
    across: Sequence[str],
    labels: tuple[str, str],
    path: Path,
) -> None:
    """Draw a panel a table of numbers, each with its own scale."""
    with _panels(len(maps), 3.2) as (figure, axes):
        for axis, (name, values) in zip(axes, maps.items(), strict=False):
            image = axis.imshow(values, aspect="auto", cmap="viridis")
            figure.colorbar(image, ax=axis)
            axis.set_yticks(range(len(down)), down, fontsize=7)
            axis.set_xticks(range(len(across)), across, fontsize=7)
            axis.set_ylabel(labels[0], fontsize=8)
            axis.set_xlabel(labels[1], fontsize=8)
            axis.set_title(name, fontsize=9)
        _save(figure, path)


def growth(
    rows: Sequence[Row], by: str, label: str, quantities: Sequence[str], path: Path
) -> None:
    """Draw a panel a quantity against size, both in powers of ten."""
    with _panels(len(quantities), 3.2) as (figure, axes):
        for axis, quantity in zip(axes, quantities, strict=False):
            axis.plot(column(rows, by), column(rows, quantity), "o-")
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.set_xlabel(label, fontsize=8)
            axis.set_ylabel(quantity.replace("_", " "), fontsize=8)
            axis.grid(alpha=0.3)
        _save(figure, path)


def speed_ups(
    cores: Sequence[int], gains: Mapping[str, Sequence[float]], path: Path
) -> None:
    """Draw how many times as fast each kind of work is on so many cores."""
    with _panels(1, 3.6) as (figure, (axis,)):
        for number, (name, values) in enumerate(gains.items()):
            axis.plot(cores, values, f"{_MARKERS[number]}-", label=name)
        axis.plot(cores, cores, "k:", lw=0.8)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        axis.set_xticks(cores, [str(n) for n in cores])
        axis.set_xlabel("cores", fontsize=8)
        axis.set_ylabel("times as fast as one", fontsize=8)
        axis.legend(fontsize=6)
        axis.grid(alpha=0.3)
        _save(figure, path)


def _is_wide(values: Sequence[float]) -> bool:
    """Whether values differ so much that most would lie on top of each other."""
    return bool(values) and 0 < 10 * min(values) < max(values)


@contextmanager
def _panels(count: int, height: float) -> Iterator[tuple[Any, list[Any]]]:
    """Make a figure of so many panels, two side by side, and close it in the end."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across = min(2, count)
    down = -(-count // across)
    figure, grid = pyplot.subplots(
        down,
        across,
        figsize=(5.2 * across, height * down),
        squeeze=False,
        layout="constrained",
    )
    axes = list(grid.ravel())
    for empty in axes[count:]:
        empty.set_axis_off()
    try:
        yield figure, axes
    finally:
        pyplot.close(figure)


def _save(figure: Any, path: Path) -> None:
    import matplotlib

    # The same rows give the same file: no date, no random names in it.
    with (
        matplotlib.rc_context({"svg.hashsalt": path.name}),
        open_output(path, force=True) as stream,
    ):
        figure.savefig(stream, format="svg", metadata={"Date": None})
