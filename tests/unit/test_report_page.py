"""The report says what the judge said, escapes labels and keeps hidden values out."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from builders import grid_of, unlabelled
from evosdc.evolution.stopping import Entry
from evosdc.report import report_html
from evosdc.report.share import MOST_CELLS, MOST_COLUMNS
from evosdc.results import TABLE_QUESTIONS, Certificate, Claim, Exposure, TableVerdict
from evosdc.results.tables import Protection
from evosdc.table import (
    Dimension,
    Hierarchy,
    Origin,
    Table,
    build_table,
    link_tables,
)

VOID = {"meta", "rect", "line", "path", "br"}


class Page(HTMLParser):
    """Checks that tags balance and gathers text by tag."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[tuple[str, str]] = []
        self.classes: list[str] = []
        self.attributes: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [name for name, _ in attrs]
        self.classes += [f"{tag}.{v}" for name, v in attrs if name == "class"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        assert tag in {*VOID, "circle"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append((self.open[-1] if self.open else "", data))

    def all_of(self, tag: str) -> list[str]:
        return [text for where, text in self.text if where == tag]


def counted(*sizes: int) -> Table:
    """Inner cells of 1, 2, 3 and so on."""
    return grid_of(np.arange(1.0, np.prod(sizes) + 1).reshape(sizes))


def protection_of(
    table: Table, primary: list[int], secondary: list[int], **changes: Any
) -> Protection:
    status = table.status.copy()
    status[primary] = "u"
    status[secondary] = "m"
    n = 2 * len(primary)
    base = Protection(
        table=table.replace(status=status),
        method="greedy",
        cost=70.5,
        lower_bound=60.0,
        gap=0.175,
        verdict=TableVerdict(
            True, (), len(primary), True, 0.0, False, {"rectangles": n}
        ),
        claim=Claim(**{name: f"{name} <sentence>" for name in TABLE_QUESTIONS}),
        certificate=Certificate(
            np.repeat(primary, 2),
            np.ones(n, dtype=np.int8),
            np.zeros(n + 1, dtype=np.int64),
            np.zeros(0, dtype=np.int64),
            np.zeros(0, dtype=np.int64),
            np.ones(n, dtype=np.int64),
        ),
        record=(Entry(0.5, 1, 90.0, None), Entry(2.0, 9, 70.5, 60.0)),
        seconds=3.25,
        evaluations=12,
        seed=41,
        version="9.9.9",
        reason="nothing left to try",
        settings={"time_limit": 60},
    )
    return replace(base, **changes)


@pytest.fixture
def small() -> Protection:
    return protection_of(counted(3, 3), [0], [1, 3, 4])


def exposure(cell: int, label: str = "here") -> Exposure:
    return Exposure(cell, label, 10.0, 12.0, 5.0, 15.0, 0.0)


def test_the_page_needs_nothing_beside_it(small: Protection) -> None:
    text = report_html(small)
    page = Page(text)
    assert not {"src", "href", "onclick"} & set(page.attributes)
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert "<script" not in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_the_safe_verdict_comes_first(small: Protection) -> None:
    text = report_html(small)
    assert Page(text).all_of("h2")[0] == "SAFE: 1 sensitive cell judged"
    assert "reaches at least to its protection levels" in text
    strict = replace(small, verdict=replace(small.verdict, strict=True))
    assert "reaches beyond its protection levels" in report_html(strict)


def test_tiles_carry_the_figures(small: Protection) -> None:
    tiles = Page(report_html(small)).all_of("dd")
    assert tiles == ["70.5", "3", "1", "60", "17.5 %", "3.25 s"]
    unknown = report_html(replace(small, lower_bound=None, gap=None))
    assert Page(unknown).all_of("dd")[3:5] == ["–", "–"]
    assert unknown.count("none known") == 1
    assert unknown.count("the bound says little") == 1
    vague = report_html(replace(small, lower_bound=0.0, gap=1.0))
    assert Page(vague).all_of("dd")[4] == "100 %"
    assert "the bound says little" in vague


def test_a_wide_gap_is_explained(small: Protection) -> None:
    wide, near = replace(small, gap=0.5), replace(small, gap=0.1)
    assert "says that little is proven yet" in report_html(wide)
    assert "To try: --method auto with a longer --time-limit" in report_html(wide)
    cut = report_html(replace(wide, reason="time limit"))
    assert "To try: a longer --time-limit" in cut
    assert "says that little is proven yet" not in report_html(near)
    assert "To try" not in report_html(near)


def test_a_report_without_a_bound_says_what_to_try(small: Protection) -> None:
    unknown = report_html(replace(small, lower_bound=None, gap=None))
    assert "No lower bound is known" in unknown
    assert "--method auto" in unknown
    free = report_html(replace(small, cost=0.0, lower_bound=None, gap=None))
    assert "No lower bound is known" not in free


def test_an_exposed_table_is_called_so(small: Protection) -> None:
    verdict = replace(
        small.verdict, ok=False, exposed=(exposure(0, "dim_a=a0, dim_b=b0"),)
    )
    text = report_html(replace(small, verdict=verdict))
    page = Page(text)
    assert page.all_of("h2")[0] == "EXPOSED: 1 of 1 cell"
    assert "SAFE" not in text
    assert "Confidential" in text
    assert "dim_a=a0, dim_b=b0" in page.all_of("td")
    assert "10 to 12" in page.all_of("td")
    assert "5 to 15" in page.all_of("td")
    assert page.classes.count("td.primary exposed") == 1
    assert page.all_of("td").count("everyone") == 1
    assert "20 %" in page.all_of("td")  # 10 to 12 of 5 to 15


def test_many_exposed_cells_are_cut_with_a_note(small: Protection) -> None:
    verdict = replace(
        small.verdict, ok=False, exposed=tuple(exposure(0) for _ in range(501))
    )
    text = report_html(replace(small, verdict=verdict))
    assert "The first 500 of 501 are listed" in text
    assert Page(text).all_of("td").count("10 to 12") == 500


def test_a_cell_counts_once_however_many_find_it(small: Protection) -> None:
    found = tuple(replace(exposure(0), insider=f"dim_a=a{k}") for k in range(3))
    verdict = replace(small.verdict, ok=False, exposed=found, judged=4)
    text = report_html(replace(small, verdict=verdict))
    assert Page(text).all_of("h2")[0] == "EXPOSED: 1 of 4 cells"
    for k in range(3):
        assert f"the lone respondent of dim_a=a{k}" in Page(text).all_of("td")


def test_nothing_sensitive_under_rules_is_safe() -> None:
    made = protection_of(counted(3, 3), [], [])
    table = made.table.replace(origin=Origin(rules=(("p:10", 0), ("freq:3", 0))))
    text = report_html(replace(made, table=table))
    assert "SAFE: no cell is sensitive under p:10, freq:3" in text
    assert "No cell was judged" in text


@pytest.mark.parametrize("rules", [None, ()])
@pytest.mark.parametrize("safe", [True, None])
def test_nothing_is_safe_without_a_rule(rules: tuple[()] | None, safe: Any) -> None:
    made = protection_of(counted(3, 3), [], [])
    table = made.table.replace(origin=Origin(rules=rules))
    verdict = replace(made.verdict, ok=safe)
    text = report_html(replace(made, table=table, verdict=verdict))
    assert "NOT JUDGED: no rule said which cells are sensitive" in text
    assert "SAFE" not in text
    assert "can be published" not in text


def test_undecided_cells_are_listed(small: Protection) -> None:
    verdict = replace(small.verdict, ok=None, open=("dim_a=a0", "dim_a=<a1>"))
    text = report_html(replace(small, verdict=verdict))
    assert "NOT JUDGED: 2 cells undecided" in text
    assert {"dim_a=a0", "dim_a=<a1>"} <= set(Page(text).all_of("li"))


def test_the_claim_answers_every_question(small: Protection) -> None:
    page = Page(report_html(small))
    assert "What was proved, against whom" in page.all_of("h2")
    for name, question in TABLE_QUESTIONS.items():
        assert question in page.all_of("th")
        assert f"{name} <sentence>" in page.all_of("td")


def test_the_page_says_that_it_is_confidential(small: Protection) -> None:
    text = report_html(small, warnings=("there lies another <pattern>",))
    assert "Confidential: this page must not leave the office." in text
    assert "the cost, which may equal a hidden value" in text
    assert "there lies another <pattern>" in Page(text).all_of("li")


def test_a_run_cut_before_it_found_anything() -> None:
    made = protection_of(counted(4, 4), [0], [*range(1, 25)], reason="time limit")
    assert "before it found anything useful" in report_html(made)
    ended = replace(made, reason="nothing left to try")
    assert "before it found anything useful" not in report_html(ended)
    less = protection_of(counted(4, 4), [0], [*range(1, 24)], reason="time limit")
    assert "before it found anything useful" not in report_html(less)


def test_hidden_values_are_never_written() -> None:
    secrets = [98765431, 98765433, 98765435, 98765437]
    table = grid_of(np.reshape([*secrets, 5, 6, 7, 8, 90210], (3, 3)))
    text = report_html(protection_of(table, [0], [1, 2, 3]))
    for secret in secrets:
        assert str(secret) not in text.replace(",", "")
    assert "90,210" in text


def test_hidden_cells_are_marked_by_kind(small: Protection) -> None:
    page = Page(report_html(small))
    assert page.classes.count("td.primary") == 1
    assert page.classes.count("td.secondary") == 3
    assert page.all_of("td").count("●") == 1
    assert page.all_of("td").count("○") == 3


def test_labels_are_escaped() -> None:
    nasty = '<script>alert("x")</script>'
    dims = [
        Dimension(nasty, Hierarchy.flat(["<b>", "&amp;"], total="T<")),
        Dimension("d", Hierarchy.flat(["'", '"'])),
    ]
    table = build_table(dims, [[1, 1], [1, 2], [2, 1], [2, 2]], [1, 2, 3, 4])
    made = protection_of(
        table, [0], [1], settings={nasty: nasty}, notes=(nasty,), reason=nasty
    )
    verdict = replace(
        made.verdict, ok=False, exposed=(exposure(0, nasty),), proofs={nasty: 1}
    )
    text = report_html(replace(made, verdict=verdict), title=nasty)
    assert "<script" not in text
    Page(text)
    assert "&lt;b&gt;" in text
    assert "&amp;amp;" in text


def test_a_slice_for_each_code_of_the_smallest_dimension() -> None:
    text = report_html(protection_of(counted(4, 2, 5), [0], [1]))
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    assert captions == [f"dim_b = <b>{code}</b>" for code in ("Total", "b0", "b1")]
    page = Page(text)
    assert page.classes.count("table.grid") == 3
    assert page.classes.count("td.primary") == 1


def test_one_dimension_is_a_column() -> None:
    page = Page(report_html(protection_of(counted(4), [0], [1])))
    assert page.classes.count("table.grid") == 1
    assert {"3", "4", "10"} <= set(page.all_of("td"))


def test_linked_tables_leave_blanks_where_there_is_no_cell() -> None:
    table = link_tables(
        [
            build_table(
                [
                    Dimension("x", Hierarchy.flat(["x1", "x2"])),
                    Dimension(name, Hierarchy.flat(["p", "q", "r"])),
                ],
                [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3]],
                [1, 2, 3, 4, 5, 6],
            )
            for name in ("y", "z")
        ],
        links={"z": "none"},
    ).table
    page = Page(report_html(protection_of(table, [0], [1])))
    assert page.classes.count("td.none") > 0
    assert page.classes.count("td.primary") == 1


def test_large_tables_are_cut_and_say_so() -> None:
    table = counted(120, 60)
    text = report_html(protection_of(table, [5], [61]))
    rows = MOST_CELLS // MOST_COLUMNS
    assert f"{MOST_COLUMNS} of 61 columns shown; {rows} of 121 rows shown" in text
    page = Page(text)
    assert page.classes.count("svg.map") == 1
    assert len(page.all_of("td")) < MOST_CELLS + 100


def test_slices_end_with_the_budget() -> None:
    text = report_html(protection_of(counted(39, 39, 5), [0], [1]))
    assert "3 slices of 6 not shown" in text


def test_tables_without_labels_list_cells_by_number() -> None:
    labelled = protection_of(counted(3, 3), [0], [4])
    text = report_html(replace(labelled, table=unlabelled(labelled.table)))
    assert "came without labels" in text
    assert '<span class="primary">0</span><span class="secondary">4</span>' in text


def test_trees_are_indented_in_order_of_their_parts() -> None:
    tree = Hierarchy.from_levels([("N", "N1"), ("N", "N2"), ("S", "S1")])
    dims = [Dimension("r", tree), Dimension("c", Hierarchy.flat(["x"]))]
    leaves = [tree.node_of[c] for c in ("N1", "N2", "S1")]
    table = build_table(dims, [[n, 1] for n in leaves], [1.5, 2, 3.25])
    text = report_html(protection_of(table, [], []))
    names = re.findall(r'<th scope="row"[^>]*em">(\w+)<', text)
    assert names == ["Total", "N", "N1", "N2", "S", "S1"]
    assert "level 2" in text
    assert ">2.00</td>" in text


def test_the_certificate_says_how_it_was_checked(small: Protection) -> None:
    assert "exact rational arithmetic" in report_html(small)
    rough = replace(small.verdict, exact=False, tolerance=3e-9)
    text = report_html(replace(small, verdict=rough))
    assert "exact rational arithmetic" not in text
    assert "3e-09" in text
    assert "rectangles" in text


def test_how_to_repeat_the_run(small: Protection) -> None:
    cells = Page(report_html(small)).all_of("td")
    for fact in ("greedy", "41", "12", "nothing left to try", "9.9.9", "60"):
        assert fact in cells


@pytest.mark.parametrize(
    "record",
    [
        (),
        (Entry(0.0, 1, 0.0, None),),
        (Entry(0.0, 0, None, 5.0),),
        (Entry(0.0, 0, 5.0, 5.0), Entry(9.0, 3, 5.0, 5.0)),
    ],
)
def test_short_records(small: Protection, record: tuple[Entry, ...]) -> None:
    text = report_html(replace(small, record=record, seconds=0.0))
    Page(text)
    assert ('class="chart"' in text) == bool(record)
    assert "nan" not in text


def test_dates_are_given_not_taken(small: Protection) -> None:
    assert report_html(small) == report_html(small)
    when = datetime.datetime(2026, 3, 4, 5, 6)
    assert "4 March 2026, 05:06" in report_html(small, created=when)
