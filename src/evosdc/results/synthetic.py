"""What a verdict on synthetic data says, and against whom."""

from __future__ import annotations

from dataclasses import asdict, dataclass

_TITLES = {
    "scenario": "scenario",
    "coding": "coding",
    "small_groups": "small groups",
    "closeness": "closeness",
    "holdout": "hold-out",
    "guarantee": "guarantee",
}


@dataclass(frozen=True)
class SyntheticClaim:
    """The statement that a verdict on synthetic data is about.

    Attributes
    ----------
    scenario
        Which key an intruder is assumed to know, which target he wants, and what was
        not tested.
    coding
        How values were compared.
    small_groups
        What was done about levels that few people have.
    closeness
        How near to the original the copy may come.
    holdout
        Whether it was attacked with people who are not in the data.
    guarantee
        A formal guarantee, or "none".
    """

    scenario: str
    coding: str
    small_groups: str
    closeness: str
    holdout: str
    guarantee: str = "none"

    def rows(self) -> list[tuple[str, str]]:
        """Return each part with its title, for a report."""
        return [(_TITLES[name], text) for name, text in asdict(self).items()]

    def lines(self) -> tuple[str, str]:
        """Return the claim in two lines, for a terminal."""
        first = f"tested: {self.scenario}; coding: {self.coding}"
        rest = self.rows()[2:]
        return first, "; ".join(f"{title}: {text}" for title, text in rest)

    def summary(self) -> dict[str, str]:
        """Return the object that ``--json`` prints under ``claim``."""
        return asdict(self)
