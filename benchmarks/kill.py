"""What a run loses that is killed at any moment: no more than the last interval.

    python -m benchmarks.kill                       # ten moments, one run
    python -m benchmarks.kill --moments 3 --longest 4 --cells 400
    python -m benchmarks.kill --verb synthesise --records 20000

A run is killed with SIGKILL at a random moment, goes on from its checkpoint, is killed
again, and so on; then it ends. It writes down when it found what. Reported for each
moment: how long before it the best pattern was found that the checkpoint does not have,
and how old the checkpoint was; of a synthesis, whose candidates change all the time,
the latter. Exit code 1 where anything older than ten seconds was lost, or the last
answer is not SAFE or costs more than a checkpoint.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

INTERVAL = 10.0
_DATA = {"protect": "table.jj", "synthesise": "people.csv"}


@dataclass(frozen=True)
class Loss:
    """What one kill cost."""

    moment: float
    cost: float | None  # of the pattern in the checkpoint
    lost: (
        float  # seconds before the kill at which the best pattern was found, 0 if kept
    )
    age: float  # of the checkpoint, in seconds
    spent: float  # seconds that the checkpoint says the run has taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--longest", type=float, default=25.0)
    parser.add_argument("--cells", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verb", choices=["protect", "synthesise"], default="protect")
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--resume", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        path, checkpoint, log, limit = given.child
        work = child if given.verb == "protect" else synthesise
        return work(path, checkpoint, Path(log), float(limit), resume=given.resume)
    with tempfile.TemporaryDirectory() as folder:
        if given.verb == "synthesise":
            ages = synthesis_killed_often(
                Path(folder), given.moments, given.longest, given.records, given.seed
            )
            print("seconds that were lost:", *(f"{age:.1f}" for age in ages))
            return 0 if max(ages) <= INTERVAL + 1 else 1
        losses, word, cost = killed_often(
            Path(folder), given.moments, given.longest, given.cells, given.seed
        )
    print(f"{'killed after':>12}{'cost':>14}{'lost':>8}{'age':>8}{'spent':>9}")
    for loss in losses:
        cost_then = "none" if loss.cost is None else f"{loss.cost:,.0f}"
        print(
            f"{loss.moment:>10.1f} s{cost_then:>14}{loss.lost:>6.1f} s"
            f"{loss.age:>6.1f} s{loss.spent:>7.1f} s"
        )
    print(f"in the end: {word}, cost {cost:,.0f}")
    worst = max(max(loss.lost, loss.age) for loss in losses)
    had = [loss.cost for loss in losses if loss.cost is not None]
    good = word == "SAFE" and all(cost <= c * (1 + 1e-9) for c in had)
    return 0 if good and worst <= INTERVAL + 1 else 1


def killed_often(
    folder: Path, moments: int, longest: float, cells: int, seed: int
) -> tuple[list[Loss], str, float]:
    """Kill a run again and again, then let it end; return its verdict and cost."""
    from evosdc.instances import make
    from evosdc.io import write_table

    side = round(cells ** (1 / 3)) - 1
    path, checkpoint = folder / "table.jj", folder / "checkpoint.json"
    write_table(path, make("random", seed, shape=(side, side, side), sensitive=0.1))
    rng = random.Random(seed)
    limit = 2 * moments * longest
    losses = [
        _killed(folder, rng.uniform(0.5, longest), limit, resume=checkpoint.exists())
        for _ in range(moments)
    ]
    # What is spent counts, so that a limit next to it ends soon.
    spent = losses[-1].spent + 5.0
    begun = _begin(folder, spent, resume=checkpoint.exists())
    if begun.wait() or checkpoint.exists():
        raise RuntimeError("the run that went on did not end well")
    word, cost = (folder / "answer").read_text(encoding="utf-8").split()
    return losses, word, float(cost)


def synthesis_killed_often(
    folder: Path, moments: int, longest: float, records: int, seed: int
) -> list[float]:
    """Kill a synthesis again and again, let it end; return the ages of checkpoints."""
    import numpy as np
    import pyarrow as pa

    from evosdc.io import write_records
    from evosdc.io.checkpoint import read_checkpoint

    draw = np.random.default_rng(seed)
    age = draw.integers(0, 20, records)
    columns = {"age": age, "sex": draw.integers(0, 2, records)}
    columns |= {f"x{k}": (age + draw.integers(0, 8, records)) % 9 for k in range(4)}
    write_records(folder / _DATA["synthesise"], pa.table(columns))
    checkpoint, log = folder / "checkpoint.json", folder / "log"
    rng, ages, spent = random.Random(seed), [], 0.0
    limit = 4 * moments * longest
    for _ in range(moments):
        log.unlink(missing_ok=True)
        run = _begin(folder, limit, resume=checkpoint.exists(), verb="synthesise")
        while not log.exists():
            if run.poll() is not None:
                raise RuntimeError("the run ended before it began to search")
            time.sleep(0.02)
        time.sleep(rng.uniform(0.5, longest))
        os.kill(run.pid, signal.SIGKILL)
        now = time.time()
        run.wait()
        content = read_checkpoint(checkpoint)
        # The first second of a run may have no generation on disk yet.
        ages.append(now - content["at"])
        if content["seconds"] < spent:
            raise RuntimeError("a checkpoint took time back")
        spent = content["seconds"]
    run = _begin(folder, spent + 60.0, resume=True, verb="synthesise")
    if run.wait() or checkpoint.exists():
        raise RuntimeError("the run that went on did not end well")
    return ages


def synthesise(
    path: str, checkpoint: str, log: Path, limit: float, *, resume: bool
) -> int:
    """Run, and write down that it has begun."""
    import evosdc

    def hear(_: object) -> None:
        log.touch()

    evosdc.synthesise(
        path,
        time_limit=limit,
        workers=1,
        checkpoint=checkpoint,
        resume=resume,
        listener=hear,
        noise_floor=False,
    )
    return 0


def _killed(folder: Path, after: float, limit: float, *, resume: bool) -> Loss:
    """Kill a run so many seconds after its search began."""
    from evosdc.io.checkpoint import read_checkpoint

    checkpoint, log = folder / "checkpoint.json", folder / "log"
    log.unlink(missing_ok=True)
    run = _begin(folder, limit, resume=resume)
    while not log.exists():
        if run.poll() is not None:
            raise RuntimeError("the run ended before it began to search")
        time.sleep(0.02)
    time.sleep(after)
    os.kill(run.pid, signal.SIGKILL)
    now = time.time()
    run.wait()
    if not checkpoint.exists():
        return Loss(after, None, 0.0, 0.0, 0.0)
    content = read_checkpoint(checkpoint)
    kept = content["cost"]
    found = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    lost = [
        now - float(when)
        for when, cost in (pair for pair in found if len(pair) == 2)
        if cost != "None" and (kept is None or float(cost) < kept * (1 - 1e-9))
    ]
    age = now - content["at"]
    return Loss(after, kept, max(lost, default=0.0), age, content["seconds"])


def _begin(
    folder: Path, limit: float, *, resume: bool, verb: str = "protect"
) -> subprocess.Popen[bytes]:
    names = [str(folder / name) for name in (_DATA[verb], "checkpoint.json", "log")]
    words = ["-m", "benchmarks.kill", "--verb", verb, "--child", *names, str(limit)]
    home = Path(__file__).resolve().parents[1]
    return subprocess.Popen([sys.executable, *words, *["--resume"] * resume], cwd=home)


def child(path: str, checkpoint: str, log: Path, limit: float, *, resume: bool) -> int:
    """Run, and write down when what was found."""
    import evosdc
    from evosdc.evolution.stopping import Entry

    def hear(entry: Entry) -> None:
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"{time.time()} {entry.cost}\n")

    answer = evosdc.protect(
        path,
        time_limit=limit,
        workers=1,
        stop=evosdc.Stop(gap=0),
        run=evosdc.Run(checkpoint=checkpoint, resume=resume, on_progress=hear),
    )
    text = f"{answer.verdict.word} {answer.cost}"
    Path(checkpoint).with_name("answer").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
