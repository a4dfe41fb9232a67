"""Sentences on what was not protected, and the reasons against a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evosdc.metrics.deadline import BASELINES, INTERRUPTED, NO_TIME
from evosdc.metrics.evaluation import MetricValue
from evosdc.metrics.memorisation_tests import FreshTest

Values = Mapping[str, MetricValue]

# A test fails beyond so many standard errors.
_MAX_ERRORS = 3.0


def reasons_against(
    values: Values,
    tests: Sequence[FreshTest],
    *,
    tested: bool,
    why_not: str = "",
    against: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the reasons against a release; none where every test was passed.

    Parameters
    ----------
    tests
        Attacks, compared with those of a fresh sample; none if they were not possible.
    tested
        Whether there was a hold-out: people in the data must not be recognisable then.
    why_not
        Why there are no tests.
    against
        What else speaks against a release.
    """
    reasons = [*(test.sentence() for test in tests if not test.passed), *against]
    if not tests:
        reasons.append(f"the attacks behind the verdict are {why_not}")
    if tested:
        reasons += _above_chance(values)
    return tuple(reasons)


def _above_chance(values: Values) -> list[str]:
    found = []
    for name in ("nearer_share_hamming", "membership_auc"):
        value = values.get(name)
        if value is None:
            if name == "membership_auc":
                found.append("the test of membership was not made")
            continue
        error = dict(value.breakdown)["standard error"]
        if value.value > 0.5 + _MAX_ERRORS * error:
            found.append(f"{name} is {value.value:.3g}, where chance gives 0.5")
    return found


def plain_words(
    values: Values,
    skipped: tuple[tuple[str, str], ...],
    *,
    key: tuple[str, ...],
    target: str,
    tested: bool,
) -> tuple[str, ...]:
    """Return what was not protected or not tested, a sentence each."""
    sentences = [
        *_copies(values),
        *_attribution(values, target),
        *_low_by_copies(values),
        *_membership(values, tested),
        *_closer_than_bootstrap(values),
        f"Only one scenario was tested: an intruder who knows {', '.join(key)} and "
        f"wants {target}. Another key or another target may fare worse.",
        "Nothing here is a formal guarantee such as differential privacy: the figures "
        "are measurements of this one file.",
    ]
    for late in (NO_TIME, INTERRUPTED):
        names = [name for name, reason in skipped if reason == late]
        whole = [name for name in names if not name.startswith(BASELINES)]
        if len(whole) < len(names):
            whole.append(f"the baselines of {len(names) - len(whole)} metrics")
        if whole:
            sentences.append(f"{late[0].upper()}{late[1:]} ({', '.join(whole)}).")
    other = [name for name, why in skipped if why not in (NO_TIME, INTERRUPTED)]
    if other:
        sentences.append(f"Not measured on these files: {', '.join(other)}.")
    return tuple(sentences)


def _copies(values: Values) -> list[str]:
    found = []
    if value := values.get("identical_records_pct"):
        parts = dict(value.breakdown)
        unique = int(parts["unique records of the original copied"])
        found.append(
            f"{value.value:.1f} % of the synthetic records equal an original record on "
            f"every variable; {unique} records that are unique in the original were "
            "copied whole."
        )
    if value := values.get("rep_uniques_pct"):
        parts = dict(value.breakdown)
        found.append(
            f"{int(parts['unique keys in both'])} of the "
            f"{int(parts['unique keys in the original'])} people with a key of their "
            "own have that key, again as the only one, in the synthetic file: they "
            "look found, whether or not the record is theirs."
        )
    return found


def _attribution(values: Values, target: str) -> list[str]:
    found = []
    if value := values.get("disco_pct"):
        found.append(
            f"For {value.value:.2f} % of the people in the original, everybody with "
            f"their key in the synthetic file has one value of {target}, and it is "
            "theirs."
        )
    if value := values.get("dcap_u_matched"):
        found.append(_unique_guess(value, target))
    if value := values.get("tcap"):
        found.append(
            f"Where the synthetic file looks certain about {target}, it is right for "
            f"{100 * value.value:.1f} % of the people it fits."
        )
    return found


def _unique_guess(value: MetricValue, target: str) -> str:
    if not dict(value.breakdown)["records counted"]:
        return "No key of a unique person is found in the synthetic file."
    base = value.baselines["univariate"]
    word = "better" if value.value > base else "no better"
    sentence = (
        f"Who finds a unique person's key in the synthetic file guesses {target} right "
        f"with probability {value.value:.3f}; the distribution of {target} alone gives "
        f"{base:.3f}, so the file is {word} than guessing."
    )
    if "holdout" in value.baselines:
        sentence += f" Other real people give {value.baselines['holdout']:.3f}."
    return sentence


def _low_by_copies(values: Values) -> list[str]:
    low, copies = values.get("dcap_u"), values.get("identical_records_pct")
    if low is None or copies is None:
        return []
    if low.value > low.baselines["univariate"] or copies.value < 50:
        return []
    return [
        "Attribution on uniques is low although most synthetic records are copies: it "
        "protects the uniques only, everyone else's record is in the file."
    ]


def _membership(values: Values, tested: bool) -> list[str]:
    if not tested:
        return [
            "No hold-out was given, so it was not tested whether people in the data "
            "can be told from people who are not."
        ]
    value = values.get("membership_auc")
    if value is None:
        return ["The membership test was left out of the metrics asked for."]
    error = dict(value.breakdown)["standard error"]
    recognised = value.value > 0.5 + _MAX_ERRORS * error
    return [
        f"A guess at who was in the data, by the nearest synthetic record, has an area "
        f"under the curve of {value.value:.3f} (0.5 is chance): members "
        + ("can be told from others." if recognised else "were not told from others.")
    ]


def _closer_than_bootstrap(values: Values) -> list[str]:
    value = values.get("jsd_full")
    drawn = None if value is None else value.baselines.get("bootstrap")
    if value is None or drawn is None or value.value >= drawn:
        return []
    return [
        "The full table is closer to the original than the original is when it is "
        "drawn again with replacement, which repeats its people: such closeness is "
        "memory of these people, not knowledge of the population."
    ]
