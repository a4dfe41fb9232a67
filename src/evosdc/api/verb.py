"""The decorator of every verb: its arguments are checked, and it is one job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from evosdc.compile import small_jobs
from evosdc.options import Takes, check_arguments

P = ParamSpec("P")
R = TypeVar("R")


def verb(takes: Mapping[str, Takes]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a verb that takes these objects of options, by its keywords."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            check_arguments(function, takes, args, kwargs)
            with small_jobs.job():
                return function(*args, **kwargs)

        return call

    return decorate
