"""Hierarchies of tau-Argus: ``.hrc`` files and digits of codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from evosdc.errors import HierarchyError, InputError
from evosdc.io.columns import read_columns
from evosdc.io.encoding import line_error, read_text
from evosdc.io.paths import PathLike, write_text
from evosdc.io.suffixes import format_to_read, load
from evosdc.table import TOTAL, Hierarchy
from evosdc.table.hierarchy import tidy_code


def read_hrc(path: PathLike, *, lead: str = "@", total: str = TOTAL) -> Hierarchy:
    """Read a ``.hrc`` file: one code per line, after as many `lead` as it is deep.

    tau-Argus pads codes to a fixed width; here blanks around codes are removed, as in
    the data.
    """
    if not lead:
        raise InputError(
            "the lead string of a hierarchy is empty",
            expected="the mark that shows depth, usually @",
            hint="give <HIERLEADSTRING> in the .rda file",
        )
    total = tidy_code(total)
    parent_of: dict[str, str] = {}
    above: list[str] = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        # With a blank in front, the marks of depth would become part of the code.
        rest, depth = (line.lstrip() if lead.strip() else line), 0
        while rest.startswith(lead):
            rest, depth = rest[len(lead) :], depth + 1
            rest = rest.lstrip() if lead.strip() else rest
        code = tidy_code(rest)
        fail = partial(line_error, path, number, error=HierarchyError)
        if not code:
            raise fail(
                "a depth without a code",
                expected=f"a code after {lead * depth!r}",
                hint="remove the line",
            )
        if depth > len(above):
            raise fail(
                f"code {code!r} is {depth} deep under a code {len(above) - 1} deep",
                expected="at most one level deeper than the line before",
                hint=f"correct the number of {lead!r}",
            )
        if code in parent_of or code == total:
            raise fail(
                f"code {code!r} stands twice",
                expected="each code once, and the total not at all",
                hint="rename or remove one of them",
            )
        parent_of[code] = above[depth - 1] if depth else total
        above = [*above[:depth], code]
    if not parent_of:
        raise HierarchyError(
            f"{path} holds no codes",
            expected="one code per line",
            hint="check the file",
        )
    return Hierarchy.from_parents(parent_of, total)


def read_hierarchy(path: PathLike, *, total: str = TOTAL) -> Hierarchy:
    """Read a hierarchy: a ``.hrc`` file, or columns of codes from coarse to fine.

    Examples
    --------
    >>> import evosdc, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "region.hrc")
    ...     _ = path.write_text("North\\n@N1\\n@N2\\nSouth\\n")
    ...     evosdc.read_hierarchy(path).codes
    ('Total', 'North', 'N1', 'N2', 'South')
    """
    read = load(format_to_read(path, "hierarchy").read["hierarchy"])
    found: Hierarchy = read(path, total=total)
    return found


def read_levels(path: PathLike, *, total: str = TOTAL) -> Hierarchy:
    """Read a hierarchy from a file with one column per level, from coarse to fine."""
    frame = read_columns(path)
    rows = zip(
        *(frame[column].to_pylist() for column in frame.column_names), strict=True
    )
    # A total in the first column or a blank at the end adds nothing.
    return Hierarchy.from_levels(
        ([code for code in row if code is not None] for row in rows), total
    )


def write_hrc(
    path: PathLike,
    hierarchy: Hierarchy,
    *,
    lead: str = "@",
    force: bool = False,
    public: bool = False,
) -> None:
    """Write a ``.hrc`` file, without the total; `public` as in `write_csv`."""
    lines: list[str] = []
    stack = [(node, 0) for node in reversed(hierarchy.parts[0])]
    while stack:
        node, depth = stack.pop()
        lines.append(lead * depth + hierarchy.codes[node])
        stack += [(child, depth + 1) for child in reversed(hierarchy.parts[node])]
    write_text(path, "".join(line + "\n" for line in lines), force, public=public)


def hierarchy_from_levels(
    codes: Iterable[str], digits: Sequence[int], *, total: str = TOTAL
) -> Hierarchy:
    """Build a hierarchy from the digits of codes, such as ``<HIERLEVELS> 3 1 1``.

    With digits 3, 1, 1 the parent of code 34100 is 3410, whose parent is 341. Shorter
    codes are at the level of their last digit. Codes are sorted, as in tau-Argus.
    """
    cuts: list[int] = []
    for width in digits:
        if width > 0:
            cuts.append((cuts[-1] if cuts else 0) + width)
    if not cuts:
        raise HierarchyError(
            f"levels {list(digits)} leave nothing of a code",
            expected="the number of digits of each level, such as 3 1 1",
            hint="correct <HIERLEVELS>",
        )
    rows: list[list[str]] = []
    for code in sorted({tidy_code(c) for c in codes} - {tidy_code(total), ""}):
        if len(code) > cuts[-1]:
            raise HierarchyError(
                f"code {code!r} has {len(code)} digits",
                expected=f"at most {cuts[-1]}, the sum of the levels",
                hint="correct the code or <HIERLEVELS>",
            )
        rows.append([code[:cut] for cut in cuts if cut < len(code)] + [code])
    return Hierarchy.from_levels(rows, total)
