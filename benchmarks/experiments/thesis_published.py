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

# Tables 4.2 and 4.3: loss of diversity, selection pressure and variance.
_PRESSURE: dict[str, dict[str, tuple[float | None, ...]]] = {
    "uniform": {
        "linear-rank:0": (0.4323, 0.0294, 0.5832),
        "linear-rank:0.3": (0.3985, 0.0206, 0.7691),
        "exponential-rank:0.5": (0.9283, 0.2630, 0.0010),
        "exponential-rank:0.9": (0.7228, -0.1028, 0.0580),
        "tournament:2": (0.4316, 0.5820, 0.5803),
        "tournament:3": (0.5089, 0.8493, 0.3296),
        "roulette:1": (0.2654, 0.5954, 0.5262),
        "universal:1": (0.4375, 0.5956, 0.5203),
    },
    "normal": {
        "linear-rank:0": (0.25, 0.5642, 0.6817),
        "linear-rank:0.3": (0.175, 0.3949, 0.844),
        "exponential-rank:0.5": (0.9244, None, None),
        "exponential-rank:0.9": (0.6816, None, None),
        "tournament:2": (0.25, 0.5642, 0.6817),
        "tournament:3": (0.3849, 0.8463, None),
    },
}

# Table 4.4: generations to converge and best fitness, by population. The source prints
# N/A for exponential ranking of 100, "that the model took 1 generation".
TABLE_44: dict[tuple[str, int], tuple[float, float | None]] = {
    ("linear-rank", 10): (10, 0.025),
    ("linear-rank", 50): (50, 0.012),
    ("linear-rank", 100): (80, 0.008),
    ("exponential-rank:0.7", 10): (6, 0.04),
    ("exponential-rank:0.7", 50): (2, 0.018),
    ("exponential-rank:0.7", 100): (1, None),
    ("tournament", 10): (10, 0.024),
    ("tournament", 50): (48, 0.016),
    ("tournament", 100): (77, 0.007),
    ("roulette:1", 10): (31, 0.042),
    ("roulette:1", 50): (119, 0.017),
    ("roulette:1", 100): (219, 0.015),
    ("roulette", 10): (31, 0.042),
    ("roulette", 50): (119, 0.017),
    ("roulette", 100): (219, 0.015),
    ("exponential-rank:0.7 no crossover", 10): (6, 0.04),
    ("exponential-rank:0.7 no crossover", 50): (2, 0.018),
    ("exponential-rank:0.7 no crossover", 100): (1, None),
    ("roulette:1 no crossover", 10): (31, 0.042),
    ("roulette:1 no crossover", 50): (119, 0.017),
    ("roulette:1 no crossover", 100): (219, 0.015),
}
# Table 1.2 of section 5.1; what table 4.4 calls RWS is called SUS there.
_TOYS = {
    ("linear-rank", 10): (10, 0.025),
    ("linear-rank", 50): (50, 0.012),
    ("linear-rank", 100): (80, 0.008),
    ("universal:1", 10): (31, 0.042),
    ("universal:1", 50): (119, 0.017),
    ("universal:1", 100): (219, 0.015),
    ("universal", 10): (31, 0.042),
    ("universal", 50): (119, 0.017),
    ("universal", 100): (219, 0.015),
}

# Tables 1 to 4 of section 5.5: diversity; distance and DCAP-U of the best at the start
# and after 200 generations; fitness at both times. Data 1, 2 and 3 in turn.
_MODELS = ("uniform", "univariate", "cart")
_STARTS = {
    "initial": {
        "diversity": (
            (0.0766, 0.0772, 0.0744),
            (0.2653, 0.1589, 0.0067),
            (0.1540, 0.1314, 0.0951),
        ),
        "utility_before": (
            (0.6135, 0.2958, 0.3724),
            (0.9231, 0.7633, 0.3895),
            (0.7383, 0.6269, 0.3863),
        ),
        "risk_before": (
            (0.3903, 0.0, 0.0),
            (0.0762, 0.0287, 0.1818),
            (0.0417, 0.0, 0.0),
        ),
        "utility": (
            (0.2398, 0.1455, 0.4002),
            (0.7526, 0.5658, 0.7796),
            (0.5014, 0.4640, 0.6658),
        ),
        "risk": ((0.0, 0.0, 0.0), (0.0545, 0.0188, 0.0416), (0.0, 0.0, 0.0)),
        "before": (
            (0.5142, 0.2092, 0.2633),
            (0.6550, 0.5401, 0.3039),
            (0.5229, 0.4433, 0.2731),
        ),
        "after": (
            (0.1696, 0.1029, 0.2830),
            (0.5336, 0.4003, 0.5520),
            (0.3545, 0.3280, 0.4708),
        ),
    },
    "reference": {
        "diversity": (
            (0.0782, 0.0767, 0.0727),
            (0.2659, 0.1598, 0.0787),
            (0.2648, 0.1590, 0.0771),
        ),
        "utility_before": (
            (0.6240, 0.2899, 0.3160),
            (0.9253, 0.7662, 0.7720),
            (0.7380, 0.6415, 0.6535),
        ),
        "risk_before": (
            (0.3121, 0.0, 0.0),
            (0.0749, 0.0359, 0.1023),
            (0.0417, 0.0, 0.0),
        ),
        "utility": (
            (0.2430, 0.1540, 0.1582),
            (0.7372, 0.5521, 0.5580),
            (0.5045, 0.4578, 0.4631),
        ),
        "risk": ((0.0, 0.0, 0.0), (0.0412, 0.0212, 0.0253), (0.0, 0.0, 0.0)),
        "before": (
            (0.4933, 0.2049, 0.2234),
            (0.6564, 0.5424, 0.5507),
            (0.5227, 0.4536, 0.4621),
        ),
        "after": (
            (0.1719, 0.1089, 0.1119),
            (0.5221, 0.3907, 0.3950),
            (0.3567, 0.3237, 0.3275),
        ),
    },
}

# Section 5.7, beside levels of elitism: its GA, whose level is not printed, and the two
# rivals. Chi-squares are means over the five variables of table 1 by their degrees.
_Known = dict[str, dict[str, tuple[float, str]]]
_GA = {
    "utility": (0.1257, "section 5.7"),
    "risk": (0.3964, "section 5.7"),
    "chi_square": (0.0932, "section 5.7, table 1"),
    "pmse": (5.44e-6, "section 5.7, table 2"),
    "pmse_standardised": (-3.9221, "section 5.7, table 2"),
    "pmse_ratio": (0.1638, "section 5.7, table 2"),
    "roe": (0.8924, "section 5.7, table 3"),
}
_ELITISM: _Known = {
    **{f"{kept} of 100 kept": _GA for kept in (0, 1, 10, 50)},
    "10 kept start 0.02": _GA,
    "10 kept levels": _GA,
    "cart": {
        "risk": (0.4186, "section 5.7"),
        "chi_square": (0.8410, "section 5.7, table 1"),
        "pmse": (3.397e-5, "section 5.7, table 2"),
        "pmse_standardised": (0.1106, "section 5.7, table 2"),
        "pmse_ratio": (1.0236, "section 5.7, table 2"),
        "roe": (0.9198, "section 5.7, table 3"),
    },
    "parametric": {
        "risk": (0.3278, "section 5.7"),
        "chi_square": (0.5205, "section 5.7, table 1"),
        "pmse": (3.17e-5, "section 5.7, table 2"),
        "pmse_standardised": (7.077e-6, "section 5.7, table 2"),
        "pmse_ratio": (0.9553, "section 5.7, table 2"),
        "roe": (0.9169, "section 5.7, table 3"),
    },
}
# Section 5.7: 9,000 mutants of the census.
_MUTANTS = {
    "correlation": -0.9920,
    "r_squared": 0.9839,
    "correlation_unique": -0.58,
}

# Section 5.7, with tables 2 and 3, and section 5.4 with table 3.4.
_CENSUS: _Known = {
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
_FULL: _Known = {
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


def _chapter_four() -> list[Figure]:
    out: list[Figure] = []
    for drawn, methods in _PRESSURE.items():
        place = f"section 4.2.1, table {'4.3' if drawn == 'uniform' else '4.2'}"
        loss = "loss" if drawn == "uniform" else "loss_expected"
        for method, figures in methods.items():
            for quantity, value in zip(
                (loss, "pressure", "variance"), figures, strict=True
            ):
                if value is not None:
                    family = f"pressure-{drawn}"
                    out.append(_figure(family, method, quantity, value, place))
    for data, table, place in (
        ("tiny", TABLE_44, "section 4.2.2, table 4.4"),
        ("toy", _TOYS, "section 5.1, table 1.2"),
    ):
        for (method, size), known in table.items():
            for end in ("", "-made", "-other"):
                family = f"selection-{data}{end}-{size}"
                for quantity, value in zip(("converged", "after"), known, strict=True):
                    if value is not None:
                        out.append(_figure(family, method, quantity, value, place))
    return out


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
    out += _chapter_four()
    for name, quantities in _STARTS.items():
        place = (
            "section 5.5, table " + {"initial": "1 or 2", "reference": "3 or 4"}[name]
        )
        for quantity, values in quantities.items():
            for data, line in zip(("binary4", "mixed4", "pairs4"), values, strict=True):
                for model, value in zip(_MODELS, line, strict=True):
                    for method in (model, f"{model} values"):
                        family = f"{name}-{data}"
                        out.append(_figure(family, method, quantity, value, place))
    for quantity, value in _MUTANTS.items():
        out.append(_figure("mutants-census", "values", quantity, value, "section 5.7"))
    sections: dict[str, _Known] = {
        "trade-off-census": _CENSUS,
        "full-four": _FULL,
        "elitism-census": _ELITISM,
    }
    for family, entries in sections.items():
        for method, known in entries.items():
            for quantity, (value, place) in known.items():
                out.append(_figure(family, method, quantity, value, place))
    return tuple(out)


THESIS_FIGURES = _all()
