"""Attribution: what the synthetic file discloses about a target, given the key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from evosdc.metrics.base import Breakdown, Metric
from evosdc.metrics.counts import cell_counts, classes
from evosdc.metrics.data import Categorical

Floats = NDArray[np.float64]
Records = Literal["all", "uniques"]
NonMatch = Literal["zero", "dropped"]


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
        it together with the other.
    """

    records: Records = "all"
    non_match: NonMatch = "zero"

    kind = "risk"
    exact = True
    goal = "minimise"
    source = (
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

    @classmethod
    def variants(cls, *, holdout: Categorical | None, seed: int) -> Sequence[Self]:
        """Return one for all records and one for uniques, each in both forms."""
        del holdout, seed
        return [
            cls(records, non_match)
            for records in get_args(Records)
            for non_match in get_args(NonMatch)
        ]

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

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the mean over the records, and by target; 0 where there are none."""
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
        return _mean(chance[chosen]), parts

    def _chosen(self, match: KeyMatch) -> NDArray[np.bool_]:
        chosen = np.ones(len(match.original_size), dtype=np.bool_)
        if self.records == "uniques":
            chosen &= match.original_size == 1
        if self.non_match == "dropped":
            chosen &= match.original_matches > 0
        return chosen


def _mean(values: NDArray[np.generic]) -> float:
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

    kind = "risk"
    exact = True
    goal = "minimise"
    source = (
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

    def references(
        self, original: Categorical, synthetic: Categorical
    ) -> dict[str, float]:
        """Return how often guessing by the distribution of the target is right."""
        del synthetic
        return {"univariate": float(target_shares(original).mean())}

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the mean over the believed records, 0 where there are none."""
        match = match_keys(original, synthetic)
        within = match.synthetic_own_hits / match.synthetic_size
        believed = within >= self.tau - 1e-12
        matched = match.synthetic_matches > 0
        chosen = believed & matched
        hits = match.synthetic_hits[chosen] / match.synthetic_matches[chosen]
        return _mean(hits), [
            ("share of synthetic records believed", _mean(believed)),
            ("share of those matched", _mean(matched[believed])),
        ]


@dataclass(frozen=True)
class Disco(Metric):
    """Disclosive in the synthetic file and correct in the original, in per cent.

    An original record counts where all synthetic records with its key have one target
    value, and it is the right one.
    """

    name = "disco_pct"
    title = "Disclosive in synthetic, correct in original (%)"
    kind = "risk"
    exact = True
    goal = "minimise"
    range = (0.0, 100.0)
    source = (
        "Raab, Nowok and Dibben (2024), Practical privacy metrics for synthetic data, "
        "arXiv:2406.16826"
    )

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the share of the original's records, and by level of the target."""
        disclosed = disclosed_targets(match_keys(original, synthetic))
        values = original.codes[:, original.target]
        parts = [("records counted", float(original.rows))] + [
            (
                f"{original.names[original.target]}={label}",
                100 * float(disclosed[values == level].mean()),
            )
            for level, label in enumerate(original.labels[original.target])
            if (values == level).any()
        ]
        return 100 * _mean(disclosed), parts


def disclosed_targets(match: KeyMatch) -> NDArray[np.bool_]:
    """Return the original records whose target all synthetic ones with the key have."""
    return (match.original_hits > 0) & (match.original_hits == match.original_matches)


def risk_figures(original: Categorical, synthetic: Categorical) -> dict[str, float]:
    """Return the four risks that a search limits and an evaluation reports, as shares.

    dcap and dcap-u are the metrics of these names with no match counting 0; uniques
    and disco are `rep_uniques_pct` and `disco_pct` by 100.
    """
    match = match_keys(original, synthetic)
    right = match.original_hits / np.maximum(match.original_matches, 1)
    alone = match.original_size == 1
    a, b = cell_counts(original, synthetic, original.key)
    return {
        "dcap": float(right.mean()),
        "dcap-u": float(right[alone].mean()) if alone.any() else 0.0,
        "uniques": float(((a == 1) & (b == 1)).sum()) / synthetic.rows,
        "disco": float(disclosed_targets(match).mean()),
    }
