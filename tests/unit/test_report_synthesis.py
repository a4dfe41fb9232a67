"""The page about a synthetic file."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from evosdc.errors import InputError
from evosdc.metrics import evaluate
from evosdc.report.kit.chart import Plane
from evosdc.report.kit.parts import figure
from evosdc.report.synthesis import synthesis_html
from evosdc.results.next_steps import release_verdict

RNG = np.random.default_rng(7)
FRAME = pd.DataFrame(
    {
        "a<b>": RNG.choice(["x", "<script>alert(1)</script>", "y & z"], 200),
        "b": RNG.integers(0, 5, 200).astype(str),
        "t": RNG.choice(["no", "yes"], 200),
    }
)
OTHER = FRAME.sample(frac=1, replace=True, random_state=1).reset_index(drop=True)
RESULT = evaluate(
    FRAME,
    OTHER,
    key=["a<b>", "b"],
    target="t",
    metrics=["jsd_2", "dcap_u", "ci_overlap"],
)
RUN = [{"generation": g, "utility": 1 / (g + 1), "risk": 0.1 * g} for g in range(5)]
FRONT = [{"utility": 0.01 * i, "risk": 0.5 - 0.1 * i} for i in range(4)]


class Tags(HTMLParser):
    """Checks that what is opened is closed, and remembers the tags."""

    void = frozenset({"meta"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.seen.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def test_the_page_is_well_formed_and_needs_nothing_else() -> None:
    page = synthesis_html(RESULT, RUN, FRONT, title="Census <2026>")
    tags = parsed(page)
    assert not {"script", "link", "img"} & set(tags.seen)
    assert "://" not in page
    assert "<title>Census &lt;2026&gt;</title>" in page
    for svg in re.findall(r"<svg.*?</svg>", page, re.S):
        ElementTree.fromstring(svg)


def test_points_closer_than_a_fresh_sample_are_hollow() -> None:
    marked = [{**row, "closer_than_fresh": k > 1} for k, row in enumerate(FRONT)]
    odd = {"utility": None, "risk": 0.1, "closer_than_fresh": True}
    page = synthesis_html(RESULT, RUN, [odd, *marked])
    assert page.count('<circle class="near"') == 2
    assert page.count("front, closer than a fresh sample") == 2
    assert "Hollow points" in page
    assert "Hollow points" not in synthesis_html(RESULT, RUN, FRONT)


def test_labels_are_escaped() -> None:
    page = synthesis_html(RESULT)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a&lt;b&gt;" in page


def test_every_metric_stands_with_goal_source_and_baselines() -> None:
    page = synthesis_html(RESULT)
    for value in RESULT.values:
        assert value.name in page
        assert value.source.split(",")[0] in page.replace("&#x27;", "'")
    assert "↓ lower is better" in page
    assert "↑ higher is better" in page
    for column in ("original", "bootstrap", "independent", "univariate"):
        assert f">{column}</th>" in page


def test_what_was_not_protected_is_said() -> None:
    page = synthesis_html(RESULT)
    assert "What was not protected" in page
    for sentence in RESULT.plain_words:
        assert sentence.split("<")[0][:40].replace("'", "&#x27;") in page
    assert f"Verdict: {release_verdict(RESULT).word}." in page


def test_the_map_marks_the_references_and_the_front() -> None:
    page = synthesis_html(RESULT, front=FRONT)
    chart = re.search(r'<svg[^>]*aria-label="risk-utility map".*?</svg>', page, re.S)
    assert chart
    for words in (
        "the original itself",
        "a bootstrap of the original",
        "univariate baseline",
        "guessing from the target alone",
        "this file",
    ):
        assert words in chart.group()
    # Four candidates of the front, three references, and the file itself.
    assert chart.group().count("<circle") == 8
    # The original is at distance 0 from itself with certain attribution.
    assert "the original itself: 0, " in chart.group()


def test_generations_are_drawn_only_where_there_was_a_run() -> None:
    assert "By generation" not in synthesis_html(RESULT)
    page = synthesis_html(RESULT, [*RUN, {"generation": 5, "utility": None, "risk": 1}])
    lines = re.findall(r'<polyline class="line cost" points="([^"]*)"', page)
    # A row without a utility is a point less on that line only.
    assert [len(line.split()) for line in lines] == [5, 6]


def test_other_axes_can_be_chosen_and_unknown_ones_are_refused() -> None:
    page = synthesis_html(RESULT, utility="ci_overlap", risk="disco_pct")
    assert "Disclosive in synthetic, correct in original (%)</text>" in page
    with pytest.raises(InputError, match="no metric 'speed' here"):
        synthesis_html(RESULT, utility="speed")


def test_axes_end_at_round_numbers_around_the_points() -> None:
    plane = Plane.around([(0.0, 3.0), (0.206, 62.0)])
    assert np.allclose(plane.x, [0, 0.05, 0.1, 0.15, 0.2, 0.25])
    assert list(plane.y) == [0, 10, 20, 30, 40, 50, 60, 70]
    left, top = plane.place((0.0, 70.0))
    assert plane.place((0.0, 0.0))[1] > top
    assert plane.place((0.25, 0.0))[0] > left


def test_figures_have_four_digits() -> None:
    found = [figure(v) for v in (0.0, 0.123456, -0.5, 12345.6, float("inf"))]
    assert found == ["0", "0.1235", "−0.5", "12,346", "∞"]
