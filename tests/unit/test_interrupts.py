"""Ctrl-C is not lost where an exception cannot be passed on."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evosdc.compile.cache import KernelCache
from evosdc.compile.interrupts import held_back
from evosdc.compile.kernels import kernel


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def in_a_callback() -> None:
    """Press Ctrl-C while compiled code calls Python back."""
    ctypes.CFUNCTYPE(None)(press)()


class Finalised:
    """Ctrl-C is pressed while such an object is finalised."""

    def __del__(self) -> None:
        press()


@pytest.mark.parametrize("pressed", [in_a_callback, Finalised])
def test_ctrl_c_while_a_kernel_is_loaded_comes_after_it(
    pressed: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    load = KernelCache.load_overload

    def pressing(self: Any, sig: Any, target: Any) -> Any:
        pressed()
        return load(self, sig, target)

    @kernel
    def doubled(x: float) -> float:
        return 2.0 * x

    with monkeypatch.context() as patched:
        patched.setattr(KernelCache, "load_overload", pressing)
        with pytest.raises(KeyboardInterrupt):
            doubled(2.0)
    # It was compiled to the end.
    assert doubled.overloads
    assert doubled(2.0) == 4.0


def test_it_is_raised_after_the_outermost_block() -> None:
    reached = []

    def nested() -> None:
        with held_back() as outer:
            with held_back() as inner:
                press()
                assert (inner, outer) == ([signal.SIGINT], [])
            reached.extend(outer)

    with pytest.raises(KeyboardInterrupt):
        nested()
    assert reached == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_error_does_not_hide_it() -> None:
    def failing() -> None:
        with held_back():
            press()
            raise ValueError

    with pytest.raises(KeyboardInterrupt):
        failing()


def test_who_ignores_the_signal_goes_on_ignoring_it() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held_back() as asked:
        press()
    assert not asked


def test_other_threads_hold_nothing_back() -> None:
    found: list[Any] = []

    def work() -> None:
        with held_back():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
