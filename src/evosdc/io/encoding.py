"""The encoding of a text file, decided in one place for every reader.

UTF-8 with or without a byte-order mark, UTF-16 with one, else cp1252: the encoding of
Windows programs in western Europe, which contains Latin-1 but for the characters from
0x80 to 0x9f (such as the euro sign). Anything else is an error that names the line: a
character read wrongly makes another code.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from evosdc.errors import EvosdcError, InputError
from evosdc.io.paths import PathLike, open_input

_LINE_END = re.compile("\r\n|\r|\n")
_BLOCK = 1 << 24  # bytes of a file held at a time
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_HEAD = 1 << 16
_UTF8 = ("utf-8", "utf-8-sig")
# Letters such as an e with an accent, written in UTF-8 and read as cp1252.
_UTF8_AS_CP1252 = re.compile(
    "[\u00c2\u00c3]["
    + bytes(b for b in range(0x80, 0xC0) if b not in b"\x81\x8d\x8f\x90\x9d").decode(
        "cp1252"
    )
    + "]"
)


@dataclass(frozen=True)
class TextKind:
    """The encoding of a text file and the line ends in it."""

    encoding: str
    ends: frozenset[str]

    @property
    def is_plain(self) -> bool:
        """Whether any program reads it alike: UTF-8 with one kind of line end."""
        return self.encoding in _UTF8 and len(self.ends) <= 1


def kind_of(path: PathLike) -> TextKind:
    """Read a file to find its encoding and line ends; raise if that is impossible."""
    with open_input(path) as stream:
        head = stream.read(4)
    encoding = next((e for mark, e in _MARKS.items() if head.startswith(mark)), "")
    try:
        return TextKind(encoding or "utf-8", _line_ends(path, encoding or "utf-8"))
    except UnicodeDecodeError:
        if encoding:
            raise _undecodable(path, encoding) from None
    try:
        return TextKind("cp1252", _line_ends(path, "cp1252"))
    except UnicodeDecodeError:
        raise _undecodable(path, "cp1252") from None


def read_text(path: PathLike) -> str:
    """Return a text file with Unix line ends."""
    return "".join(text_blocks(path))


def text_blocks(path: PathLike, kind: TextKind | None = None) -> Iterator[str]:
    """Yield a text file with Unix line ends in blocks of whole lines.

    `kind` is the answer of `kind_of`, if it is known.
    """
    for block in _decoded(path, (kind or kind_of(path)).encoding):
        yield block.replace("\r\n", "\n").replace("\r", "\n")


def line_error(
    path: PathLike,
    line: int,
    what: str,
    *,
    expected: str,
    hint: str = "",
    error: type[EvosdcError] = InputError,
) -> EvosdcError:
    """Return the error for a line of a file."""
    hint = hint or f"correct line {line}"
    return error(f"{path}, line {line}: {what}", expected=expected, hint=hint)


def first_line(path: PathLike) -> str:
    """Return the first line that is not blank, with its ASCII characters right.

    Others may be wrong: the encoding is known only after the whole file.
    """
    with open_input(path) as stream:
        head = stream.read(_HEAD)
    encoding = next((e for mark, e in _MARKS.items() if head.startswith(mark)), "utf-8")
    lines = head.decode(encoding, "replace").replace("\r", "\n").split("\n")
    return next((line for line in lines if line.strip()), "")


def _decoded(path: PathLike, encoding: str, errors: str = "strict") -> Iterator[str]:
    """Yield the text of a file unchanged, in blocks of whole lines."""
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    rest = ""
    with open_input(path) as stream:
        while raw := stream.read(_BLOCK):
            text = rest + decoder.decode(raw)
            # A carriage return at the end of a block may be half a line end.
            end = max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1
            rest = text[end:]
            if end:
                yield text[:end]
    rest += decoder.decode(b"", final=True)
    if rest:
        yield rest


def _line_ends(path: PathLike, encoding: str) -> frozenset[str]:
    """Decode a whole file; return its line ends, refuse what is not text."""
    found: set[str] = set()
    lines = 0
    for block in _decoded(path, encoding):
        if "\0" in block:
            raise InputError(
                f"{path}, line {lines + _line_in(block, chr(0))}: a NUL byte",
                expected="text in UTF-8, UTF-16 with a byte-order mark, or cp1252",
                hint="save the file as UTF-8",
            )
        if encoding == "cp1252" and (mixed := _UTF8_AS_CP1252.search(block)):
            line = lines + _line_in(block, mixed[0])
            raise InputError(
                f"{path} is not UTF-8, and line {line} is",
                expected="one encoding in all of a file",
                hint="save the file as UTF-8",
            )
        both = block.count("\r\n")
        counts = {
            "\r\n": both,
            "\n": block.count("\n") - both,
            "\r": block.count("\r") - both,
        }
        found |= {end for end, count in counts.items() if count}
        lines += sum(counts.values())
    return frozenset(found)


def _line_in(block: str, sign: str) -> int:
    """Return the number of the line of a block with a character, from 1."""
    return len(_LINE_END.findall(block, 0, block.index(sign))) + 1


def _undecodable(path: PathLike, encoding: str) -> InputError:
    line = 1
    for block in _decoded(path, encoding, errors="replace"):
        if "\ufffd" in block:
            line += _line_in(block, "\ufffd") - 1
            break
        line += len(_LINE_END.findall(block))
    name = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16"}.get(encoding)
    found = (
        f"bytes that are not {name}, as the mark at the beginning says"
        if name
        else "bytes that are neither UTF-8 nor cp1252"
    )
    return InputError(
        f"{path}, line {line}: {found}",
        expected="text in UTF-8, UTF-16 with a byte-order mark, or cp1252",
        hint="save the file as UTF-8",
    )
