"""What a cause is found by: a finder per way of finding it, a teller per way of knowing what one rank did instead.

A finder takes the facts and an end of waits, and returns a finding, or None where it has nothing to say:

    @finder(precedence=130)
    def left_the_loop(facts: Facts, wait_end: WaitEnd) -> Finding | None: ...

All finders are asked. Of what they find, a cause that another finding contains (`instead_of`) is not heard; of the rest
a named cause comes before `undetermined`, then the surest, then what explains the waits of most ranks, then what the
finder of the lowest precedence says.

A teller is asked about one rank that others wait for, and returns what that did instead of joining them. Those are
put together to one finding, by `finders/did_instead.py`:

    @teller(precedence=10)
    def by_a_signal(facts: Facts, asked: AskedRank) -> Story | None: ...

Tellers are asked in the order of their precedence, and the first that answers is believed. Those that rest on the end
of a process or on a failure of its own come first (10 to 70), then those that know only where it stands, `host_slow`
with 80 and `host_blocked` with 90, then weaker signs. What tells more of the same standing than a stack does, such as a
line of the rank's log, goes before 80: behind 90, it would be heard only where there is no stack.
`joined` is for what may also befall a rank that has joined the call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from rankandfile import listing

if TYPE_CHECKING:
    from .facts import Facts
    from .ranks.did_instead import AskedRank, Story
    from .verdict.finding import Finding
    from .waits.graph import WaitEnd

    Look = Callable[[Facts, WaitEnd], Finding | None]
    Tell = Callable[[Facts, AskedRank], Story | None]

Question = Literal["wait", "open wait", "job", "ended job", "logs"]
"""What a finder is asked about: an end of waits; one that nobody else could say anything of; a job in which no
recorded call hangs; a job of which every process is gone; what single lines of logs say of a job without a recorded
call. Where no wait is in question, its end is one without ranks
or calls, of the kind `none`."""

_FOLDERS = (
    "rankandfile.reason.causes",
    "rankandfile.reason.finders",
    "rankandfile.reason.finders.in_exchanges",
    "rankandfile.reason.finders.in_transfers",
    "rankandfile.reason.finders.whole_job",
)

Kind = TypeVar("Kind", "Finder", "Teller")


class Finder(Struct, frozen=True):
    look: Look
    precedence: int
    of: Question

    def __call__(self, facts: Facts, wait_end: WaitEnd) -> Finding | None:
        found = self.look(facts, wait_end)
        if found is None or found.explains >= 0:
            return found
        return replace(found, explains=len(wait_end.victims))


class Teller(Struct, frozen=True):
    tell: Tell
    precedence: int
    """Who is asked first is believed first: a killed process may have raised something before, not the other way."""
    joined: int | None
    """The same, of a rank that has joined; None where that could tell nothing of it."""
    cause: str
    """The cause in whose file it is."""

    def __call__(self, facts: Facts, asked: AskedRank) -> Story | None:
        return self.tell(facts, asked)


def finder(*, precedence: int, of: Question = "wait") -> Callable[[Look], Finder]:
    return lambda look: Finder(look, precedence, of)


def teller(*, precedence: int, joined: int | None = None) -> Callable[[Tell], Teller]:
    return lambda tell: Teller(tell, precedence, joined, tell.__module__.rpartition(".")[2])


@cache
def finders(of: Question = "wait") -> tuple[Finder, ...]:
    """All that are to be asked, in the order in which they are preferred where two are equally sure."""
    found = (one for one in _all(Finder) if one.of == of)
    return tuple(sorted(found, key=lambda one: one.precedence))


@cache
def tellers() -> tuple[Teller, ...]:
    return tuple(sorted(_all(Teller), key=lambda one: one.precedence))


def _all(kind: type[Kind]) -> list[Kind]:
    """What the files of causes and of findings define; what one takes from another is the other's."""
    modules = [module for folder in _FOLDERS for module in listing.modules(folder)]
    return list(
        dict.fromkeys(one for module in modules for one in vars(module).values() if isinstance(one, kind))
    )
