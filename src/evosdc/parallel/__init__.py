"""One way to map a function over tasks: serial or processes, the same answers."""

from evosdc.parallel.mapping import Mapper, make_mapper

__all__ = ["Mapper", "make_mapper"]
