"""Attribution: what does the synthetic file tell about a target, given the key?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evosdc.metrics.base import Breakdown, Goal, Kind, Metric
from evosdc.metrics.counts import classes
from evosdc.metrics.data import Categorical

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KeyMatch:
    """Both files by classes of equal keys.

    For each record of a file: `size` counts the records of its class in that file,
    `matches` those of the other file and `hits` those of the latter with the same
    target; `synthetic_own_hits` counts these in the record's own file.
    """

    original_size: NDArray[np.int64]
    original_matches: NDArray[np.int64]
    original_hits: NDArray[np.int64]
    synthetic_size: NDArray[np.int64]
    synthetic_matches: NDArray[np.int64]
    synthetic_hits: NDArray[np.int64]
    synthetic_own_hits: NDArray[np.int64]


def match_keys(original: Categorical, synthetic: Categorical) -> KeyMatch:
    """Match the records of two files by key, and by key and target."""
    key, target = original.key, original.target
    ko, ks, number = classes(original, synthetic, key)
    to, ts, cells = classes(original, synthetic, (*key, target))
    size_o, size_s = (
        np.bincount(ko, minlength=number),
        np.bincount(ks, minlength=number),
    )
    cell_o, cell_s = np.bincount(to, minlength=cells), np.bincount(ts, minlength=cells)
    return KeyMatch(
        original_size=size_o[ko],
        original_matches=size_s[ko],
        original_hits=cell_s[to],
        synthetic_size=size_s[ks],
        synthetic_matches=size_o[ks],
        synthetic_hits=cell_o[ts],
        synthetic_own_hits=cell_s[ts],
    )


def target_shares(data: Categorical) -> Floats:
    """Return for each record the share of its target value in the file."""
    values = data.codes[:, data.target]
    return np.bincount(values)[values] / data.rows


@dataclass(frozen=True)
class Dcap(Metric):
    """Correct attribution probability (CAP) of the original's records.

    The chance that a synthetic record with the key of an original one has its target.

    Parameters
    ----------
    records
        "all", or "uniques": the original's records with a key of their own.
    non_match
        A record whose key the synthetic file lacks counts 0 ("zero") or is left out
        ("dropped"). With "zero" the measure falls when unique keys are avoided, so read
        it beside the other.
    """

    records: Literal["all", "uniques"] = "all"
    non_match: Literal["zero", "dropped"] = "zero"

    kind: ClassVar[Kind] = "risk"
    exact: ClassVar[bool] = True
    goal: ClassVar[Goal] = "minimise"
    source: ClassVar[str] = (
        "Elliot (2014), SYLLS report; Taub, Elliot, Pampaka and Smith (2018), Privacy "
        "in Statistical Databases, LNCS 11126; Chen (2020), section 4.7.2.2"
    )

    @property
    def name(self) -> str:
        """The short name."""
        tail = "_u" if self.records == "uniques" else ""
        return f"dcap{tail}" + ("_matched" if self.non_match == "dropped" else "")

    @property
    def title(self) -> str:
        """What is measured."""
        who = "uniques" if self.records == "uniques" else "all records"
        how = "matched only" if self.non_match == "dropped" else "non-match = 0"
        return f"Correct attribution, {who}, {how}"

    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the mean over the records, 0 where there are none."""
        match = match_keys(original, synthetic)
        chosen = self._chosen(match)
        if not chosen.any():
            return 0.0
        hits, among = match.original_hits[chosen], match.original_matches[chosen]
        return float((hits / np.maximum(among, 1)).mean())

    def references(
        self, original: Categorical, synthetic: Categorical
    ) -> dict[str, float]:
        """Return the baseline: a guess from the distribution of the target alone.

        Chen (2020), section 5.7, equation 5.
        """
        match = match_keys(original, synthetic)
        chosen = self._chosen(match)
        if not chosen.any():
            return {"univariate": 0.0}
        return {"univariate": float(target_shares(original)[chosen].mean())}

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return how many records count, how many match, and the value by target."""
        match = match_keys(original, synthetic)
        chosen = self._chosen(match)
        parts: Breakdown = [
            ("records counted", float(chosen.sum())),
            ("share matched", _mean(match.original_matches[chosen] > 0)),
        ]
        chance = match.original_hits / np.maximum(match.original_matches, 1)
        values = original.codes[:, original.target]
        for level, label in enumerate(original.labels[original.target]):
            of_level = chosen & (values == level)
            if of_level.any():
                name = f"{original.names[original.target]}={label}"
                parts.append((name, float(chance[of_level].mean())))
        return parts

    def _chosen(self, match: KeyMatch) -> NDArray[np.bool_]:
        chosen = np.ones(len(match.original_size), dtype=np.bool_)
        if self.records == "uniques":
            chosen &= match.original_size == 1
        if self.non_match == "dropped":
            chosen &= match.original_matches > 0
        return chosen


def _mean(values: NDArray[np.bool_]) -> float:
    return float(values.mean()) if len(values) else 0.0


@dataclass(frozen=True)
class Tcap(Metric):
    """Targeted CAP: how often a confident guess is right.

    The intruder looks at synthetic records whose target is shared by at least `tau` of
    the synthetic records with the same key, and believes them. The value is the mean
    share of the original's records with that key that have that target; keys the
    original lacks are left out.
    """

    tau: float = 1.0

    kind: ClassVar[Kind] = "risk"
    exact: ClassVar[bool] = True
    goal: ClassVar[Goal] = "minimise"
    source: ClassVar[str] = (
        "Taub and Elliot (2019), The Synthetic Data Challenge, UNECE Work Session on "
        "Statistical Data Confidentiality"
    )

    @property
    def name(self) -> str:
        """The short name."""
        return "tcap" if self.tau == 1.0 else f"tcap_{self.tau:g}"

    @property
    def title(self) -> str:
        """What is measured."""
        return f"Targeted correct attribution, tau = {self.tau:g}"

    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the mean over the believed records, 0 where there are none."""
        match = match_keys(original, synthetic)
        chosen = self._believed(match) & (match.synthetic_matches > 0)
        if not chosen.any():
            return 0.0
        hits = match.synthetic_hits[chosen] / match.synthetic_matches[chosen]
        return float(hits.mean())

    def references(
        self, original: Categorical, synthetic: Categorical
    ) -> dict[str, float]:
        """Return how often guessing by the distribution of the target is right."""
        del synthetic
        return {"univariate": float(target_shares(original).mean())}

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return how many synthetic records are believed, and how many match."""
        match = match_keys(original, synthetic)
        believed = self._believed(match)
        return [
            ("share of synthetic records believed", _mean(believed)),
            ("share of those matched", _mean(match.synthetic_matches[believed] > 0)),
        ]

    def _believed(self, match: KeyMatch) -> NDArray[np.bool_]:
        within = match.synthetic_own_hits / match.synthetic_size
        return within >= self.tau - 1e-12


@dataclass(frozen=True)
class Disco(Metric):
    """Disclosive in the synthetic file and correct in the original, in per cent.

    An original record counts where all synthetic records with its key have one target
    value, and it is the right one.
    """

    kind: ClassVar[Kind] = "risk"
    exact: ClassVar[bool] = True
    goal: ClassVar[Goal] = "minimise"
    range: ClassVar[tuple[float, float]] = (0.0, 100.0)
    source: ClassVar[str] = (
        "Raab, Nowok and Dibben (2024), Practical privacy metrics for synthetic data, "
        "arXiv:2406.16826"
    )

    @property
    def name(self) -> str:
        """The short name."""
        return "disco_pct"

    @property
    def title(self) -> str:
        """What is measured."""
        return "Disclosive in synthetic, correct in original (%)"

    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the share of the original's records in per cent."""
        match = match_keys(original, synthetic)
        return 100 * _mean(self.disclosed(match))

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the number of records, and the value by level of the target."""
        disclosed = self.disclosed(match_keys(original, synthetic))
        values = original.codes[:, original.target]
        return [("records counted", float(original.rows))] + [
            (
                f"{original.names[original.target]}={label}",
                100 * float(disclosed[values == level].mean()),
            )
            for level, label in enumerate(original.labels[original.target])
            if (values == level).any()
        ]

    @staticmethod
    def disclosed(match: KeyMatch) -> NDArray[np.bool_]:
        """Return which original records the synthetic ones give away, and rightly."""
        return (match.original_hits > 0) & (
            match.original_hits == match.original_matches
        )
