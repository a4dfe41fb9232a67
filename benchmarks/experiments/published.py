"""Published figures, as data, each with the place it stands in its source.

Gaps in Almeida, Schuetz and Carvalho (2008) are ``(cost - bound) / bound`` with the LP
relaxation of their binary model as the bound; the nearest bound here is that of all
capacity cuts. "Best set" and "worst set" are of the means of sets of ten tables.
Herrington (2015) makes ten runs on each of ten tables. His tables 2 to 4 are over the
means of ten runs. Table 7 is over the *lowest cost* of ten runs and table 8 over the
*slowest*, and both leave out the table that cost most: the sample output of his
appendix holds the same runs line by line, and its columns give every figure of tables
3, 7 and 8. The other sets are taken to be reported likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

import numpy as np

from benchmarks.experiments.statistics import Summary, column, group, summarise
from benchmarks.experiments.store import Row

GENSUP_SOURCE = "Almeida, Schuetz and Carvalho 2008"
HEURGENE_SOURCE = "Herrington 2015"


@dataclass(frozen=True)
class Figure:
    """A published number.

    Attributes
    ----------
    where
        The tables it is about, in words.
    families
        Patterns of the names of the families that stand for them.
    method
        The contender it is about.
    quantity
        Column of the rows.
    statistic
        mean, median, best, worst, sd, "best set" and "worst set" (of family means), or
        "share" of rows where the column is true; "lowest" before mean, median, best,
        worst or sd takes the lowest of the runs on each table first, "run mean" their
        mean.
    value
        The number.
    place
        Source and table or figure in it.
    about
        What to print before it, where the source gives no exact number: ``<``.
    """

    where: str
    families: tuple[str, ...]
    method: str
    quantity: str
    statistic: str
    value: float
    place: str
    about: str = ""

    @property
    def title(self) -> str:
        """Name of what is compared."""
        return f"{self.quantity} {self.statistic}"

    def measured(self, rows: Sequence[Row]) -> float | None:
        """The same number in our rows; None where they have no run for it."""
        mine = [
            row
            for row in rows
            if row["method"] == self.method
            and any(fnmatch(row["family"], pattern) for pattern in self.families)
        ]
        if self.statistic in ("best set", "worst set"):
            means = [
                float(np.mean(column(part, self.quantity)))
                for part in group(mine, "family").values()
                if column(part, self.quantity)
            ]
            if not means:
                return None
            return min(means) if self.statistic == "best set" else max(means)
        values = column(mine, self.quantity)
        wanted = "mean" if self.statistic == "share" else self.statistic
        for prefix, one in (("lowest ", np.min), ("run mean ", np.mean)):
            if wanted.startswith(prefix):
                wanted = wanted.removeprefix(prefix)
                runs = group(mine, "family", "table").values()
                values = [
                    float(one(known))
                    for part in runs
                    if (known := column(part, self.quantity))
                ]
        found: Summary | None = summarise(values)
        return None if found is None else float(getattr(found, wanted))


# The reading of Castro's heuristic that comes nearest to the one compared.
CASTRO = "castro+recovery=false+strata=cells+both-ways=true+paths=1"


def _gensup() -> tuple[Figure, ...]:
    one = ("class I", ("class1-*",))
    # The source's class I ends at 100x100.
    sizes = ("dense1-50x*", "dense1-40x30", "dense1-100x*")
    dense = ("class I, values 0..49", sizes)
    two = ("class II", ("class2-*",))
    large = ("class2-300x*", "class2-400x*")
    middle = ("class II, 20,000 cells and more", ("class2-200x100", *large))
    hypercube, castro, compared = "hypercube-2d", "castro+recovery=false", CASTRO
    gap, failed, seconds = "gap", "failed", "cpu_seconds"
    spread = "figure 7"
    found = [
        (*one, "sp", gap, "mean", 0.0367, spread),
        (*one, "sp", gap, "best set", 0.0046, spread),
        (*one, "sp", gap, "worst set", 0.0725, spread),
        (*one, hypercube, gap, "mean", 0.685, spread),
        (*one, hypercube, gap, "best set", 0.138, spread),
        (*one, hypercube, gap, "worst set", 0.9767, spread),
        (*one, hypercube, failed, "share", 0.0, "section 6.4"),
        (*one, castro, gap, "mean", 1.2978, spread),
        (*one, castro, gap, "best set", 0.1101, spread),
        (*one, castro, gap, "worst set", 2.5519, spread),
        (*one, castro, failed, "share", 0.0, "section 6.4"),
        (*one, "gensup", gap, "mean", 0.0097, "section 6.4"),
        (*one, "gensup", gap, "worst set", 0.0207, "section 6.4"),
        (*dense, "sp", gap, "mean", 0.0367, spread),
        (*dense, "sp", gap, "best set", 0.0046, spread),
        (*dense, "sp", gap, "worst set", 0.0725, spread),
        (*dense, hypercube, gap, "mean", 0.685, spread),
        (*dense, hypercube, gap, "best set", 0.138, spread),
        (*dense, hypercube, gap, "worst set", 0.9767, spread),
        (*dense, compared, gap, "mean", 1.2978, spread),
        (*dense, compared, gap, "best set", 0.1101, spread),
        (*dense, compared, gap, "worst set", 2.5519, spread),
        (*dense, compared, failed, "share", 0.0, "section 6.4"),
        (*dense, "gensup", gap, "mean", 0.0097, "section 6.4"),
        (*dense, "gensup", gap, "worst set", 0.0207, "section 6.4"),
        (*two, "sp", gap, "mean", 0.1316, "section 6.4"),
        (*two, hypercube, failed, "share", 143 / 150, "section 6.4"),
        (*two, castro, failed, "share", 132 / 150, "section 6.4"),
        (*two, compared, failed, "share", 132 / 150, "section 6.4"),
        (*two, "gensup", gap, "mean", 0.037, "section 6.4"),
        (*middle, "gensup", gap, "mean", 0.02, "section 6.4"),
    ]
    place = GENSUP_SOURCE + ", "
    figures = [Figure(*line[:6], place + line[6]) for line in found]
    times = [
        (*one, 120.0, "<"),
        ("class II, more than 60,000 cells", ("class2-300x300",), 1320.0, "about "),
    ]
    for where, families, value, about in times:
        figures.append(
            Figure(
                where,
                families,
                "gensup",
                seconds,
                "worst set" if about == "<" else "mean",
                value,
                place + "section 6.4",
                about,
            )
        )
    return tuple(figures)


# Tables 5 to 18: cost mean, median, highest, lowest, deviation of hypercube, GenSup and
# HeurGene, then CPU seconds in the same order of GenSup and HeurGene.
_STATISTICS = ("mean", "median", "worst", "best", "sd")
_HEURGENE = {
    1: (
        "tables 5, 6 and 19",
        (5768, 5601, 6371, 5297, 324),
        (5530, 5421, 7110, 4021, 973),
        (5445, 5351, 6013, 5131, 315),
        (220.2564, 214.6291, 322.5163, 154.477, 44.7983),
        (11.1194, 10.951, 13.619, 8.861, 1.5367),
        (1.0803, 29.0881),
    ),
    2: (
        "tables 7, 8 and 19",
        (6885, 6782, 7867, 6030, 636),
        (5441, 5429, 6366, 4885, 406),
        (6066, 6099, 6971, 5268, 493),
        (472.2239, 474.468, 480.768, 455.724, 6.9158),
        (20.1943, 18.283, 30.888, 15.912, 4.5564),
        (3.057, 40.5636),
    ),
    3: (
        "tables 9, 10 and 19",
        (2922, 2997, 3484, 2253, 343),
        (2304, 2253, 2746, 1816, 287),
        (2603, 2670, 3020, 2009, 305),
        (811.2831, 824.336, 952.663, 671.285, 86.4002),
        (64.5615, 66.752, 71.495, 56.519, 4.7155),
        (0.7621, 4.942),
    ),
    4: (
        "tables 13, 14 and 20",
        (17156, 16842, 18930, 16276, 854),
        (15337, 15019, 17539, 14796, 853),
        (16469, 16143, 18287, 15593, 910),
        (22452.63, 22452.63, 22452.63, 22452.63, None),
        (2089.52, 2064.21, 2213.72, 2028.44, 61.55),
        (0.0836, 0.329),
    ),
    5: (
        "tables 15, 16 and 20",
        (9418, 9526, 10118, 8545, 570),
        (7868, 7812, 8379, 7803, 170),
        (9065, 9097, 9797, 8039, 563),
        (74161.45, 74161.45, 74161.45, 74161.45, None),
        (7383.42, 7325.55, 7788.72, 7207.65, 170.3),
        (0.0128, 0.0478),
    ),
    6: (
        "tables 17, 18 and 20",
        (145, 120, 298, 41, 78),
        (134, 114, 298, 41, 84),
        (143, 120, 298, 41, 78),
        (3781.76, 3696.4, 4582.76, 3454.93, 343.32),
        (12434.86, 12601.48, 13584.11, 11444.25, 721.48),
        (0.0031, 0.0002),
    ),
    7: (
        "tables 11, 12 and 20",
        (17810, 17538, 19296, 16619, 792),
        (17777, 17394, 19638, 16717, 1035),
        (17230, 17053, 19147, 16158, 892),
        (12024.0222, 12056.5141, 12321.6464, 11691.6279, 199.8669),
        (511.1365, 511.4625, 563.709, 463.586, 27.1727),
        (0.0027, 1.1336),
    ),
}
# The source's HyperCube is what makes an individual of its first generation.
HYPERCUBE = "heurgene+population=1+rectangles=further+crowded=true"
# HeurGene to the letter.
HEURGENE = "heurgene+rectangles=further+crowded=true+redraw=true+replace-best=true"
STRATEGIES = (
    "roulette/kill",
    "roulette/similar",
    "tournament/kill",
    "tournament/similar",
    "elite/elite",
    "probabilistic",
)
# Tables 2 to 4: mean, median, lowest, highest, deviation of the costs of each strategy.
_PORTFOLIO = {
    1: (
        (5760, 5766, 5193, 6230, 309.64),
        (5744, 5709, 5135, 6393, 382.08),
        (5674, 5638, 5224, 6397, 385.80),
        (5710, 5757, 5263, 6112, 295.25),
        (5711, 5647, 5229, 6260, 363.02),
        (5623, 5640, 5157, 6155, 355.09),
    ),
    2: (
        (6847, 6716, 5964, 7952, 615.94),
        (6942, 6799, 6118, 7832, 619.80),
        (6731, 6695, 5746, 7819, 534.20),
        (6856, 6797, 6026, 7908, 631.75),
        (6830, 6747, 5885, 8017, 635.70),
        (6778, 6693, 5857, 7951, 625.45),
    ),
    3: (
        (2877, 2971, 2137, 3537, 382.03),
        (2882, 2917, 2200, 3519, 346.1),
        (2816, 2809, 2164, 3514, 353.24),
        (2833, 2739, 2171, 3520, 339.27),
        (2874, 2921, 2236, 3430, 324.15),
        (2818, 2845, 2173, 3309, 362.12),
    ),
}


def portfolio(strategy: str) -> str:
    """Return the contender that stands for a strategy of tables 2 to 4."""
    if strategy == "probabilistic":
        return HEURGENE
    return f"{HEURGENE}+strategy={strategy}"


def _heurgene() -> tuple[Figure, ...]:
    figures = []
    for dataset, (tables, *numbers, ratios) in _HEURGENE.items():
        family = f"heurgene-{dataset}"
        methods = (HYPERCUBE, "gensup", HEURGENE, "gensup", HEURGENE)
        quantities = ("cost",) * 3 + ("cpu_seconds",) * 2
        place = f"{HEURGENE_SOURCE}, {tables}"
        for method, quantity, values in zip(methods, quantities, numbers, strict=True):
            lowest = "lowest " if (method, quantity) == (HEURGENE, "cost") else ""
            for statistic, value in zip(_STATISTICS, values, strict=True):
                if value is not None:
                    figures.append(
                        Figure(
                            family,
                            (family,),
                            method,
                            quantity,
                            lowest + statistic,
                            float(value),
                            place,
                        )
                    )
        for method, ratio in zip(("gensup", HEURGENE), ratios, strict=True):
            figures.append(
                Figure(family, (family,), method, "ratio", "mean", ratio, place)
            )
    for dataset, lines in _PORTFOLIO.items():
        family = f"heurgene-{dataset}"
        place = f"{HEURGENE_SOURCE}, table {dataset + 1}"
        for strategy, line in zip(STRATEGIES, lines, strict=True):
            names = ("mean", "median", "best", "worst", "sd")
            figures += [
                Figure(
                    family,
                    (family,),
                    portfolio(strategy),
                    "cost",
                    f"run mean {name}",
                    float(value),
                    place,
                )
                for name, value in zip(names, line, strict=True)
            ]
    return tuple(figures)


GENSUP_FIGURES = _gensup()
HEURGENE_FIGURES = _heurgene()
