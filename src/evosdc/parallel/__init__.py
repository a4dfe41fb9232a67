"""One way to spread work: in this process or in several, with the same answers."""

from evosdc.parallel.crew import Crew, SerialCrew, Task
from evosdc.parallel.open import open_crew

__all__ = ["Crew", "SerialCrew", "Task", "open_crew"]
