"""Make synthetic people and measure what they are worth and what they give away.

Run: python examples/synthesise_people.py
"""

import numpy as np
import pyarrow as pa

import evosdc

draw = np.random.default_rng(1)
age = draw.integers(0, 6, 600)
income = np.clip(age + draw.integers(-1, 2, 600), 0, 6)
people = pa.table(
    {
        "age": [f"{10 * a}-{10 * a + 9}" for a in age],
        "region": draw.choice(["North", "East", "South"], 600),
        "income": [f"class {x}" for x in income],
    }
)

# What each column is taken for, and what will be done with it.
for column in evosdc.inspect(people):
    print(f"{column.name}: {column.kind}, {column.what}")

roles = {"key": ["age", "region"], "target": "income"}
made = evosdc.synthesise(people, **roles, generations=20, time_limit=None, seed=1)
print(made)
print(made.copies[0].slice(0, 3).to_pylist())

# Any other file can be measured likewise: here each variable shuffled by itself.
names = people.column_names
shuffled = pa.table({n: people[n].take(draw.permutation(600)) for n in names})
measured = evosdc.evaluate(people, shuffled, **roles, seed=1)
print(measured.verdict.word, {name: round(x, 3) for name, x in measured.risk.items()})
