"""Heuristics by name: rules that no contract of torch's gives, so that each can be switched off and its worth measured.

A rule is marked where it is defined, by a decorator or by an `if RULE.off`; `switched_off("its name")` then answers
without it, in this thread and for as long as the block lasts. Nobody but the lab does that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar, overload

from msgspec import Struct

P = ParamSpec("P")
R = TypeVar("R")

HEURISTICS: dict[str, Heuristic] = {}
"""Those of all modules that are imported, by name."""

_off: ContextVar[frozenset[str]] = ContextVar("_off", default=frozenset())
_spoke: ContextVar[set[str] | None] = ContextVar("_spoke", default=None)


class Heuristic(Struct, frozen=True):
    name: str
    meaning: str
    """In one line, as the table of `raf lab ablate` shows it."""

    def __post_init__(self) -> None:
        if self.name in HEURISTICS:
            raise ValueError(f"two heuristics are called {self.name}")
        HEURISTICS[self.name] = self

    @property
    def off(self) -> bool:
        """Ask only where the rule is about to decide something: whoever asks counts as having had a say."""
        if (spoke := _spoke.get()) is not None:
            spoke.add(self.name)
        return self.name in _off.get()


@overload
def heuristic(name: str, meaning: str) -> Callable[[Callable[P, R | None]], Callable[P, R | None]]: ...
@overload
def heuristic(name: str, meaning: str, otherwise: object) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def heuristic(
    name: str, meaning: str, otherwise: Any = None
) -> Callable[[Callable[P, Any]], Callable[P, Any]]:
    """Marks a function as a heuristic. Switched off it answers `otherwise`, as where it has nothing to say."""
    rule = Heuristic(name, meaning)

    def mark(function: Callable[P, Any]) -> Callable[P, Any]:
        @wraps(function)
        def answer(*args: P.args, **kwargs: P.kwargs) -> Any:
            found = function(*args, **kwargs)
            if found is otherwise or not (_off.get() or _spoke.get() is not None):
                return found
            return otherwise if found != otherwise and rule.off else found

        return answer

    return mark


@contextmanager
def switched_off(*names: str) -> Iterator[None]:
    """Answers without these heuristics."""
    before = _off.set(_off.get() | frozenset(names))
    try:
        yield
    finally:
        _off.reset(before)


@contextmanager
def heard() -> Iterator[set[str]]:
    """The names of the heuristics that have a say meanwhile: switching off any other one changes nothing."""
    names: set[str] = set()
    before = _spoke.set(names)
    try:
        yield names
    finally:
        _spoke.reset(before)
