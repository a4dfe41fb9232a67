"""One way to spread work: here, in processes or on a cluster, with the same answers."""

from evosdc.parallel.cluster import Cluster, joined
from evosdc.parallel.crew import Closing, Crew, Hands, Help, SerialCrew, Task, open_crew

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
