"""Figures of Chen (2020), as data, each with the place it stands in the thesis."""

from __future__ import annotations

from benchmarks.experiments.published import Figure

SOURCE = "Chen 2020"

# Table 2 of section 5.2: mean, deviation and best of the fittest after 100 generations.
_CROSSOVERS = {
    ("matrix 1", 1): (0.0564, 0.0026, 0.0517),
    ("matrix 1", 2): (0.1887, 0.0030, 0.1818),
    ("matrix 1", 3): (0.2319, 0.0020, 0.2281),
    ("matrix 0.7", 1): (0.0579, 0.0022, 0.0541),
    ("matrix 0.7", 2): (0.1958, 0.0034, 0.1889),
    ("matrix 0.7", 3): (0.2375, 0.0032, 0.2340),
    ("variable 0.5455", 1): (0.0497, 0.0022, 0.0472),
    ("variable 0.5455", 2): (0.1936, 0.0038, 0.1885),
    ("variable 0.5455", 3): (0.2259, 0.0019, 0.2213),
    ("variable 0.273", 1): (0.0561, 0.0015, 0.0533),
    ("variable 0.273", 2): (0.1929, 0.0041, 0.1867),
    ("variable 0.273", 3): (0.2363, 0.0025, 0.2315),
    ("puc 0.3818", 1): (0.0393, 0.0021, 0.0362),
    ("puc 0.3818", 2): (0.1450, 0.0025, 0.1408),
    ("puc 0.3818", 3): (0.2060, 0.0009, 0.2048),
    ("puc 0.1911", 1): (0.0429, 0.0022, 0.0397),
    ("puc 0.1911", 2): (0.1576, 0.0038, 0.1521),
    ("puc 0.1911", 3): (0.2112, 0.0020, 0.2092),
}
# Table 1 of section 5.2: the fittest of the initial population.
_START = {1: 0.0734, 2: 0.2176, 3: 0.2544}

# Table 4.4: generations to converge and best fitness, by population.
_SELECTIONS = {
    ("linear-rank", 10): (10, 0.025),
    ("linear-rank", 50): (50, 0.012),
    ("linear-rank", 100): (80, 0.008),
    ("exponential-rank", 10): (6, 0.04),
    ("exponential-rank", 50): (2, 0.018),
    ("tournament", 10): (10, 0.024),
    ("tournament", 50): (48, 0.016),
    ("tournament", 100): (77, 0.007),
    ("roulette", 10): (31, 0.042),
    ("roulette", 50): (119, 0.017),
    ("roulette", 100): (219, 0.015),
}

# Table 2 of section 5.5: fitness before and after 200 generations.
_INITIAL = {
    ("uniform", "binary4"): (0.5142, 0.1696),
    ("uniform", "mixed4"): (0.6550, 0.5336),
    ("uniform", "pairs4"): (0.5229, 0.3545),
    ("univariate", "binary4"): (0.2092, 0.1029),
    ("univariate", "mixed4"): (0.5401, 0.4003),
    ("univariate", "pairs4"): (0.4433, 0.3280),
    ("cart", "binary4"): (0.2633, 0.2830),
    ("cart", "mixed4"): (0.3039, 0.5520),
    ("cart", "pairs4"): (0.2731, 0.4708),
}

# Section 5.7, with tables 2 and 3, and section 5.4 with table 3.4.
_CENSUS = {
    "soga": {
        "utility": (0.1257, "section 5.7"),
        "risk": (0.3964, "section 5.7"),
        "pmse": (5.44e-6, "section 5.7, table 2"),
        "pmse_ratio": (0.1638, "section 5.7, table 2"),
        "roe": (0.8924, "section 5.7, table 3"),
        "baseline": (0.415, "section 5.7"),
    },
    "cart": {
        "risk": (0.4186, "section 5.7"),
        "pmse": (3.397e-5, "section 5.7, table 2"),
        "pmse_ratio": (1.0236, "section 5.7, table 2"),
        "roe": (0.9198, "section 5.7, table 3"),
    },
}
_FULL = {
    "ga jsd:full": {
        "utility": (0.08, "section 5.4"),
        "logit_correlation": (0.9999, "section 5.4, table 3.4"),
    },
    "cart": {"logit_correlation": (0.9860, "section 5.4, table 3.4")},
}


def _figure(
    family: str, method: str, quantity: str, value: float, place: str, how: str = "mean"
) -> Figure:
    return Figure(family, (family,), method, quantity, how, value, f"{SOURCE}, {place}")


def _all() -> tuple[Figure, ...]:
    out: list[Figure] = []
    for (method, n), (mean, sd, best) in _CROSSOVERS.items():
        place, fall = "section 5.2, table 2", 1 - mean / _START[n]
        for source in ("data", "made", "other"):
            family = f"crossover-{source}{n}"
            out += [
                _figure(family, method, "after", mean, place),
                _figure(family, method, "after", sd, place, "sd"),
                _figure(family, method, "after", best, place, "best"),
                _figure(family, method, "fall", fall, "5.2, tables 1 and 2"),
            ]
    for (method, size), (generations, fitness) in _SELECTIONS.items():
        family, place = f"selection-{size}", "section 4.2, table 4.4"
        out += [
            _figure(family, method, "converged", generations, place),
            _figure(family, method, "after", fitness, place),
        ]
    for (method, data), (before, after) in _INITIAL.items():
        family, place = f"initial-{data}", "section 5.5, table 2"
        out += [
            _figure(family, method, "before", before, place),
            _figure(family, method, "after", after, place),
        ]
    for family, entries in (("trade-off-census", _CENSUS), ("full-four", _FULL)):
        for method, known in entries.items():
            for quantity, (value, place) in known.items():
                out.append(_figure(family, method, quantity, value, place))
    return tuple(out)


THESIS_FIGURES = _all()
