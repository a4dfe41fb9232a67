"""Protect two tables of the same records together: files, link, and the result.

Run: python examples/link_tables.py
"""

import tempfile
from pathlib import Path

import evosdc

# Two tables that an office has as files, with the tree of their common variable.
PLACES = "North\n@A\n@B\nSouth\n@C\n@D\n"
BY_PLACE = {
    "place": ["A", "B", "C", "D"],
    "value": [5, 40, 60, 70],
    "status": ["u", "s", "s", "s"],
    "upl": [2, 0, 0, 0],
}
BY_SIZE = {"size": ["small", "large"], "value": [65, 110]}

with tempfile.TemporaryDirectory() as folder:
    place, size = Path(folder) / "place.csv", Path(folder) / "size.csv"
    (Path(folder) / "place.hrc").write_text(PLACES, encoding="utf-8")
    tree = evosdc.read_hierarchy(Path(folder) / "place.hrc")
    reading = evosdc.Read(hierarchies={"place": tree})
    # A table that is written keeps its levels and its tree, in a file beside it.
    evosdc.write_table(place, evosdc.link([BY_PLACE], read=reading).table)
    evosdc.write_table(size, evosdc.link([BY_SIZE]).table)

    linked = evosdc.link([evosdc.read_table(place), evosdc.read_table(size)])
    print([len(cells) for cells in linked.cell_numbers], len(linked.table))

    result = evosdc.protect(linked, time_limit=20, stop=evosdc.Stop(evaluations=20))
    print(result)
    assert result.safe

    # What was written is read back, with its verdict, and every file is checked.
    result.write(Path(folder) / "protected")
    stored = evosdc.read_result(Path(folder) / "protected")
    print(stored.verdict.word, stored.claim.publication)
    assert stored.claim == result.claim
