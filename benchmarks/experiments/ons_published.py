"""Figures of the studies at the Office for National Statistics, as data.

Smith, Clark, Staggemeier and Serpell (2011), *A genetic approach to statistical
disclosure control*, tables III to VIII, and the sentences on significance in section
IV-B. Tables are named as in figure 1 of Staggemeier et al. (2007): A to G, H1 to H6.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "Smith, Clark, Staggemeier and Serpell 2011"

# The methods of table III, in its order, and what they are called here.
SIX = (
    ("LS Swap", "ls-swap"),
    ("LS Insert", "ls-insert"),
    ("LS Invert", "ls-invert"),
    ("GA Swap", "order-ga-swap"),
    ("GA Insert", "order-ga-insert"),
    ("GA Invert", "order-ga-invert"),
)

# The options that make them what was published: nothing is cleaned up.
AS_PUBLISHED = "+clean=never"

# Table III: cost saved against order-by-weight in per cent, a line a table, each the
# mean of five runs of at most 3 hours, 10,000 evaluations or 1,000 without success.
TABLE_III: dict[str, tuple[tuple[float, ...], ...]] = {
    "A": (
        (13.66, 14.63, 15.57, 12.88, 13.84, 17.03),
        (1.86, 1.67, 1.10, 1.24, 1.25, 1.21),
        (17.54, 17.13, 14.25, 14.91, 10.30, 16.71),
        (6.77, 7.94, 8.00, 9.35, 21.86, 17.59),
        (13.72, 12.21, 11.42, 15.40, 12.32, 14.54),
    ),
    "B": (
        (9.66, 8.60, 9.89, 10.27, 10.47, 8.51),
        (6.33, 2.88, 3.85, 5.78, 4.81, 3.04),
        (16.31, 7.66, 17.25, 22.08, 20.09, 20.58),
        (24.12, 18.15, 25.34, 25.68, 25.35, 25.46),
        (1.02, 0.76, 0.58, 0.69, 0.85, 0.74),
    ),
    "C": (
        (1.10, 0.94, 2.12, 1.37, 0.19, 2.40),
        (6.24, 0.13, 9.41, 10.33, 9.28, 14.10),
        (3.12, 2.96, 0.75, 10.62, 11.51, 15.12),
        (4.41, 1.41, 11.24, 10.52, 9.96, 12.78),
        (3.29, 1.79, 5.96, 2.66, 0.75, 1.61),
    ),
    "D": (
        (1.96, 1.87, 7.40, 8.95, 6.50, 5.69),
        (2.77, 2.21, 2.58, 7.77, 8.48, 9.27),
        (3.54, 1.99, 8.70, 7.39, 9.25, 6.45),
        (6.22, 1.80, 12.36, 13.72, 13.36, 13.21),
        (3.03, 4.28, 3.71, 5.59, 5.19, 2.11),
    ),
    "E": (
        (0.14, 0.14, 0.02, 0.41, 0.33, 0.24),
        (0.79, 0.52, 1.03, 1.02, 0.81, 0.60),
        (0.69, 0.66, 0.72, 0.72, 0.90, 0.60),
        (0.38, 0.39, 0.41, 0.52, 0.39, 0.47),
        (0.14, 0.31, 0.61, 0.57, 0.58, 0.61),
    ),
    "F": (
        (0.82, 0.65, 0.43, 0.18, 0.25, 0.25),
        (1.22, 0.61, 1.60, 2.20, 2.34, 2.30),
        (0.59, 1.05, 0.66, 1.21, 1.16, 1.16),
        (0.86, 0.78, 1.10, 0.94, 1.01, 1.14),
        (0.35, 0.00, 0.28, 0.11, 0.16, 0.31),
    ),
    "G": (
        (1.35, 0.00, 1.08, 1.26, 1.43, 2.46),
        (0.00, 0.00, 0.68, 0.00, 0.84, 0.20),
    ),
    "H1": ((0.00, 0.15, 1.17, 1.35, 3.10, 1.16),),
    "H2": ((3.65, 1.73, 3.11, 4.38, 4.66, 6.33),),
    "H3": ((0.59, 0.62, 0.72, 0.71, 0.62, 0.72),),
    "H4": ((0.27, 0.46, 0.94, 1.18, 1.05, 1.17),),
    "H5": ((0.00, 0.00, 0.07, 1.17, 0.91, 1.66),),
    "H6": ((0.07, 0.07, 0.52, 1.10, 1.00, 1.31),),
}

# Table IV: mean ranks over the tables, 6 the best.
TABLE_IV = {
    "ls-swap": 2.83,
    "ls-insert": 2.01,
    "ls-invert": 3.47,
    "order-ga-swap": 4.25,
    "order-ga-insert": 4.11,
    "order-ga-invert": 4.33,
}

# Section IV-B: Wilcoxon's test of each GA against its local search, as confidence.
CONFIDENCE = (
    ("order-ga-invert", "ls-invert", "over 99.9 %"),
    ("order-ga-swap", "ls-swap", "99.9 %"),
    ("order-ga-insert", "ls-insert", "97.6 %"),
    ("order-ga-swap", "order-ga-insert", "no difference"),
    ("order-ga-swap", "order-ga-invert", "no difference"),
    ("order-ga-insert", "order-ga-invert", "no difference"),
)

# The methods of tables V and VI, and what stands for them here. Its network method is
# the one of tau-Argus; here it is the best method for networks.
ARGUS = (
    ("GA-group-K", "order-ga"),
    ("Hypercube", "hypercube"),
    ("Modular", "hitas"),
    ("Network", "hybrid"),
    ("Optimal", "optimal"),
    ("Marginal", "marginal"),
)

# Table V: costs of the secondaries by GA-group-K, hypercube, modular, network, optimal
# and marginal; None where the method failed. Two figures of modular that the source
# itself calls anomalies (86,984 and 393 on D) are left out.
TABLE_V: dict[str, tuple[tuple[float | None, ...], ...]] = {
    "B": (
        (1199, 2377, 999, None, 997, 39580),
        (232, 951, 227, None, None, 22560),
        (1276, 1608, None, None, None, 33639),
        (1686, 3131, 1287, None, None, 20545),
        (1775, 3299, None, None, None, 37165),
    ),
    "A": (
        (550, 2535, None, None, None, 18616),
        (853, 1696, 597, None, None, 23753),
        (285, 1316, 64, None, None, 39550),
        (254, 1368, None, None, None, 21273),
        (1193, 1199, 850, None, None, 20417),
    ),
    "D": (
        (2955, None, None, None, None, 54280),
        (2939, None, None, None, None, 54923),
        (2228, None, None, None, 2169, 55769),
        (3436, None, 790, None, None, 56712),
        (2089, None, 418, None, None, 56778),
    ),
    "C": (
        (2820, None, None, None, None, 54566),
        (2161, None, 2189, None, None, 36891),
        (1970, None, 2522, None, None, 54525),
        (2532, None, None, None, None, 56895),
        (2352, None, None, None, None, 36956),
    ),
    "F": (
        (2730, None, None, None, None, 8033),
        (2908, None, None, None, None, 8542),
        (2838, None, None, None, None, 8433),
        (2605, None, None, None, None, 8292),
        (2572, None, None, None, None, 8343),
    ),
    "E": (
        (2371, None, None, None, None, 8411),
        (2715, None, None, None, None, 8704),
        (2646, None, None, None, None, 8620),
        (2432, None, None, None, None, 9039),
        (2436, None, None, None, None, 8643),
    ),
}

# Table VI: of ten tables of each size, how many were protected.
TABLE_VI = {
    "200x5": {"GA-group-K": 10, "Hypercube": 10, "Modular": 6, "Network": 0}
    | {"Optimal": 1, "Marginal": 10},
    "200x50": {"GA-group-K": 10, "Hypercube": 0, "Modular": 6, "Network": 0}
    | {"Optimal": 1, "Marginal": 10},
    "4000x10": {"GA-group-K": 10, "Hypercube": 0, "Modular": 0, "Network": 0}
    | {"Optimal": 0, "Marginal": 10},
}


@dataclass(frozen=True)
class LargeLine:
    """A line of tables VII and VIII.

    `exposed` is the size of K_u, `calls` the number of evaluations in 24 hours and
    `improvement` the cost saved by the genetic algorithm in per cent.
    """

    shape: str
    cells: int
    primaries: int
    exposed: int
    calls: int
    improvement: float


LARGE_LINES = (
    LargeLine("100x27x18", 48_600, 14_807, 263, 35, 15.12),
    LargeLine("100x21x24", 50_400, 10_555, 645, 30, 0.0),
    LargeLine("100x5x106(H)", 53_000, 8_763, 5_558, 40, 0.0159),
    LargeLine("100x112(H)x4", 56_000, 4_544, 4_047, 60, 10.79),
    LargeLine("100x7x83", 58_100, 11_517, 4_430, 35, 10.5),
    LargeLine("100x20x31", 62_000, 13_164, 678, 25, 0.0),
    LargeLine("100x6x112(H)", 67_200, 1_972, 1_933, 25, 2.46),
    LargeLine("100x20x36", 72_000, 15_422, 734, 20, 0.0),
    LargeLine("100x76x10", 76_000, 13_429, 3_629, 20, 0.0),
    LargeLine("100x4x212(H)", 84_800, 10_265, 8_859, 40, 0.0),
    LargeLine("100x11x90(H)", 99_000, 18_978, 10_069, 25, 0.36),
    LargeLine("50x50x40", 100_000, 21_850, 259, 15, 0.0),
    LargeLine("100x158(H)x9", 142_200, 28_032, 14_172, 20, 0.0),
    LargeLine("100x91x23", 209_300, 16_008, 3_441, 195, 0.15),
)
