"""Protect a table of firms: tabulate, protect, audit, write.

Run: python examples/protect_firms.py
"""

import tempfile
from pathlib import Path

import evosdc
from evosdc.instances import business

firms = business(seed=1, firms=1500)
tabulated = evosdc.tabulate(
    firms.records,
    by=["region", "activity"],
    value="turnover",
    hierarchies=firms.hierarchies,
    rules=["p:15", "freq:3"],
)
print(tabulated)

result = evosdc.protect(tabulated, time_limit=20, seed=1)
print(result)
for row in result.published.slice(0, 12).to_pylist():
    print(row)

# The judge again, from the table alone.
audit = evosdc.audit(tabulated, result.pattern)
print(audit)
assert audit.safe

# The folders of the command line: what may leave the office, and what must not.
with tempfile.TemporaryDirectory() as folder:
    publish = result.write(Path(folder) / "protected", formats="grid,parquet")
    print(publish.name, sorted(path.name for path in publish.iterdir()))
