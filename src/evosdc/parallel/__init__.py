"""One way to spread work: here, in processes or on a cluster, with the same answers."""

from evosdc.parallel.cluster import Cluster, joined
from evosdc.parallel.crew import Crew, SerialCrew, Task
from evosdc.parallel.open import open_crew

__all__ = ["Cluster", "Crew", "SerialCrew", "Task", "joined", "open_crew"]
