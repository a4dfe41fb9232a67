"""One way to spread work: here, in processes or on a cluster, with the same answers."""

from evosdc.parallel.closing import Closing
from evosdc.parallel.cluster import Cluster, joined
from evosdc.parallel.crew import Crew, SerialCrew, Task
from evosdc.parallel.hands import Hands, Help
from evosdc.parallel.open import open_crew

__all__ = [
    "Closing",
    "Cluster",
    "Crew",
    "Hands",
    "Help",
    "SerialCrew",
    "Task",
    "joined",
    "open_crew",
]
