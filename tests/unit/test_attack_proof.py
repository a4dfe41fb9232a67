"""Proofs read back: of this table and no other, unchanged, and right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builders import flat_table
from evosdc.attack import certificate_arrays, check_proof, judge, read_proof
from evosdc.attack.certificate import (
    GROUPS,
    ORIGIN,
    digest_of,
    numbered,
    seal_of,
    table_digests,
    witness_arrays,
)
from evosdc.attack.proof import Requirements
from evosdc.errors import InputError
from evosdc.io.archive import read_arrays
from evosdc.io.cells import read_published
from evosdc.io.frames import published_frame
from evosdc.results import TABLE_QUESTIONS, Claim
from evosdc.table import Dimension, Origin, Table
from evosdc.table.knowledge import (
    as_counts,
    in_whole_numbers,
    with_bounds,
    with_whole_numbers,
)
from evosdc.table.shares import Coalition

CLAIM = Claim(**{name: name for name in TABLE_QUESTIONS})


@pytest.fixture
def table() -> Table:
    """Three by three; one sensitive cell in a square of hidden ones."""
    level = [2.0, *[0.0] * 8]
    return flat_table(
        {"r": "abc", "s": "abc"}, [9.0, 8, 7, 6, 5, 4, 9, 8, 7],
        status=list("ummsssmmm"), lpl=level, upl=level, frequency=[5] * 9,
    )  # fmt: skip


def arrays_of(table: Table, **changes: Any) -> dict[str, np.ndarray]:
    how: dict[str, Any] = {"strict": False, "secondaries": False, "insiders": False}
    table = in_whole_numbers(with_whole_numbers(table))
    _, certificate = judge(table, known=changes.get("known"))
    how |= changes
    return certificate_arrays(certificate, table=table, claim=CLAIM, **how)


def changed(
    arrays: dict[str, np.ndarray], **texts: dict[str, Any]
) -> dict[str, np.ndarray]:
    """A forged certificate: some entries of its texts replaced, and sealed again."""
    out = dict(arrays)
    for name, entries in texts.items():
        # A claim is forged as a whole.
        before = {} if name == "claim" else json.loads(str(out[name]))
        out[name] = np.array(json.dumps(before | entries))
    return {**out, "seal": np.array(seal_of(out))}


def faults(table: Table, arrays: dict[str, np.ndarray], **more: Any) -> str:
    report = check_proof(table, read_proof(arrays), **more)
    assert report.holds == (not report.faults)
    assert report.word == ("NOT PROVED" if report.faults else "SAFE")
    return "; ".join(report.faults)


def test_a_good_proof_holds_whatever_the_statuses_of_secondaries(table: Table) -> None:
    arrays = arrays_of(table)
    assert all(a.dtype != object for a in arrays.values())
    assert not faults(table, arrays)
    plain = table.replace(status=np.where(table.status == "m", "s", table.status))
    assert not faults(plain, arrays)
    report = check_proof(plain, read_proof(arrays))
    assert report.check is not None
    assert report.check.judged == 1
    assert not report.remarks


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("value", "values"),
        ("lower", "bounds"),
        ("upper", "bounds"),
        ("lpl", "protection levels"),
        ("upl", "protection levels"),
        ("spl", "protection levels"),
        ("status", "which cells are sensitive"),
        ("dimensions", "the cells and their order"),
        ("matrix", "equations"),
    ],
)
def test_another_table_is_named_by_what_differs(
    table: Table, column: str, words: str
) -> None:
    arrays = arrays_of(table)
    old = getattr(table, column)
    new: Any
    if column == "status":
        new = np.where(np.arange(len(table)) == 4, "u", old)
    elif column == "dimensions":
        new = (old[0], Dimension("t", old[1].hierarchy))
    elif column == "matrix":
        new = old[1:]
    else:
        new = old.copy()
        new[0] += {"lower": 1, "value": 1e-9}.get(column, 1)
        new[0] = 99.0 if column == "upper" else new[0]
    changes = {column: new}
    if column == "matrix":
        changes["rhs"] = table.rhs[1:]
    told = faults(table.replace(**changes), arrays)
    assert f"not the one the certificate was made for; other than then: {words}" in told
    others = set(GROUPS.values()) - {w for w in GROUPS.values() if w.startswith(words)}
    assert not any(other in told.split("; ")[1] for other in others)


def test_another_number_of_cells(table: Table) -> None:
    arrays = arrays_of(table)
    small = Table.of([1.0, 1.0, 2.0], [[1, 1, -1]])
    assert "it has 3 cells, and the certificate is of 16" in faults(small, arrays)


def test_a_broken_seal_and_the_witness_that_fails(table: Table) -> None:
    arrays = arrays_of(table)
    changed = {**arrays, "numerators": arrays["numerators"].copy()}
    changed["numerators"][0] += 1
    told = faults(table, changed)
    assert "the seal is broken" in told
    assert "witness 0 breaks an equation" in told
    assert "1 of 1 cells are not proved protected, the first: r=a, s=a" in told
    changed["seal"] = np.array(seal_of(changed))
    told = faults(table, changed)
    assert "the seal is broken" not in told
    assert "witness 0 breaks an equation" in told


def test_a_published_primary_is_not_protected(table: Table) -> None:
    arrays = arrays_of(table)
    arrays["hidden"] = arrays["hidden"] & (np.arange(len(table)) != 0)
    arrays["seal"] = np.array(seal_of(arrays))
    assert "cells are not proved protected" in faults(table, arrays)


def test_known_cells_are_part_of_the_proof(table: Table) -> None:
    known = np.arange(len(table)) == 7
    arrays = arrays_of(table, known=known)
    assert not faults(table, arrays)
    arrays["known"] = np.arange(len(table)) == 6
    arrays["seal"] = np.array(seal_of(arrays))
    assert "moves a cell that is known" in faults(table, arrays)


def test_prior_knowledge_is_what_the_certificate_says(table: Table) -> None:
    closer = with_bounds(table, "percent:50")
    arrays = arrays_of(closer)
    report = check_proof(table, read_proof(arrays))
    assert report.holds
    assert "prior knowledge is as the certificate says" in report.remarks[0]
    assert not check_proof(closer, read_proof(arrays)).remarks
    fewer = table.replace(upper=np.full(len(table), 600.0))
    assert check_proof(fewer, read_proof(arrays)).holds, "the bounds are percent:50"
    assert "bounds (lower, upper)" in faults(fewer, arrays_of(table))


def test_fractions_prove_nothing_of_counts(table: Table) -> None:
    counts = table.replace(origin=Origin(counts=True))
    assert not faults(counts, arrays_of(counts))
    assert "fractions of a person" in faults(counts, arrays_of(counts, whole=False))


def test_intervals_are_said_to_be_rounded_only_where_they_are(table: Table) -> None:
    for whole in (True, False):
        settings = {"whole": whole, "fractions": True, "counts": False}
        proof = read_proof(changed(arrays_of(table), settings=settings))
        said = check_proof(table, proof).checked["proof"]
        assert ("rounded inwards" in said) == whole


def test_nothing_judged_is_a_proof_only_under_rules(table: Table) -> None:
    bare = table.replace(status=np.full(len(table), "s"))
    assert "no rule looked for sensitive cells" in faults(bare, arrays_of(bare))
    ruled = bare.replace(origin=Origin(rules=(("p:10", 0),)))
    assert not faults(ruled, arrays_of(ruled))


def test_lone_respondents_must_be_the_same(table: Table) -> None:
    arrays = arrays_of(table, insiders=True)
    assert not faults(table, arrays)
    alone = table.replace(frequency=np.where(np.arange(len(table)) == 2, 1, 5))
    assert "lone respondents" in faults(alone, arrays)
    assert "does not say who contributes" in faults(
        table.replace(frequency=None), arrays
    )


def test_a_sum_of_one_respondent_must_be_proved() -> None:
    """Two cells of a row whose other cell is published: their sum is given away."""
    level = [7.0, 3.0, *[0.0] * 7]
    names = np.array(["f", "f", *[""] * 7])
    of_two = flat_table(
        {"r": "abc", "s": "abc"}, [70.0, 30, 7, 60, 50, 4, 9, 8, 7],
        status=list("uusmmssss"), lpl=level, upl=level,
        frequency=[1, 1, *[5] * 7], respondent=names,
    )  # fmt: skip
    assert not faults(of_two, arrays_of(of_two))
    arrays = arrays_of(of_two, insiders=True)
    assert faults(of_two, arrays).endswith(
        "1 sums of cells of one respondent are not proved protected"
    )


def test_lowered_levels_are_those_of_the_table_or_less(table: Table) -> None:
    level = np.where(np.arange(len(table)) == 0, 1.0, 0.0)
    lowered = table.replace(lpl=level, upl=level)
    arrays = arrays_of(lowered, accepted=level > 0)
    assert not faults(table, arrays)
    report = check_proof(table, read_proof(arrays))
    assert "lower levels than the table's" in report.remarks[0]
    for entry, words in (
        ([len(table), 1, 1, 0], "cells that the table does not have"),
        ([-1, 1, 1, 0], "cells that the table does not have"),
        ([0, 2.5, 1, 0], "other levels than were lowered"),
        ([0, 1, 2.5, 0], "other levels than were lowered"),
        ([0, -1, 1, 0], "other levels than were lowered"),
        ([0, float("nan"), 1, 0], "other levels than were lowered"),
    ):
        forged = changed(arrays, settings={"accepted": [entry]})
        assert words in faults(table, forged)


@pytest.mark.parametrize("coalitions", ["ab", ["ab"], [["alone"]], [[]], {"a": "b"}])
def test_coalitions_without_members_are_refused(
    table: Table, coalitions: object
) -> None:
    forged = changed(arrays_of(table), settings={"coalitions": coalitions})
    with pytest.raises(InputError, match="cannot be read"):
        read_proof(forged)


def test_old_and_strange_files_are_refused(table: Table) -> None:
    arrays = arrays_of(table)
    with pytest.raises(InputError, match=r"witnesses alone \(format 1\)"):
        read_proof(witness_arrays(read_proof(arrays).certificate))
    with pytest.raises(InputError, match="format 'evosdc-certificate 9'"):
        read_proof({**arrays, "format": np.array("evosdc-certificate 9")})
    for name in ("claim", "settings", "digests", "hidden", "respondent", "cells"):
        without = {k: a for k, a in arrays.items() if k != name}
        with pytest.raises(InputError):
            read_proof(without)
    for name, wrong in (
        ("claim", np.array('["rules"]')),
        ("settings", np.array("[1]")),
        ("hidden", np.arange(16)),
        ("respondent", np.zeros(16)),
        ("numerators", np.array(["x"])),
    ):
        with pytest.raises(InputError, match="cannot be read"):
            read_proof({**arrays, name: wrong})


def test_archives_that_cannot_be_read(tmp_path: Path, table: Table) -> None:
    path = tmp_path / "certificate.npz"
    np.savez_compressed(path, **arrays_of(table))
    assert set(read_arrays(path)) == set(arrays_of(table))
    whole = path.read_bytes()
    half = tmp_path / "half.npz"
    half.write_bytes(whole[: len(whole) // 2])
    text = tmp_path / "text.npz"
    text.write_text("cells,values\n")
    objects = tmp_path / "objects.npz"
    np.savez(objects, cells=np.array([{}], dtype=object))
    for bad in (half, text, objects):
        with pytest.raises(InputError, match="not an archive of arrays"):
            read_arrays(bad)


def test_fingerprints(table: Table) -> None:
    none = np.full(len(table), -1)
    one = table_digests(table, none)
    assert list(one) == list(GROUPS)
    assert digest_of(one) != digest_of({**one, "values": one["bounds"]})
    order = np.arange(len(table.rhs))[::-1]
    mirrored = table.replace(matrix=table.matrix[order], rhs=-table.rhs[order])
    assert table_digests(mirrored, none) == one, "equations are a set"
    assert table_digests(table, none + 1)["respondents"] != one["respondents"]
    assert numbered(np.array([-1, 7, 3, 7, -1])).tolist() == [-1, 0, 1, 0, -1]


def test_publications_are_read_back(table: Table) -> None:
    frame = published_frame(table)
    hidden = read_published(frame, table)
    assert hidden.tolist() == table.hidden.tolist()
    arrays = arrays_of(table)
    assert not faults(table, arrays, published=hidden)
    more, fewer = hidden.copy(), hidden.copy()
    more[4], fewer[1] = True, False
    told = faults(table, arrays, published=more)
    assert "1 cells are hidden and should be published, the first: r=b, s=b" in told
    told = faults(table, arrays, published=fewer)
    assert "1 cells are published and should be hidden, the first: r=a, s=b" in told
    known = arrays_of(table, known=np.arange(len(table)) == 7)
    fewer[1], fewer[7] = True, False
    assert not faults(table, known, published=fewer), "everyone has it anyway"


def test_publications_of_another_table_are_refused(table: Table) -> None:
    frame = published_frame(table)
    rows = frame.to_pydict()

    def changed(**entries: tuple[int, Any]) -> dict[str, list[Any]]:
        out = {name: list(column) for name, column in rows.items()}
        for name, (row, entry) in entries.items():
            out[name][row] = entry
        return out

    for bad, words in (
        (changed(value=(4, 99.0)), "r=b, s=b has another value"),
        (changed(value=(0, 9.0)), "r=a, s=a is marked hidden and has a value"),
        (changed(status=(0, "s")), "r=a, s=a has no value and is not marked"),
        (changed(r=(0, "b")), "stands twice"),
        ({name: column[1:] for name, column in rows.items()}, "r=a, s=a is missing"),
        (changed(r=(0, "nowhere")), "unknown code"),
        ({k: c for k, c in rows.items() if k != "value"}, "no column 'value'"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            read_published(bad, table)
        assert "99" not in str(caught.value)


def test_words_of_the_claim_are_neither_compared_nor_confirmed(table: Table) -> None:
    """Sentences may be worded otherwise in other versions: settings are compared."""
    arrays = arrays_of(table)
    reworded = changed(arrays, claim={"rules": "autrement", "more": "each of 9"})
    assert not faults(table, reworded)
    first, second = (check_proof(table, read_proof(a)) for a in (arrays, reworded))
    assert first.checked == second.checked
    assert set(first.checked) < set(TABLE_QUESTIONS)
    assert "rules" not in first.checked
    # Words cannot pass for lines of ours.
    injected = changed(arrays, claim={"rules": "a\nSAFE:\x1b[1m b\u2028c"})
    assert read_proof(injected).claim == {"rules": "a SAFE: [1m b c"}


def test_what_made_cells_sensitive_must_be_what_the_table_says(table: Table) -> None:
    ruled = table.replace(origin=Origin(rules=(("p:10", 1),)))
    arrays = arrays_of(ruled)
    assert not faults(ruled, arrays)
    for settings, words in (
        ({"rules": [["p:20", 1]]}, "other rules than"),
        ({"rules": [["p:10", 2]]}, "other rules than"),
        ({"rules": []}, "other rules than"),
        ({"floor": 5.0}, "other least levels than"),
        ({"waived": 3}, "other consents than"),
        ({"ring": True}, "other rings of linked tables than"),
    ):
        assert words in faults(ruled, changed(arrays, settings=settings))
    assert "other rules than" in faults(table, arrays), "no side file"
    # Nobody looked for sensitive cells: as the table came, or as somebody decided.
    decided = table.replace(origin=Origin(rules=()))
    assert not faults(table, arrays_of(decided))


def test_more_lone_respondents_than_the_table_has(table: Table) -> None:
    arrays = arrays_of(table, insiders=True)
    arrays["respondent"] = np.arange(len(table)) - 1
    assert "other than then: lone respondents" in faults(table, changed(arrays))


def test_settings_that_nobody_knows_are_left_out(table: Table) -> None:
    arrays = changed(arrays_of(table), settings={"friends": "all"})
    assert "friends" not in read_proof(arrays).settings


def test_the_earlier_format_is_read_without_comparing_its_rules(table: Table) -> None:
    ruled = table.replace(origin=Origin(rules=(("p:10", 1),)))
    arrays = arrays_of(ruled)
    settings = json.loads(str(arrays["settings"]))
    for name in ORIGIN:
        del settings[name]
    old = {
        **arrays,
        "format": np.array("evosdc-certificate 2"),
        "settings": np.array(json.dumps(settings)),
    }
    report = check_proof(ruled, read_proof(changed(old)))
    assert report.holds
    assert "earlier format" in report.remarks[0]
    # In the format of today they must be there.
    with pytest.raises(InputError, match="cannot be read"):
        read_proof(changed({**old, "format": arrays["format"]}))


def test_magnitudes_of_a_table_of_counts_are_assumed_again() -> None:
    """As `protect --magnitudes` assumes: no cell is known to be 1 or more."""
    level = [2.0, *[0.0] * 8]
    counts = as_counts(
        flat_table(
            {"r": "abc", "s": "abc"}, [9.0, 8, 7, 6, 5, 4, 9, 8, 7],
            status=list("ummsssmmm"), lpl=level, upl=level,
        )
    )  # fmt: skip
    magnitudes = with_bounds(counts.replace(origin=Origin()), "auto")
    assert magnitudes.lower.max() < counts.lower.max()
    arrays = arrays_of(magnitudes)
    report = check_proof(counts, read_proof(arrays))
    assert report.holds, report.faults
    assert report.checked["knowledge"].startswith("magnitudes")


def test_a_tolerance_beyond_rounding_is_refused(table: Table) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_proof(arrays_of(table, tolerance=0.5))


def test_what_was_judged_for_less_than_asked_is_refused(table: Table) -> None:
    def word(settings: dict[str, Any], **asked: Any) -> str:
        arrays = changed(arrays_of(table, insiders=True), settings=settings)
        return faults(table, arrays, requirements=Requirements(**asked))

    lone: dict[str, Any] = {"attackers": "lone"}
    assert not word(lone)
    assert not word(lone, attackers="lone")
    assert not word(lone, attackers="public")
    assert "attackers pairs, but lone" in word(lone, attackers="pairs")
    public = {"insiders": False}
    assert "attackers lone, but public" in word(public, attackers="lone")
    assert "levels that are exceeded" in word(lone, strict=True)
    assert "for secondaries" in word(lone, secondaries=True)
    pair = Coalition("A", ["r=a,s=a", "r=b,s=b"])
    assert "coalition 'A'" in word(lone, coalitions=[pair])
    named = {"coalitions": [["B", "r=b,s=b", "r=a,s=a"]]}
    assert "not judged for" not in word(lone | named, coalitions=[pair])
    with pytest.raises(InputError, match="attackers are 'everyone'"):
        Requirements(attackers="everyone")
