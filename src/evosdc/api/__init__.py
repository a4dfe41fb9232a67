"""The verbs of the library.

For tables: tabulate, link, protect, audit, verify, lower_bound, methods. For microdata:
inspect, synthesise, evaluate.
"""

from evosdc.api.audit import audit as audit
from evosdc.api.lower_bound import LowerBound as LowerBound
from evosdc.api.lower_bound import lower_bound as lower_bound
from evosdc.api.microdata import evaluate as evaluate
from evosdc.api.microdata import inspect as inspect
from evosdc.api.microdata import synthesise as synthesise
from evosdc.api.protect import MethodInfo as MethodInfo
from evosdc.api.protect import methods as methods
from evosdc.api.protect import protect as protect
from evosdc.api.tabulate import link as link
from evosdc.api.tabulate import tabulate as tabulate
from evosdc.api.verify import verify as verify
