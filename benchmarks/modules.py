"""Which modules a table passes through, and which folders call each other.

The embedded example of `evosdc demo` is tabulated, protected, audited and written while
`sys.setprofile` listens. A module counts where one of its functions was called, not
where it was only imported. Folders are the packages directly below `evosdc`; a pair of
them is mutual where functions of each called functions of the other.

    python -m benchmarks.modules [--list] [--callers] [FOLDER]

Exit code 1 where there are more modules or more mutual pairs than the limits below.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import evosdc
from evosdc.instances import business

MOST_MODULES = 130
MOST_MUTUAL_PAIRS = 5
# Patterns the search may build: the methods of the portfolio all have their turn.
EVALUATIONS = 400
_ROOT = str(Path(evosdc.__file__).parent) + "/"


@dataclass
class Calls:
    """What was called, by name: modules, and functions across folders."""

    modules: Counter[str] = field(default_factory=Counter)
    functions: set[tuple[str, str]] = field(default_factory=set)
    crossings: Counter[tuple[str, str]] = field(default_factory=Counter)
    _module_of: dict[CodeType, str | None] = field(default_factory=dict)
    _importing: threading.local = field(default_factory=threading.local)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Record all calls while the block runs, in every thread."""
        threading.setprofile(self._hear)
        sys.setprofile(self._hear)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def pairs(self) -> dict[tuple[str, str], list[str]]:
        """Return pairs of folders that call each other, with the calls each way."""
        found: dict[tuple[str, str], list[str]] = {}
        for caller, called in sorted(self.crossings):
            pair = (_folder(caller), _folder(called))
            found.setdefault(pair, []).append(f"{caller} -> {called}")
        return {
            (a, b): [*found[a, b], *found[b, a]]
            for a, b in found
            if a < b and (b, a) in found
        }

    def _hear(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing.depth = self._depth() + {"call": 1, "return": -1}.get(
                event, 0
            )
            return
        # What runs once while a module is imported is no work on the table.
        if event != "call" or self._depth():
            return
        module = self._module(code)
        if module is None:
            return
        self.modules[module] += 1
        self.functions.add((module, code.co_qualname))
        caller = frame.f_back
        while caller is not None and self._module(caller.f_code) is None:
            caller = caller.f_back
        if caller is None:
            return
        above = self._module(caller.f_code)
        if above is not None and _folder(above) != _folder(module):
            name = f"{above}.{caller.f_code.co_qualname}"
            self.crossings[name, f"{module}.{code.co_qualname}"] += 1

    def _depth(self) -> int:
        """Return how many modules this thread is importing."""
        return getattr(self._importing, "depth", 0)

    def _module(self, code: CodeType) -> str | None:
        if code not in self._module_of:
            name = None
            if code.co_filename.startswith(_ROOT):
                path = code.co_filename.removeprefix(_ROOT).removesuffix(".py")
                name = path.replace("/", ".").removesuffix(".__init__")
            self._module_of[code] = name
        return self._module_of[code]


def _folder(module: str) -> str:
    return module.partition(".")[0]


def measure() -> Calls:
    """Protect the table of the demo, and return what was called."""
    calls = Calls()
    data = business(firms=3000, seed=0)
    with tempfile.TemporaryDirectory() as folder, calls.listening():
        table = evosdc.tabulate(
            data.records,
            ["region", "activity"],
            "turnover",
            rules=["p:10", "freq:3"],
            read=evosdc.Read(hierarchies=data.hierarchies),
        )
        stop = evosdc.Stop(evaluations=EVALUATIONS)
        result = evosdc.protect(table, workers=1, stop=stop)
        evosdc.audit(result.table, workers=1)
        result.write(Path(folder) / "result")
    return calls


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def main(words: list[str] | None = None) -> int:
    """Print the numbers; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.modules")
    parser.add_argument("--list", action="store_true", help="list the modules")
    parser.add_argument("--callers", action="store_true", help="list mutual calls")
    parser.add_argument("folder", nargs="?", default="", help="list only this one")
    asked = parser.parse_args(words)
    calls = measure()
    pairs = calls.pairs()
    used = {m: {f for g, f in calls.functions if g == m} for m in calls.modules}
    folders = Counter(_folder(module) for module in used)
    _say(f"{count:5} {name}" for name, count in folders.most_common())
    if asked.list:
        mine = sorted(m for m in used if m.startswith(asked.folder))
        _say(f"{len(used[m]):5} functions of {m}" for m in mine)
    print(f"{len(used)} modules (at most {MOST_MODULES})")
    print(f"{len(pairs)} pairs call each other (at most {MOST_MUTUAL_PAIRS})")
    for (first, second), names in sorted(pairs.items()):
        print(f"  {first} <-> {second}")
        if asked.callers and asked.folder in (first, second, ""):
            _say(f"      {name}" for name in names)
    return int(len(used) > MOST_MODULES or len(pairs) > MOST_MUTUAL_PAIRS)


if __name__ == "__main__":
    sys.exit(main())
