"""Who made the rows: commands, dates, machine and versions, kept beside them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from evosdc import __version__
from evosdc.io.encoding import read_text
from evosdc.io.paths import write_text

_PACKAGES = ("numpy", "scipy", "numba", "highspy")


@dataclass(frozen=True)
class Provenance:
    """Where rows come from: one command that added some."""

    command: str
    date: str
    cores: int
    processor: str
    python: str
    packages: dict[str, str]
    runs: int

    @property
    def machine(self) -> str:
        """Machine and versions in one line."""
        named = ", ".join(f"{name} {number}" for name, number in self.packages.items())
        return f"{self.processor}, {self.cores} cores; Python {self.python}, {named}"


def provenance_now(command: str, runs: int) -> Provenance:
    """Describe this machine, now."""
    return Provenance(
        command=command,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        cores=os.cpu_count() or 1,
        processor=_processor(),
        python=platform.python_version(),
        packages={"evosdc": __version__, **{p: _version(p) for p in _PACKAGES}},
        runs=runs,
    )


def read_provenance(path: Path) -> list[Provenance]:
    """Read what earlier commands left."""
    if not path.exists():
        return []
    return [Provenance(**entry) for entry in json.loads(read_text(path))]


def write_provenance(path: Path, provenance: Sequence[Provenance]) -> None:
    """Write who made the rows, one entry a command."""
    text = json.dumps([asdict(entry) for entry in provenance], indent=2)
    write_text(path, text + "\n", force=True)


def _processor() -> str:
    # Linux names the model only here; elsewhere the platform module does.
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
