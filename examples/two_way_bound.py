"""How far from optimal is a heuristic? Compare its cost with a lower bound."""

from evosdc.instances import make
from evosdc.suppress.exact.bounds import cut_bound
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import find_method
from evosdc.suppress.search import Search

problem = Problem.of(make("class1", seed=3, rows=40, columns=40))
bound = cut_bound(problem).value
print(f"no safe pattern costs less than {bound:,.0f}")
for name in ("hypercube", "sp", "gensup", "optimal"):
    method = find_method(name)
    pattern = method.run(problem, method.configure({}), Search(seed=1))
    print(f"{name:>10}: {pattern.cost:,.0f}")
