"""Protect a table of firms: tabulate, protect, audit, write, verify.

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
    rules=["p:15", "freq:3"],
    read=evosdc.Read(hierarchies=firms.hierarchies),
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
    protected = Path(folder) / "protected"
    publish = result.write(protected, formats="grid,parquet")
    print(publish.name, sorted(path.name for path in publish.iterdir()))
    # Whoever has the table can check the proof: no search, no solver.
    proof = protected / "confidential" / "certificate.npz"
    report = evosdc.verify(tabulated, proof, published=publish / "published.csv")
    print(report.word)
    assert report.holds
