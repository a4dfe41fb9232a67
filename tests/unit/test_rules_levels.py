"""Each rule against examples worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.errors import InputError
from evosdc.rules import (
    CellContributors,
    Dominance,
    Frequency,
    Manual,
    PPercent,
    PriorPosterior,
    Request,
    ZeroUnsafe,
    mark,
    rest_limit,
)


def levels(rule, contributors):
    unsafe, upl, lpl = rule.apply(contributors)
    return unsafe.tolist(), upl.tolist(), lpl.tolist()


def test_dominance():
    cells = CellContributors.of(
        [
            [80, 10, 10],  # 80 of 100: at the limit of 80 %, safe
            [90, 6, 4],  # 90 % > 80 %: (100 / 80) * 90 - 100 = 12.5
            [5],  # 100 %: 1.25 * 5 - 5 = 1.25
        ]
    )
    unsafe, upl, lpl = levels(Dominance(1, 80), cells)
    assert unsafe == [False, True, True]
    assert upl == pytest.approx([0, 12.5, 1.25])
    assert lpl == upl


def test_dominance_of_two():
    # 50 + 40 = 90 % > 75 %: (100 / 75) * 90 - 100 = 20
    unsafe, upl, _ = levels(Dominance(2, 75), CellContributors.of([[10, 50, 40]]))
    assert unsafe == [True]
    assert upl == pytest.approx([20])


def test_dominance_where_some_consented():
    # The one of 90 needs protection; the one of 6 does, not the one of 90; nobody does.
    cells = CellContributors.of(
        [[90, 6, 4]] * 3, target=np.array([90.0, 6, 0]), needing=np.array([3, 2, 0])
    )
    unsafe, upl, _ = levels(Dominance(1, 80), cells)
    assert unsafe == [True, False, False]
    assert upl == pytest.approx([12.5, 0, 0])


def test_p_percent_where_some_consented():
    # Looked for: 100 by 50, 10 - 4; 50 by 100, 5 - 4; 4 by 100, 0.4 - 50; nobody.
    cells = CellContributors.of(
        [[100, 50, 4]] * 4,
        target=np.array([100.0, 50, 4, 0]),
        needing=np.array([3, 2, 1, 0]),
    )
    unsafe, upl, _ = levels(PPercent(10), cells)
    assert unsafe == [True, True, False, False]
    assert upl == pytest.approx([6, 1, 0, 0])


def test_p_percent():
    cells = CellContributors.of(
        [
            [100, 50, 10],  # 10 % of 100 = 10, rest 10: 0, safe
            [100, 50, 4, 3],  # 10 - 7 = 3
            [100, 50],  # two contributors: rest 0, level 10
            [100],  # one contributor: the same
            [0.1, 0.1, 0.01],  # 0.01 - 0.01: a tie that floats must not break
        ]
    )
    unsafe, upl, lpl = levels(PPercent(10), cells)
    assert unsafe == [False, True, True, True, False]
    assert upl == pytest.approx([0, 3, 10, 10, 0])
    assert lpl == upl


def test_p_percent_coalition():
    # x1 = 100; a coalition of 2 knows 50 and 8; 2 is left: 10 - 2 = 8. One alone
    # leaves 8 + 2 = 10 and is harmless.
    cells = CellContributors.of([[100, 50, 8, 2]])
    assert levels(PPercent(10), cells)[0] == [False]
    unsafe, upl, _ = levels(PPercent(10, n_coalition=2), cells)
    assert unsafe == [True]
    assert upl == pytest.approx([8])
    assert PPercent(10, 2).needs == 3


def test_prior_posterior():
    # p/q = 20/50 = 0.4: 0.4 * 100 - (165 - 150) = 25
    unsafe, upl, _ = levels(
        PriorPosterior(20, 50), CellContributors.of([[100, 50, 15]])
    )
    assert unsafe == [True]
    assert upl == pytest.approx([25])
    one = CellContributors.of([[100, 50, 4, 3]])
    assert levels(PriorPosterior(10, 100), one) == levels(PPercent(10), one)


def test_frequency():
    cells = CellContributors.of([[10, 10], [1, 2, 3], [10]])
    unsafe, upl, lpl = levels(Frequency(3, 25), cells)
    assert unsafe == [True, False, True]
    assert upl == pytest.approx([5, 0, 2.5])
    assert lpl == upl


def test_frequency_counts_the_population_with_weights():
    # Two records that stand for 1.5 + 1.5 = 3 and for 1 + 1 = 2 firms.
    cells = CellContributors.of([[4, 4], [4, 4]], [[1.5, 1.5], [1, 1]])
    assert levels(Frequency(3), cells)[0] == [False, True]


def test_frequency_counts_holdings():
    cells = CellContributors.of([[1, 1, 1], [1, 1, 1]], holdings=np.array([1, 3]))
    assert levels(Frequency(3), cells)[0] == [True, False]
    assert levels(Frequency(3, count="records"), cells)[0] == [False, False]


def test_weights_fill_places():
    # Records 100 (weight 2.3) and 40 (weight 4): X = 230 + 160 = 390. Three places:
    # 2.3 of size 100 and 0.7 of size 40 = 258.
    cells = CellContributors.of([[40, 100]], [[4, 2.3]])
    assert cells.leading(3) == pytest.approx([258])
    assert cells.leading(2) == pytest.approx([200])
    # 66.15 % > 60 %: (100 / 60) * 258 - 390 = 40
    unsafe, upl, _ = levels(Dominance(3, 60), cells)
    assert unsafe == [True]
    assert upl == pytest.approx([40])
    # p %: two places hold 200; 30 % of 100 - (390 - 200) < 0: safe.
    assert levels(PPercent(30), cells)[0] == [False]


def test_weight_one_twice_is_weight_two_once():
    once = CellContributors.of([[50, 9]], [[2, 1]])
    twice = CellContributors.of([[50, 50, 9]])
    for rule in (Dominance(2, 70), PPercent(20), PriorPosterior(20, 60)):
        assert levels(rule, once) == levels(rule, twice)


def test_weights_below_one_look_at_no_more_records_than_places():
    cells = CellContributors.of([[10, 8, 6]], [[0.5, 0.5, 5]])
    assert cells.leading(2) == pytest.approx([0.5 * 10 + 0.5 * 8])


def test_request():
    cells = CellContributors.of(
        [[71, 29], [70, 30], [29, 71], [71, 29]],
        asking=np.array([[71.0, 0], [70, 0], [0, 29], [0, 0]]),
    )
    # 70 % for code 1, 25 % for code 2; only those who asked count.
    unsafe, upl, lpl = levels(Request(70, 25, margin=10), cells)
    assert unsafe == [True, False, True, False]
    assert upl == pytest.approx([10, 0, 10, 0])
    assert lpl == upl
    assert levels(Request(70), cells)[0] == [True, False, False, False]


def test_request_needs_askers():
    with pytest.raises(InputError, match="nobody was asked"):
        Request(70).apply(CellContributors.of([[1]]))


def test_zero_unsafe():
    cells = CellContributors.of([[0, 0], [1], [], [0]])
    unsafe, upl, lpl = levels(ZeroUnsafe(10), cells)
    assert unsafe == [True, False, False, True]
    assert upl == [10, 0, 0, 10]
    assert lpl == [0, 0, 0, 0]


def test_shadow_rescales_to_the_response():
    # Shadow 90, 6, 4: level 12.5 of 100, as above; the response is 400, 4 times that.
    cells = CellContributors.of(
        [[90, 6, 4], [0, 0]],
        value=np.array([400.0, 5]),
        size=np.array([400.0, 5]),
        total=np.array([100.0, 0]),
        shadow=True,
    )
    unsafe, upl, _ = levels(Dominance(1, 80), cells)
    assert unsafe == [True, False]
    assert upl == pytest.approx([50, 0])


def test_negative_contributions_count_by_size():
    # -100 and 50, 4, 3: as if all were positive.
    cells = CellContributors.of([[50, -100, 4, 3]])
    assert cells.value == pytest.approx([-43])
    assert levels(PPercent(10), cells)[1] == pytest.approx([3])


def test_largest_level_of_several_rules():
    cells = CellContributors.of([[100, 50, 4, 3]])
    # p 10 %: 3; dominance 1,60: 100 / 0.6 - 157 = 9.67; frequency 5: 30 % of 157
    marks = mark(cells, [PPercent(10), Dominance(1, 60)])
    assert marks.status.tolist() == ["u"]
    assert marks.upl == pytest.approx([100 / 0.6 - 157])
    marks = mark(cells, [PPercent(10), Dominance(1, 60), Frequency(5)])
    assert marks.upl == pytest.approx([47.1])
    assert marks.lpl == pytest.approx([47.1])
    assert marks.spl.tolist() == [0]


def test_lower_level_ends_at_the_floor():
    cells = CellContributors.of([[10]])
    rule = PPercent(150)
    assert mark(cells, [rule]).lpl == pytest.approx([10])
    assert mark(cells, [rule]).upl == pytest.approx([15])
    assert mark(cells, [rule], floor=-np.inf).lpl == pytest.approx([15])


def test_counts_get_whole_levels():
    cells = CellContributors.of([[1], [1, 1], [1, 1, 1]])
    marks = mark(cells, [Frequency(3, 30)], whole=True)
    assert marks.upl.tolist() == [1, 1, 0]
    assert marks.lpl.tolist() == [1, 1, 0]


def test_whole_levels_are_rounded_up():
    """Each side has its own: a zero cell has no lower level."""
    cells = CellContributors.of([[4, 3], [0]])
    marks = mark(cells, [PPercent(40), ZeroUnsafe(1.2)], whole=True)
    # p 40 %: 1.6 is missing.
    assert marks.status.tolist() == ["u", "u"]
    assert marks.upl.tolist() == [2, 2]
    assert marks.lpl.tolist() == [2, 0]
    big = mark(CellContributors.of([[0]], value=np.array([0.0])), [ZeroUnsafe(3)])
    assert (big.upl.tolist(), big.lpl.tolist()) == ([3], [0])
    below = mark(cells, [ZeroUnsafe(3)], floor=-np.inf)
    assert below.lpl.tolist() == [0, 0]


def test_marks_are_counted_where_asked_and_kept_everywhere():
    cells = CellContributors.of([[4, 3], [5], [1, 1, 1]])
    marks = mark(cells, [Frequency(3)], counted=np.array([True, False, True]))
    assert marks.status.tolist() == ["u", "u", "s"]
    assert marks.marked == (("freq:3", 1),)


def test_what_the_others_must_have_left_over():
    """The strictest of the rules says it; dominance of one is a rule on the rest."""
    assert rest_limit([]) == 0.1
    assert rest_limit([Frequency(3)]) == 0.1
    assert rest_limit([PPercent(5)]) == 0.05
    assert rest_limit([PPercent(5), Dominance(1, 80), Dominance(2, 50)]) == 0.25
    assert rest_limit([PPercent(5), PriorPosterior(10, 20)]) == 0.5


def test_an_empty_cell_is_not_one_of_few():
    cells = CellContributors.of([[], [0, 0], [1]])
    assert levels(Frequency(2), cells)[0] == [False, False, True]


def test_both_codes_of_a_request_have_their_limit():
    """At the limit a cell is safe, and a limit of one code is not that of the other."""
    asking = np.array([[0, 50], [0, 50.6], [70, 0], [70.6, 0]])
    cells = CellContributors.of([[60, 40]] * 4, asking=asking)
    rule = Request(70, 50)
    assert levels(rule, cells)[0] == [False, True, False, True]


def test_a_small_shadow_rescales_as_well():
    cells = CellContributors.of([[8, 1]], total=np.array([0.5]), shadow=True)
    assert cells.scale.tolist() == [18.0]


def test_the_least_parameters_are_taken():
    """A rule on one contributor, and no margin, are rules."""
    assert Frequency(1, 0).n == Dominance(1, 50).n == 1
    assert Request(0, margin=0).percent == 0


def test_no_rules_mark_nothing():
    assert mark(CellContributors.of([[1], []]), []).status.tolist() == ["s", "s"]


def test_manual_marks_what_it_is_shown():
    assert levels(Manual(20), CellContributors.of([[-5]])) == ([True], [1.0], [1.0])


def test_too_few_contributions_kept():
    kept = CellContributors(*(np.ones(1) for _ in range(4)), np.ones((1, 1)))
    with pytest.raises(InputError, match="largest contributions"):
        PPercent(10).apply(kept)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Dominance(0, 80),
        lambda: Dominance(1, 100),
        lambda: PPercent(0),
        lambda: PPercent(10, 0),
        lambda: PriorPosterior(50, 50),
        lambda: PriorPosterior(0, 50),
        lambda: PriorPosterior(5, 50, 0),
        lambda: Frequency(0),
        lambda: Frequency(3, -1),
        lambda: Frequency(3, 30, "firms"),
        lambda: ZeroUnsafe(0),
        lambda: Request(100),
        lambda: Manual(float("nan")),
    ],
)
def test_senseless_rules_are_refused(make):
    with pytest.raises(InputError, match="Expected"):
        make()
