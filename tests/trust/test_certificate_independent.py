"""An independent checker of certificates, by docs/reference/certificate.md alone.

`holds` and what it calls use nothing of evosdc: csv, json, hashlib, fractions and NumPy
to open the archive. It agrees with ``evosdc verify`` on good and on damaged files.
"""

from __future__ import annotations

import csv
import hashlib
import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GROUPS = (
    "cells", "values", "bounds", "levels", "sensitive", "equations", "respondents",
)  # fmt: skip
INF = float("inf")


def read_table(path: Path) -> dict[str, Any]:
    """Cells, equations and all else that the page says of a table."""
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    side = json.loads(Path(f"{path}.json").read_text(encoding="utf-8"))
    names = [d["name"] for d in side["dimensions"]]
    labels = [tuple(row[name].strip() for name in names) for row in rows]
    number = {label: cell for cell, label in enumerate(labels)}
    equations = []
    for k, dimension in enumerate(side["dimensions"]):
        parent = dict(dimension["parents"])
        parts: dict[int, list[int]] = {}
        for cell, label in enumerate(labels):
            if label[k] in parent:
                above = (*label[:k], parent[label[k]], *label[k + 1 :])
                if above in number:
                    parts.setdefault(number[above], []).append(cell)
        for total, cells in parts.items():
            equations.append(sorted([(c, 1.0) for c in cells] + [(total, -1.0)]))

    def column(name: str, default: float) -> list[float]:
        return [float(row.get(name) or default) + 0.0 for row in rows]

    return {
        "names": names,
        "labels": labels,
        "equations": equations,
        "value": column("value", 0.0),
        "lower": column("lower", 0.0),
        "upper": column("upper", INF),
        "lpl": column("lpl", 0.0),
        "upl": column("upl", 0.0),
        "spl": column("spl", 0.0),
        "sensitive": [row["status"] == "u" for row in rows],
        "origin": side.get("origin", {}),
    }


def fingerprint(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def doubles(numbers: list[float]) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *numbers)


def longs(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}q", *numbers)


def fingerprints(table: dict[str, Any], respondent: list[int]) -> dict[str, str]:
    def line(words: Any) -> bytes:
        return b"".join(word.encode() + b"\x1f" for word in words) + b"\x1e"

    equations = {
        longs([len(e)])
        + longs([cell for cell, _ in e])
        + doubles([factor for _, factor in e])
        + doubles([0.0])
        for e in table["equations"]
    }
    parts = {
        "cells": line(table["names"]) + b"".join(map(line, table["labels"])),
        "values": doubles(table["value"]),
        "bounds": doubles(table["lower"]) + doubles(table["upper"]),
        "levels": doubles(table["lpl"]) + doubles(table["upl"]) + doubles(table["spl"]),
        "sensitive": bytes(table["sensitive"]),
        "equations": b"".join(sorted(equations)),
        "respondents": longs(respondent),
    }
    return {name: fingerprint(parts[name]) for name in GROUPS}


def seal(arrays: dict[str, np.ndarray]) -> str:
    data = b""
    for name in sorted(set(arrays) - {"seal"}):
        array = arrays[name]
        shape = ",".join(str(size) for size in array.shape)
        for word in (name, array.dtype.str, shape):
            data += word.encode() + b"\0"
        data += array.tobytes()
    return fingerprint(data)


def exact(number: float) -> Fraction:
    return Fraction(Decimal(repr(number)))


def witnesses(arrays: dict[str, np.ndarray]) -> Iterator[tuple[int, int, Any]]:
    starts = [int(x) for x in arrays["indptr"]]
    count = len(arrays["cells"])
    if len(starts) != count + 1 or starts[0] != 0 or sorted(starts) != starts:
        raise ValueError("indptr")
    if starts[-1] != len(arrays["indices"]) or min(starts) < 0:
        raise ValueError("indptr")
    for i in range(count):
        den = int(arrays["denominators"][i])
        if den <= 0:
            raise ValueError("denominator")
        moves = [
            (int(arrays["indices"][j]), Fraction(int(arrays["numerators"][j]), den))
            for j in range(starts[i], starts[i + 1])
        ]
        yield int(arrays["cells"][i]), int(arrays["signs"][i]), moves


def is_witness(
    table: dict[str, Any],
    moves: list[tuple[int, Fraction]],
    may_move: list[bool],
    whole: bool,
) -> bool:
    d = dict(moves)
    if len(d) < len(moves) or not all(0 <= cell < len(may_move) for cell in d):
        return False
    for cell, step in d.items():
        value = exact(table["value"][cell])
        low, high = table["lower"][cell], table["upper"][cell]
        if step and not may_move[cell]:
            return False
        if low > -INF and step < min(exact(low) - value, 0):
            return False
        if high < INF and step > max(exact(high) - value, 0):
            return False
        if whole and step.denominator != 1:
            return False
    return not any(
        sum(exact(factor) * d.get(cell, 0) for cell, factor in equation)
        for equation in table["equations"]
    )


def holds(table_path: Path, certificate_path: Path) -> bool:
    """The check of the page; exact certificates only."""
    table = read_table(table_path)
    with np.load(certificate_path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if str(arrays["format"]) != "evosdc-certificate 3":
        raise ValueError("format")
    settings = json.loads(str(arrays["settings"]))
    digests = json.loads(str(arrays["digests"]))
    if settings["tolerance"] != 0:
        raise ValueError("tolerance")
    n = len(table["value"])
    respondent = [int(x) for x in arrays["respondent"]]
    hidden = [bool(x) for x in arrays["hidden"]]
    known = [bool(x) for x in arrays["known"]]
    wished = [bool(x) for x in arrays["wished"]]
    if not len(respondent) == len(hidden) == len(known) == len(wished) == n:
        return False
    lines = "".join(f"{name} {digests[name]}\n" for name in GROUPS)
    if (
        seal(arrays) != str(arrays["seal"])
        or fingerprints(table, respondent) != digests
        or fingerprint(lines.encode()) != str(arrays["digest"])
    ):
        return False
    for name in ("rules", "floor", "waived", "ring", "count_zeros"):
        if (settings[name] or None) != (table["origin"].get(name) or None):
            return False
    table["sensitive"] = [
        a or b for a, b in zip(table["sensitive"], wished, strict=True)
    ]
    return proves(table, arrays, settings, hidden, known, respondent)


def own_shares(
    table: dict[str, Any], respondent: list[int], who: int
) -> dict[int, Fraction]:
    """What each cell holds at least by a respondent's own cells."""
    own = {c: exact(table["value"][c]) for c, r in enumerate(respondent) if r == who}
    known = dict(own)
    changed = True
    while changed:
        changed = False
        for equation in table["equations"]:
            # In tables that evosdc wrote the total is the one cell times -1.
            total = next(cell for cell, factor in equation if factor == -1)
            parts = [cell for cell, factor in equation if factor == 1]
            if total in own or any(table["lower"][part] < 0 for part in parts):
                continue
            least = sum((known.get(part, Fraction(0)) for part in parts), Fraction(0))
            if least > known.get(total, 0):
                known[total] = least
                changed = True
    return known


def proves(
    table: dict[str, Any],
    arrays: dict[str, np.ndarray],
    settings: dict[str, Any],
    hidden: list[bool],
    known: list[bool],
    respondent: list[int],
) -> bool:
    """The witnesses alone, whatever seal and fingerprints say."""
    n = len(hidden)
    may_move = [hidden[c] and not known[c] for c in range(n)]
    found = list(witnesses(arrays))
    for own, sign, moves in found:
        if sign not in (1, -1):
            return False
        if not any(cell == own and step * sign > 0 for cell, step in moves):
            return False
        all_whole = settings["whole"] and not settings.get("fractions", False)
        if not is_witness(table, moves, may_move, all_whole):
            return False
    sensitive = table["sensitive"]
    judged = [
        c for c in range(n) if sensitive[c] or (settings["secondaries"] and hidden[c])
    ]
    numbers = [
        x for name in ("value", "lower", "upper", "lpl", "upl", "spl")
        for x in table[name]
    ]  # fmt: skip
    largest = max(abs(x) for x in table["value"])

    def covered(
        cell: int,
        moves: list[list[tuple[int, Fraction]]],
        own: dict[int, Fraction],
    ) -> bool:
        steps = [step for d in moves for c, step in d if c == cell]
        up, down = max([*steps, Fraction(0)]), -min([*steps, Fraction(0)])
        levels = [table[name][cell] for name in ("upl", "lpl", "spl")]
        if settings["whole"]:
            up, down = Fraction(floor(up)), Fraction(floor(down))
            levels = [float(ceil(level)) for level in levels]
        if not any(levels) and not (settings["strict"] and sensitive[cell]):
            return up + down > 0
        if settings["strict"]:
            size = abs(table["value"][cell])
            margin = 2e-6 * max(1.0, size) + 2e-10 * max(1.0, largest)
            if all(x in (INF, -INF) or x == int(x) for x in numbers):
                margin = 1.0
            value, low, high = (table[k][cell] for k in ("value", "lower", "upper"))
            above = INF if high == INF else max(exact(high) - exact(value), 0)
            below = INF if low == -INF else max(exact(value) - exact(low), 0)
            over, under, wide = (
                min(exact(level + margin), max(exact(level), room))
                for level, room in zip(
                    levels, (above, below, above + below), strict=True
                )
            )
        else:
            over, under, wide = map(exact, levels)
        if cell in own:
            under = min(under, exact(table["value"][cell]) - own[cell])
        if not (over or under or wide):
            return up + down > 0
        return up >= over and down >= under and up + down >= wide

    attackers: list[int | None] = [None]
    if settings["insiders"]:
        attackers += sorted(set(respondent) - {-1})
    for who in attackers:
        untouched = [
            moves for _, _, moves in found
            if who is None or not any(s and respondent[c] == who for c, s in moves)
        ]  # fmt: skip
        own = {} if who is None else own_shares(table, respondent, who)
        for cell in judged:
            asked = who is None or (sensitive[cell] and respondent[cell] != who)
            if asked and not covered(cell, untouched, own):
                return False
    return bool(judged) or bool(table["origin"].get("rules"))


# What follows makes the files, with evosdc, and damages them.


def make_files(
    folder: Path,
    *,
    counts: bool = False,
    whole: bool = False,
    insiders: bool = True,
    strict: bool = False,
) -> tuple[Path, Path, Path]:
    from evosdc.attack import certificate_arrays, judge, judge_attackers
    from evosdc.io import published_frame, write_labelled
    from evosdc.io.delimited import write_csv
    from evosdc.results.claims import claim_of
    from evosdc.table import Dimension, Hierarchy, Origin, build_table

    tree = Hierarchy.from_parents({"a": "Total", "b": "Total", "b1": "b", "b2": "b"})
    dims = [Dimension("r", tree), Dimension("s", Hierarchy.flat("xyz"))]
    codes = [(tree.node_of[c], j) for c in ("a", "b1", "b2") for j in (1, 2, 3)]
    value = np.array([10.0, 20, 30, 40, 50, 60, 7, 8, 9])
    if not counts and not whole:
        value += np.array([0.1, 0.25, 0, 0, 0, 0, 0.5, 0, 0])
    level = np.array([2.0, 3, 0, 0, 0, 0, 0, 0, 0])
    table = build_table(
        dims, codes, value, status=list("uusssssss"), lpl=level, upl=level,
        frequency=[5, 5, 5, 1, 5, 5, 5, 5, 5],
        origin=Origin(rules=(("p:10", 2),), counts=counts, whole=whole),
    )  # fmt: skip
    rows, columns = ("a", "b1", "b2", "b"), ("x", "y", "z")
    hide = [
        tree.codes[r] in rows and dims[1].hierarchy.codes[s] in columns
        for r, s in table.codes.tolist()
    ]
    table = table.with_pattern(np.array(hide))
    verdict, certificate = judge(table, strict=strict)
    if insiders:
        verdict, certificate = judge_attackers(
            table, verdict, certificate, strict=strict
        )
    assert verdict.safe
    arrays = certificate_arrays(
        certificate, table=table, strict=strict,
        claim=claim_of(table, verdict, strict=strict, secondaries=False),
        secondaries=False, insiders=insiders,
    )  # fmt: skip
    paths = tuple(folder / n for n in ("table.csv", "proof.npz", "published.csv"))
    write_labelled(paths[0], table)
    write_csv(paths[2], published_frame(table))
    np.savez(paths[1], **arrays)
    return paths[0], paths[1], paths[2]


def commanded(*files: Path | str) -> int:
    """The exit code of ``evosdc verify``."""
    from typer.testing import CliRunner

    from evosdc.cli.app import app
    from evosdc.errors import EvosdcError

    result = CliRunner().invoke(app, ["verify", *map(str, files)])
    if isinstance(result.exception, EvosdcError):
        return result.exception.exit_code
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code


def verified(table: Path, certificate: Path) -> int:
    """What the command does, without its overhead."""
    from evosdc.attack import check_proof, read_proof
    from evosdc.errors import EvosdcError
    from evosdc.io import read_tables
    from evosdc.io.archive import read_arrays

    try:
        proof = read_proof(read_arrays(certificate))
        return 0 if check_proof(read_tables([table]), proof).holds else 3
    except EvosdcError as error:
        return error.exit_code


def independent_check(table: Path, certificate: Path) -> bool:
    """A file that the checker cannot read proves nothing either."""
    try:
        return holds(table, certificate)
    except (ValueError, KeyError, IndexError, TypeError):
        return False


@pytest.mark.parametrize("kind", ["decimals", "counts", "whole"])
@pytest.mark.parametrize("insiders", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_both_accept_what_is_right(
    tmp_path: Path, kind: str, insiders: bool, strict: bool
) -> None:
    table, certificate, published = make_files(
        tmp_path,
        counts=kind == "counts",
        whole=kind == "whole",
        insiders=insiders,
        strict=strict,
    )
    assert holds(table, certificate)
    assert commanded(table, certificate, "--published", published) == 0


def damaged(arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each number and each text changed in turn."""
    for name, array in arrays.items():
        if array.ndim == 0:
            text = str(array)
            for changed in (text[:-1] + ("0" if text[-1] != "0" else "1"), "", "{}"):
                yield name, {**arrays, name: np.array(changed)}
            if "false" in text:
                yield name, {**arrays, name: np.array(text.replace("false", "true", 1))}
            continue
        for i in range(len(array)):
            other = array.copy()
            other[i] = not other[i] if array.dtype == bool else other[i] + 1
            yield f"{name}[{i}]", {**arrays, name: other}
        if len(array):
            yield f"{name} shorter", {**arrays, name: array[:-1]}
        yield f"{name} gone", {k: a for k, a in arrays.items() if k != name}


@pytest.mark.slow
def test_each_changed_number_of_the_certificate_is_noticed(tmp_path: Path) -> None:
    table, certificate, _ = make_files(tmp_path)
    with np.load(certificate) as archive:
        arrays = {name: archive[name] for name in archive.files}
    bad = tmp_path / "bad.npz"
    count = 0
    for what, changed in damaged(arrays):
        np.savez(bad, **changed)
        assert not independent_check(table, bad), what
        assert verified(table, bad) in (2, 3), what
        if count % 40 == 0:
            assert commanded(table, bad) == verified(table, bad), what
        count += 1
    assert count > 150


def test_resealed_damage_is_found_by_adding_up(tmp_path: Path) -> None:
    """Whoever seals a wrong witness again deceives neither of the two."""
    table, certificate, _ = make_files(tmp_path)
    with np.load(certificate) as archive:
        arrays = {name: archive[name] for name in archive.files}
    bad = tmp_path / "bad.npz"
    for name in ("numerators", "indices", "signs", "hidden", "known"):
        for i in range(len(arrays[name])):
            other = arrays[name].copy()
            other[i] = not other[i] if other.dtype == bool else other[i] + 1
            changed = {**arrays, name: other}
            changed["seal"] = np.array(seal(changed))
            np.savez(bad, **changed)
            # More known or fewer hidden cells may do no harm: the two must agree.
            answer = independent_check(table, bad)
            assert (verified(table, bad) == 0) == answer, (name, i)
            if name in ("numerators", "signs"):
                assert not answer


@pytest.mark.slow
def test_each_changed_number_of_the_table_is_noticed(tmp_path: Path) -> None:
    from evosdc.io import read_table, write_labelled

    table, certificate, _ = make_files(tmp_path)
    with table.open(newline="") as stream:
        lines = list(csv.reader(stream))
    head = lines[0]
    bad, side = tmp_path / "bad.csv", tmp_path / "bad.csv.json"
    original = read_table(table)
    for i in range(1, len(lines)):
        for name in ("value", "lower", "upper", "lpl", "upl", "spl", "status"):
            k = head.index(name)
            changed = [list(line) for line in lines]
            if name == "status":
                changed[i][k] = "s" if lines[i][k] == "u" else "u"
            elif name == "upper":
                changed[i][k] = "100000"
            elif name == "lower":
                changed[i][k] = "-1"
            else:
                changed[i][k] = str(float(lines[i][k]) + 0.5)
            with bad.open("w", newline="") as stream:
                csv.writer(stream).writerows(changed)
            # With the side file of the table as it was it is no table at all.
            side.write_text(Path(f"{table}.json").read_text())
            assert not independent_check(bad, certificate), (i, name)
            assert verified(bad, certificate) == 2, (i, name)
            if name == "value":  # breaks its totals
                continue
            column = getattr(original, name).copy()
            column[i - 1] = changed[i][k]
            write_labelled(bad, original.replace(**{name: column}), force=True)
            assert not independent_check(bad, certificate), (i, name)
            assert verified(bad, certificate) == 3, (i, name)


def test_nothing_of_the_search_and_no_solver_is_loaded(tmp_path: Path) -> None:
    table, certificate, published = make_files(tmp_path, counts=True)
    code = f"""
import sys
sys.argv = ["evosdc", "verify", {str(table)!r}, {str(certificate)!r},
            "--published", {str(published)!r}]
from evosdc.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
found = [m for m in sys.modules if m.split(".")[0] in ("highspy", "numba", "pyscipopt")
         or m.startswith("evosdc.suppress") or m.startswith("evosdc.api")]
assert not found, found
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SAFE: 2 cells judged")
