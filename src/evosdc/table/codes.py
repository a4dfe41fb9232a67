"""Spelling of codes: which spellings are one code, and which codes are totals.

An invisible blank must not make two codes of one: a cell hidden under one spelling
would be published under the other.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

# Blanks beyond ASCII, which spreadsheets and web pages use for a plain one.
ODD_BLANKS = "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# Blanks that are stripped from codes, after those beyond ASCII became plain ones.
BLANKS = " \t\n\r\x0b\x0c"
# Characters without width: byte-order marks and the like.
NO_WIDTH = "\u200b\u2060\ufeff"

_SWAP = str.maketrans({**dict.fromkeys(ODD_BLANKS, " "), **dict.fromkeys(NO_WIDTH)})

# Words that stand for a total in any table; compared without case and punctuation.
TOTAL_WORDS = frozenset(
    {
        "total",
        "totals",
        "tot",
        "_t",
        "all",
        "grand total",
        "sum",
        "overall",
        "gesamt",
        "insgesamt",
        "summe",
        "ensemble",
        "tous",
        "toutes",
        "totaal",
        "alle",
        "totale",
        "totali",
        "totales",
        "todos",
        "todas",
        "i alt",
        "yhteensä",
        "totalt",
        "summa",
        "ogółem",
        "celkem",
        "spolu",
        "összesen",
        "ukupno",
        "skupaj",
        "kokku",
        "kopā",
        "iš viso",
        "σύνολο",
        "общо",
        "всего",
        "toplam",
    }
)
MERGED = "differ in blanks or in how accents are written"
# Codes that are a total in some tables and an ordinary code in others.
MAYBE_TOTALS = frozenset({"t", "tt", "s", "a", "0", "00", "000", "9", "99", "999", "*"})


def tidy_code(code: str) -> str:
    """Return a code without surrounding blanks, its accents in composed form."""
    if code.isascii():
        return code.strip(BLANKS)
    return unicodedata.normalize("NFC", code.translate(_SWAP)).strip(BLANKS)


def is_total_word(code: str) -> bool:
    """Whether a code is a word for a total, in any case."""
    return _bare(code) in TOTAL_WORDS


def may_be_total(code: str) -> bool:
    """Whether a code is a total in some tables only, so that numbers must decide."""
    return _bare(code) in MAYBE_TOTALS


def merged_note(column: str, written: Iterable[str], codes: Iterable[str]) -> str:
    """Return a note on spellings that became one code; '' where none did."""
    spellings: dict[str, set[str]] = {}
    for raw, code in zip(written, codes, strict=True):
        spellings.setdefault(code, set()).add(raw)
    merged = [code for code, raw in spellings.items() if len(raw) > 1]
    if not merged:
        return ""
    count = sum(len(spellings[code]) for code in merged)
    return (
        f"column {column!r}: {count} codes that {MERGED} are taken for {len(merged)}: "
        f"{listed(merged)}"
    )


def look_alikes(column: str, codes: Sequence[str]) -> list[str]:
    """Return notes on codes, kept distinct, that differ in case or leading zeros."""
    notes: list[str] = []
    for what, key in (
        ("case", str.casefold),
        ("leading zeros", lambda c: c.lstrip("0") or "0" if c.isdecimal() else c),
    ):
        groups: dict[str, list[str]] = {}
        for code in dict.fromkeys(codes):
            groups.setdefault(key(code), []).append(code)
        twins = ["/".join(group) for group in groups.values() if len(group) > 1]
        if twins:
            notes.append(
                f"column {column!r}: codes that differ in {what} only are different "
                f"codes: {listed(twins)}"
            )
    return notes


def listed(words: Sequence[str], most: int = 5) -> str:
    """Join words for a sentence, only the first few of many."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(map(repr, words[:most])) + more


def _bare(code: str) -> str:
    return tidy_code(code).casefold().strip("<>()[]{}-–—=:. ")
