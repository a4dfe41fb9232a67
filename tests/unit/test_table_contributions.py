"""Contributors as attackers: what the table keeps of them, and what they know."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evosdc
from evosdc.errors import InputError, TableError
from evosdc.io import read_table, write_table
from evosdc.io.cells import read_coalitions
from evosdc.table import Coalition, Contributions, Table, link_tables
from evosdc.table.attackers import AttackerKnowledge, find_attackers, lone_attackers

Known = dict[int, float | None]


def draw(seed: int, *, negative: bool = False) -> dict[str, Any]:
    """Make records of few holdings, no two contributions of which are equal."""
    rng = np.random.default_rng(seed)
    n = 40
    values = rng.permutation(np.arange(1, 500))[:n] / 4 * (rng.random(n) < 0.85)
    if negative:
        values[rng.random(n) < 0.1] *= -1
    return {
        "r": rng.choice(list("abcde"), n).tolist(),
        "s": rng.choice(list("xyz"), n).tolist(),
        "v": values.tolist(),
        "firm": rng.choice([f"firm {k}" for k in range(12)], n).tolist(),
        "id": list(range(n)),
    }


def tabulated(records: dict[str, Any], **options: Any) -> Table:
    options = {"contributions": True, **options}
    contributors = evosdc.Contributors(**options)
    return evosdc.tabulate(
        records, ["r", "s"], "v", rules=["p:10"], contributors=contributors
    ).table


def parts_of(records: dict[str, Any], table: Table, by: str) -> list[dict[Any, float]]:
    """Add up what each contributor has in each cell, from the records."""
    found: list[dict[Any, float]] = []
    for cell in range(len(table)):
        code = dict(part.split("=") for part in table.label(cell).split(", "))
        parts: dict[Any, float] = {}
        for r, s, v, who in zip(
            records["r"], records["s"], records["v"], records[by], strict=True
        ):
            if code["r"] in (r, "Total") and code["s"] in (s, "Total"):
                parts[who] = parts.get(who, 0.0) + v
        found.append(parts)
    return found


def known_by(
    members: Iterable[Any],
    table: Table,
    parts: list[dict[Any, float]],
    records: dict[str, Any],
    *,
    largest: bool = True,
) -> Known:
    """Return what some contributors know together, by definition."""
    together, known = set(members), dict[int, float | None]()
    for cell, contributions in enumerate(parts):
        active = {who: x for who, x in contributions.items() if x}
        if set(active or contributions) <= together and (
            len(active or contributions) == 1 or (largest and len(active) == 2)
        ):
            known[cell] = None
        elif largest and table.lower[cell] >= 0:
            order = sorted(active, key=lambda who: -abs(active[who]))
            own = sum(active[who] for who in order[:2] if who in together)
            if own > 0:
                known[cell] = float(table.value[cell]) - own
    return known


def rows(found: AttackerKnowledge) -> list[Known]:
    return [
        {
            int(found.cell[k]): None if found.up[k] == 0 else float(found.down[k])
            for k in range(*found.entries(a).indices(len(found.cell)))
        }
        for a in range(1, len(found))
    ]


def same(one: Iterable[Known], other: Iterable[Known]) -> bool:
    def order(found: Iterable[Known]) -> list[Any]:
        return sorted(map(str, (sorted(k.items(), key=str) for k in found)))

    return order(one) == order(other)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("by", ["id", "firm"])
def test_attackers_are_those_of_the_definition(by: str, negative: bool) -> None:
    for seed in range(4):
        records = draw(seed, negative=negative)
        holding = {"holding": "firm"} if by == "firm" else {}
        table = tabulated(records, **holding)
        parts = parts_of(records, table, by)
        for kind, largest in (("lone", False), ("pairs", True)):
            found = find_attackers(table, kind)
            wanted = [
                known_by([who], table, parts, records, largest=largest)
                for who in dict.fromkeys(records[by])
            ]
            assert same(rows(found), [known for known in wanted if known]), (seed, kind)
        assert len(find_attackers(table, "public")) == 1


def test_a_coalition_knows_what_its_members_contribute_together() -> None:
    exact = 0
    for seed in range(6):
        records = draw(seed)
        table = tabulated(records, holding="firm")
        parts = parts_of(records, table, "firm")
        first: dict[str, int] = {}
        for cell, contributions in enumerate(parts):
            active = {who: x for who, x in contributions.items() if x}
            if active:
                first.setdefault(max(active, key=lambda who: active[who]), cell)
        members = list(first)[:3]
        labels = [table.label(first[who]).replace(", ", ",") for who in members]
        given = Coalition("A", tuple(labels))
        for kind in ("public", "lone", "pairs"):
            found = find_attackers(table, kind, [given])
            wanted = known_by(members, table, parts, records)
            assert same(rows(found)[-1:], [wanted]), seed
            assert found.describe(table, len(found) - 1) == "coalition A"
            alone = rows(find_attackers(table, kind))
            assert rows(found)[:-1] == alone
        exact += sum(
            room is None and len([x for x in parts[cell].values() if x]) == 2
            for cell, room in wanted.items()
        )
        # The same members by their hashes.
        assert table.contributions is not None
        hashes = [str(table.contributions.who[first[who], 0]) for who in members]
        by_hash = find_attackers(table, "lone", [Coalition("A", tuple(hashes))])
        assert rows(by_hash) == rows(find_attackers(table, "lone", [given]))
    assert exact  # two members were all of a cell


def test_by_default_lone_respondents_attack_where_the_table_knows_them() -> None:
    table = tabulated(draw(1), contributions=False)
    assert rows(find_attackers(table)) == rows(lone_attackers(table))
    bare = table.replace(frequency=None, respondent=None)
    assert len(find_attackers(bare)) == 1
    with pytest.raises(InputError, match="how many contributors"):
        find_attackers(bare, "lone")


def test_own_shares_go_up_to_totals() -> None:
    """Who is second in two parts and third in their total knows the total as well."""
    from evosdc.table.attackers import OwnShares

    records = {
        "r": ["a", "a", "b", "b", "c"],
        "s": ["x"] * 5,
        "v": [10.1, 5.2, 20.3, 5.4, 30.5],
        "firm": ["A", "Z", "B", "Z", "C"],
    }
    table = tabulated(records, holding="firm")
    at = {table.label(cell): cell for cell in range(len(table))}
    found = find_attackers(table, "pairs")
    mine = [a for a in range(1, len(found)) if at["r=a, s=x"] in found.cells(a)]
    second = next(a for a in mine if found.kind[a] == "second largest")
    assert at["r=Total, s=x"] not in found.cells(second)
    room = found.room_below(OwnShares(table), second)
    assert room[at["r=Total, s=x"]] == 60.9  # 71.5 less 5.2 and 5.4, as decimals


def test_attackers_are_named_without_values_and_hashes() -> None:
    records = {
        "r": ["a", "a", "a", "b", "b", "c"],
        "s": ["x"] * 6,
        "v": [70.0, 20, 10, 41, 40, 9],
    }
    table = tabulated(records)
    found = find_attackers(table, "pairs")
    said = {found.describe(table, a) for a in range(len(found))}
    assert said == {
        "everyone",
        "the lone respondent of r=c, s=Total",
        "the largest contributor of r=Total, s=Total",
        "the second largest contributor of r=Total, s=Total",
        "the second largest contributor of r=a, s=Total",
        "the second largest contributor of r=b, s=Total",
    }


def test_records_that_agree_in_every_column_are_two() -> None:
    """Each of them knows its own contribution, and not the whole cell."""
    records = {"r": ["a", "a", "b", "b"], "s": ["x"] * 4, "v": [7.0, 7, 20, 30]}
    table = tabulated(records)
    cell = [table.label(c) for c in range(len(table))].index("r=a, s=x")
    found = find_attackers(table, "pairs")
    mine = [a for a in range(1, len(found)) if cell in found.cells(a)]
    assert len(mine) == 1
    assert found.down[found.entries(mine[0])].tolist() == [7.0, 7.0]
    assert not len(found.known(mine[0]))
    together = find_attackers(table, "public", [Coalition("A", ("r=a,s=x",))])
    assert not len(together.known(1))


def test_bounds_that_everyone_has_leave_contributors_nothing_to_know() -> None:
    counts = evosdc.tabulate(
        draw(2),
        ["r", "s"],
        rules=["freq:3"],
        contributors=evosdc.Contributors(contributions=True),
    ).table
    assert rows(find_attackers(counts, "pairs")) == rows(lone_attackers(counts))
    table = tabulated(draw(2))
    open_ended = table.replace(lower=np.full(len(table), -np.inf))
    assert rows(find_attackers(open_ended, "pairs")) == rows(lone_attackers(table))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jj", "t.tab"])
def test_contributions_travel_with_the_table(tmp_path: Path, name: str) -> None:
    table = tabulated(draw(3), holding="firm")
    write_table(tmp_path / name, table)
    back = read_table(tmp_path / name)
    assert table.contributions is not None
    assert back.contributions is not None
    mine, theirs = table.contributions.columns(), back.contributions.columns()
    for column in mine:
        assert np.array_equal(mine[column], theirs[column]), column
    plain = tabulated(draw(3), contributions=False)
    write_table(tmp_path / f"plain-{name}", plain)
    assert read_table(tmp_path / f"plain-{name}").contributions is None


def test_linked_tables_keep_them_where_they_are_of_the_same_records() -> None:
    records = draw(4)

    def of(by: list[str], made: dict[str, Any] = records, **more: Any) -> Table:
        options = {"holding": "firm", "contributions": True, **more}
        contributors = evosdc.Contributors(**options)
        return evosdc.tabulate(
            made, by, "v", rules=["p:10"], contributors=contributors
        ).table

    one, two = of(["r"]), of(["s"])
    joint = link_tables([one, two], unlinked=[]).table
    parts = parts_of(records, joint, "firm")
    wanted = [known_by([who], joint, parts, records) for who in set(records["firm"])]
    assert same(rows(find_attackers(joint, "pairs")), [k for k in wanted if k])
    assert (
        link_tables([one, of(["s"], contributions=False)]).table.contributions is None
    )
    more = {name: [*column, column[0]] for name, column in records.items()}
    other = of(["s"], more | {"v": [*records["v"], 0.0]})
    assert link_tables([one, other]).table.contributions is None


def test_cells_that_are_not_shown_keep_theirs() -> None:
    records = draw(5)
    records["t"] = ["p", "q"] * 20
    spans = [["r", "s"], ["s", "t"], ["t", "r"]]
    table = evosdc.tabulate(
        records,
        spans,
        "v",
        rules=["p:10"],
        contributors=evosdc.Contributors(contributions=True),
    ).table
    assert table.unshown is not None
    assert table.contributions is not None
    seen = table.visible()
    assert seen.contributions is not None
    assert np.array_equal(
        seen.contributions.amount, table.contributions.amount[table.shown]
    )


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    table = tabulated(draw(1))
    found = table.contributions
    assert found is not None
    with pytest.raises(InputError, match="--contributions"):
        find_attackers(table.replace(contributions=None), "pairs")
    with pytest.raises(InputError, match="public, lone, pairs"):
        find_attackers(table, "everybody")
    with pytest.raises(TableError, match="contributions to"):
        table.replace(contributions=found[:-1])
    with pytest.raises(TableError, match="negative"):
        Contributions(found.count, found.who, -found.amount - 1)
    write_table(tmp_path / "t.csv", table)
    lines = (tmp_path / "t.csv").read_text().replace("contribution_2", "other")
    (tmp_path / "u.csv").write_text(lines)
    with pytest.raises(InputError):
        read_table(tmp_path / "u.csv")


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ("r=a", "stands for 4 cells"),
        ("r=a,s", "stands for"),
        ("r=a,s=nowhere", "no cell"),
        ("r=a,t=b", "no dimension"),
        ("0123456789abcdef", "nobody whom the table knows"),
    ],
)
def test_members_that_are_nobody_are_refused(member: str, words: str) -> None:
    table = tabulated(draw(1))
    with pytest.raises(InputError, match=words):
        find_attackers(table, "lone", [Coalition("A", (member,))])


def test_without_contributions_a_coalition_is_of_lone_respondents() -> None:
    records = {"r": ["a", "b", "c", "c"], "s": ["x"] * 4, "v": [7.0, 8, 20, 30]}
    table = tabulated(records, contributions=False)
    found = find_attackers(table, "public", [Coalition("A", ("r=a,s=x", "r=b,s=x"))])
    known = {table.label(int(cell)) for cell in found.known(1)}
    assert known == {"r=a, s=x", "r=b, s=x", "r=a, s=Total", "r=b, s=Total"}
    with pytest.raises(InputError, match="--contributions"):
        find_attackers(table, "public", [Coalition("A", ("r=c,s=x",))])
    with pytest.raises(InputError, match="no members"):
        find_attackers(table, "public", [Coalition("A", ())])


def test_a_file_of_coalitions(tmp_path: Path) -> None:
    path = tmp_path / "coalitions.csv"
    path.write_text('coalition,member\nA,"r=a,s=x"\nB,"r=b,s=x"\nA, 0123456789abcdef\n')
    assert read_coalitions(path) == (
        Coalition("A", ("r=a,s=x", "0123456789abcdef")),
        Coalition("B", ("r=b,s=x",)),
    )
    for text in (
        "coalition,name\nA,b\n",
        "coalition,member\nA,\n",
        "coalition,member\n",
    ):
        path.write_text(text)
        with pytest.raises(InputError):
            read_coalitions(path)
