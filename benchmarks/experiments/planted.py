"""Random files with people planted in them whom no copy may show, and who looks.

Every file has ordinary people, and among them: thirteen with a job that nobody else
has, two to four with the same rare one, thirteen more with one of their own and every
other value at random, one with a combination that should not exist, one huge and one
negative income, an impossible age; and beside them four columns that say who everybody
is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

LONE, FEW, SOME = "Prime Minister", "Astronaut", "Lighthouse keeper"
HUGE, NEGATIVE, IMPOSSIBLE_AGE = 9_999_999, -7_777_777, 999
IDENTIFIERS = ("pid", "code", "note", "born")
KEY, TARGET = ("age", "sex", "region", "job"), "disease"
# What makes up a person here; an attacker compares all of it, or all but one.
PERSON = ("age", "sex", "region", "job", "disease")
_JOBS = ("farmer", "clerk", "nurse", "teacher", "driver", "cook", "none", "builder")
_DISEASES = ("none", "asthma", "diabetes", "heart", "cancer", "migraine")
_MANY = 13
_MARITAL = ("single", "married", "divorced", "widowed")


@dataclass(frozen=True)
class Planted:
    """A file, and who was planted in it: positions of records by kind."""

    table: pa.Table
    people: dict[str, NDArray[np.int64]]


@dataclass(frozen=True)
class Found:
    """What an attacker who knows the planted people finds in a copy.

    `whole` of the thirteen with a job of their own are there with all values, `nearly`
    so many with all but one; the chances are what records with the same margins and
    nothing else would show on average. `problems` are sentences.
    """

    whole: int
    nearly: int
    chance_whole: float
    chance_nearly: float
    problems: list[str] = field(default_factory=list)


def plant(seed: int) -> Planted:
    """Make a random file of 500 to 2,000 people with some planted among them."""
    rng = np.random.default_rng([seed, 77])
    n = int(rng.integers(500, 2001))
    age = rng.integers(0, 90, n)
    columns: dict[str, NDArray] = {
        "age": age,
        "sex": rng.choice(["f", "m"], n),
        "region": rng.choice([f"R{k}" for k in range(int(rng.integers(4, 10)))], n),
        "job": np.where(
            age < 16, "none", rng.choice(_JOBS, n, p=rng.dirichlet(np.full(8, 4.0)))
        ),
        "disease": rng.choice(_DISEASES, n, p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05]),
        "marital": np.where(
            age < 18, "single", rng.choice(_MARITAL, n, p=[0.3, 0.5, 0.15, 0.05])
        ),
        "income": np.exp(rng.normal(10.3, 0.5, n)).astype(np.int64),
    }
    columns["job"] = columns["job"].astype("U20")
    spots = rng.permutation(n)
    few = int(rng.integers(2, 5))
    people = {
        "lone": spots[:_MANY],
        "few": spots[20 : 20 + few],
        "some": spots[30 : 30 + _MANY],
        "combination": spots[50:51],
        "huge": spots[51:52],
        "negative": spots[52:53],
        "impossible": spots[53 : 54 + int(rng.integers(0, 3))],
    }
    own = np.array([f"{LONE} {k}" for k in range(_MANY)])
    for name, job in (("lone", own), ("few", FEW), ("some", SOME)):
        columns["job"][people[name]] = job
        columns["age"][people[name]] = rng.integers(20, 90, len(people[name]))
    columns["age"][people["combination"]] = 4
    columns["marital"][people["combination"]] = "widowed"
    columns["income"][people["huge"]] = HUGE
    columns["income"][people["negative"]] = NEGATIVE
    columns["age"][people["impossible"]] = IMPOSSIBLE_AGE
    return Planted(pa.table(_identified(columns, rng)), people)


def replaced(planted: Planted, gone: NDArray[np.int64], seed: int) -> Planted:
    """Return the same file with others in place of some people with a rare job.

    They have the job and values drawn as those people's were; nobody else changes.
    Whoever is in copies of the one file more often than in copies of the other is there
    because of their own record.
    """
    rng = np.random.default_rng([seed, 78])
    table = planted.table
    for name in PERSON:
        if name == "job":
            continue
        values = np.array(table[name].to_pylist())
        if name == "age":
            values[gone] = rng.integers(20, 90, len(gone))
        else:
            ordinary = np.delete(np.arange(len(values)), gone)
            values[gone] = values[rng.choice(ordinary, len(gone))]
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(values))
    return Planted(table, planted.people)


def _identified(
    columns: dict[str, NDArray], rng: np.random.Generator
) -> dict[str, NDArray]:
    """Add columns that say who everybody is."""
    n = len(columns["age"])
    first = int(rng.integers(1, 10**6))
    streets = rng.choice(["High Street", "Mill Lane", "Church Road"], n)
    days = rng.integers(0, 29_000, n)
    born = np.datetime64("1930-01-01") + days.astype("timedelta64[D]")
    numbers = rng.permutation(n)
    return {
        "pid": first + rng.permutation(n),
        "code": np.array([f"P{k:06d}" for k in rng.choice(10**6, n, replace=False)]),
        **columns,
        "note": np.array(
            [f"lives at {k + 1} {s}" for k, s in zip(numbers, streets, strict=True)]
        ),
        # Half of the files know dates as such, half as text, as CSV files do.
        "born": born if rng.random() < 0.5 else born.astype(str),
    }


def look(planted: Planted, copy: pa.Table, least: int = 5) -> Found:
    """Look for the planted people in a copy."""
    table, problems = planted.table, []
    for name in IDENTIFIERS:
        if name in copy.column_names:
            again = set(copy[name].to_pylist()) & set(table[name].to_pylist())
            if again:
                problems.append(f"{len(again)} values of {name} are in the copy")
    rare = sum(str(job).startswith((LONE, FEW)) for job in copy["job"].to_pylist())
    if rare:
        problems.append(f"{rare} records have a job of fewer than {least}")
    for name in ("income", "age"):
        real = np.sort(np.array(table[name].to_pylist(), float))
        made = np.array([x for x in copy[name].to_pylist() if x is not None], float)
        if made.max() > real[-least] or made.min() < real[least - 1]:
            problems.append(f"{name} goes beyond what {least} people have")
        middle = real[least:-least].mean()
        if abs(made.mean() / middle - 1.0) > 0.1:
            problems.append(f"the mean of {name} is far off")
    child = [
        a < 10 and m == "widowed"
        for a, m in zip(
            copy["age"].to_pylist(), copy["marital"].to_pylist(), strict=True
        )
    ]
    if sum(child) > 1:
        problems.append(f"{sum(child)} widowed children")
    some = count_again(planted, copy, planted.people["some"])
    alone = np.concatenate([planted.people[k] for k in ("lone", "few")])
    if count_again(planted, copy, alone)[0]:
        problems.append("a person with a rare job is in the copy, whole")
    return Found(*some, problems)


def count_again(
    planted: Planted, copy: pa.Table, people: NDArray[np.int64]
) -> tuple[int, int, float, float]:
    """Count people who are in a copy whole, and with all values but one; and by chance.

    People are positions in the file of `planted`; the copy may be of another one.

    The job is what they are looked for by; it is never the one that may differ.
    """
    real = np.column_stack([_texts(planted.table, name) for name in PERSON])
    made = np.column_stack([_texts(copy, name) for name in PERSON])
    alike = np.array([(made == person).sum(axis=1) for person in real[people]])
    job = PERSON.index("job")
    same = np.array([made[:, job] == person[job] for person in real[people]])
    whole = int((alike == len(PERSON)).any(axis=1).sum())
    nearly = int(((alike >= len(PERSON) - 1) & same).any(axis=1).sum())
    # The share of records with each value that a person has.
    share = np.array(
        [
            (real[:, j] == real[people, j][:, None]).mean(axis=1)
            for j in range(len(PERSON))
        ]
    )
    every = share.prod(axis=0)
    others = np.delete(share, job, axis=0)
    but_one = every * (1.0 + ((1.0 - others) / others).sum(axis=0))
    by_chance = [
        float(-np.expm1(len(made) * np.log1p(-p)).sum()) for p in (every, but_one)
    ]
    return whole, nearly, by_chance[0], by_chance[1]


def _texts(table: pa.Table, name: str) -> NDArray:
    return np.array([str(value) for value in table[name].to_pylist()])
