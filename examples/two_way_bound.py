"""How far from optimal is a heuristic? Compare its cost with a lower bound.

Run: python examples/two_way_bound.py
"""

import evosdc
from evosdc.instances import make

table = make("class1", seed=3, rows=15, columns=15)
bound = evosdc.lower_bound(table)
print(f"no safe pattern costs less than {bound.value:,.0f} ({bound.method} cuts)")

sources = {method.name: method.source for method in evosdc.methods()}
for name in ("hypercube", "sp", "optimal"):
    result = evosdc.protect(
        table, method=name, seed=1, stop=evosdc.Stop(evaluations=50)
    )
    assert result.cost >= bound.value * (1 - 1e-9)
    print(f"{name:>10}: {result.cost:,.0f} ({result.verdict.word}), {sources[name]}")
