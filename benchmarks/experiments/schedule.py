"""How long measured tasks would take on more cores: list scheduling, as pools do it.

A task begins when those it waits for are over and a worker is free, in the order in
which tasks are given out. What is shared travels to the workers first, in a tree; each
task and its answer travel as well; answers are taken in at home one by one.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

# A usual network between machines: megabytes a second, and seconds for a message.
BANDWIDTH, LATENCY = 100.0, 0.002


@dataclass(frozen=True)
class Work:
    """The tasks of a run, with the seconds that each was measured to take.

    Attributes
    ----------
    seconds
        Of each task, in the order in which they are given out.
    after
        For each task the earlier ones it waits for.
    alone
        Seconds of what only the one who gives out the tasks can do, all together.
    home
        Seconds for taking in an answer.
    shared, told
        Megabytes that go to every worker once, and with each task and its answer.
    """

    seconds: Sequence[float]
    after: Sequence[Sequence[int]]
    alone: float = 0.0
    home: float = 0.0
    shared: float = 0.0
    told: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Work:
        """Read a row of measurements."""
        names = ("after", "alone", "home", "shared", "told")
        return cls(row["tasks"], **{name: row[name] for name in names})

    @property
    def serial(self) -> float:
        """Seconds on one core, with nothing sent."""
        return self.alone + sum(self.seconds) + self.home * len(self.seconds)

    @property
    def longest_chain(self) -> float:
        """Seconds of the longest chain of tasks that wait for each other."""
        ends: list[float] = []
        for seconds, after in zip(self.seconds, self.after, strict=True):
            ends.append(seconds + max((ends[k] for k in after), default=0.0))
        return max(ends, default=0.0)


def makespan(work: Work, workers: int) -> float:
    """Return the seconds that the tasks take on so many workers."""
    if workers < 2:
        return work.serial
    spread = ceil(log2(workers + 1)) * (LATENCY + work.shared / BANDWIDTH)
    sent = LATENCY + work.told / BANDWIDTH
    free = [spread] * workers
    heapq.heapify(free)
    waits = [len(after) for after in work.after]
    follow: list[list[int]] = [[] for _ in waits]
    for task, after in enumerate(work.after):
        for earlier in after:
            follow[earlier].append(task)
    ready = [(task, 0.0) for task, many in enumerate(waits) if not many]
    heapq.heapify(ready)
    running: list[tuple[float, int]] = []
    now = home = end = 0.0
    while ready or running:
        while ready and free[0] <= now:
            task, _ = heapq.heappop(ready)
            begun = max(heapq.heappop(free), now)
            heapq.heappush(running, (begun + sent + work.seconds[task], task))
            heapq.heappush(free, begun + sent + work.seconds[task])
        coming = running[0][0] if running else free[0]
        if ready:
            coming = min(coming, free[0])
        now = max(now, coming)
        while running and running[0][0] <= now:
            _, task = heapq.heappop(running)
            home = max(home, now) + work.home
            end = max(end, home)
            for later in follow[task]:
                waits[later] -= 1
                if not waits[later]:
                    heapq.heappush(ready, (later, home))
    return work.alone + end
