"""What a shape is: a literal by which its lines are found, a pattern that takes them apart, and what they are worth.

The names of a pattern's groups are the names of the event's columns; any other name becomes an entry of `fields`.
So a new shape is one line in one file of `shapes`.

A space in a pattern is one or more white spaces, so ` ?` is never none: write `\\s*`. A group of digits becomes a
number; keep the `0x` of a hexadecimal one inside the group. What stands before the match may be anything, so begin a
pattern that must begin the line with `^`.

The id is of a family (`rankandfile.model.log_shapes`), and the family decides whether a line tells of its writer or of
another process: a launcher's line with an id of the writer's own would accuse the rank in whose file it stands. `rank`,
`local_rank`, `host`, `pid` and `exit_code` are of the process that the line is about. A signal follows from an exit
code (137 as well as -9), a rank from what other lines tell of the host, the process or the file.

An event is in the table at once. A kind that is there already means what it meant: the verdict reads it without more.
One that nobody reads is quoted where nothing else decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rankandfile.evidence.text.logs.event import NARROW, WIDE, WORDS, Event, clean, integer
from rankandfile.evidence.text.logs.ranklists import parse as ranks_in
from rankandfile.model.log_shapes import FAMILIES, WORTH_OF_ROLE, family
from rankandfile.model.ranks import MOST_RANKS

if TYPE_CHECKING:
    from rankandfile.evidence.text.logs.context import Context

#: A literal must be at least this long, so that a look at every fourth byte of a file cannot miss it.
SHORTEST = 7

_SECONDS = {"timeout_s": "timeout_ms", "waited_s": "waited_ms"}

#: Puts a value into the column of an event that has that name.
Put = Callable[[Event, str, str], None]


class Shape(Struct, frozen=True, dict=True):
    kind: str
    id: str
    """W1, H3, P7: a family of `rankandfile.model.log_shapes`, and a number. Several shapes may share it."""
    role: str
    """What a line is worth: origin, messenger, echo or fact, as `rankandfile.model.events` tells."""
    needles: str | tuple[str, ...]
    """Literals, one of which stands in every line that matches."""
    pattern: str
    """Searched for in the line without prefixes. A space stands for any white space, so wrapped lines match."""
    about_in: str | None = None
    """Whose numbers the `about` group of the pattern holds."""
    severe: bool = False
    """It counts only in a line that says to be a warning or worse, in its own words or in a prefix."""
    then: Callable[[Event, Context], None] | None = None
    """What more there is to do: read the lines that follow, or weigh the role."""

    def __post_init__(self) -> None:
        if self.role not in WORTH_OF_ROLE:
            raise ValueError(f"shape {self.id}: {self.role} is no role of an event")
        if family(self.id) not in FAMILIES:
            raise ValueError(
                f"shape {self.id}: {family(self.id)} is no family of rankandfile.model.log_shapes"
            )
        for literal in self.literals:
            if len(literal) < SHORTEST:
                raise ValueError(
                    f"shape {self.id} ({self.kind}): the literal {literal!r} is shorter than {SHORTEST} characters"
                )

    @cached_property
    def regex(self) -> re.Pattern[str]:
        try:
            return re.compile(bounded(self.pattern))
        except re.error as error:
            raise ValueError(f"shape {self.id} ({self.kind}): its pattern is none: {error}") from error

    @property
    def literals(self) -> tuple[str, ...]:
        return (self.needles,) if isinstance(self.needles, str) else self.needles

    @cached_property
    def puts(self) -> tuple[tuple[int, str, Put], ...]:
        """The pattern's groups by number, with their names and what puts their values into an event."""
        return tuple((number, name, putting(name)) for name, number in self.regex.groupindex.items())

    def fill(self, event: Event, match: re.Match[str]) -> None:
        """Put what the pattern's groups hold into the event."""
        for number, name, put in self.puts:
            if (value := match[number]) is not None:
                put(event, name, value)
        if event.about is not None:
            event.about_in = self.about_in


#: What real lines stay within by far. Without bounds, a line of 16,000 digits would be searched from each of them.
_BOUNDS = (
    (" ", r"\s{1,40}"),
    (r"\s*", r"\s{0,40}"),
    (r"\d+", r"\d{1,20}"),
    (r"\w+", r"\w{1,80}"),
    (r"\S+", r"\S{1,400}"),
    (r"[\w.-]+", r"[\w.-]{1,200}"),
    (r"[0-9a-f]+", r"[0-9a-f]{1,16}"),
    (".*?", ".{0,4000}?"),
)


def bounded(pattern: str) -> str:
    """The pattern as it is compiled: a space is any white space, and no repetition is endless."""
    for loose, tight in _BOUNDS:
        pattern = pattern.replace(loose, tight)
    return pattern


def putting(name: str) -> Put:
    """What puts a value into the column of that name; by any other name it goes to `fields`."""
    if name in WIDE:
        return _wide
    if name in NARROW:
        return _narrow
    if name in WORDS:
        return put_word
    if name == "about":
        return _about
    if name == "nranks":
        return _size
    return _seconds if name in _SECONDS else _field


def _wide(event: Event, name: str, value: str) -> None:
    if (number := integer(value)) is not None:
        setattr(event, name, number)


def _narrow(event: Event, name: str, value: str) -> None:
    if (number := integer(value, narrow=True)) is not None:
        setattr(event, name, number)
        if name == "rank":
            event.rank_from = "line"


def put_word(event: Event, name: str, value: str) -> None:
    setattr(event, name, clean(value, 200) or None)


def _about(event: Event, _: str, value: str) -> None:
    event.about = ranks_in(value)


def _seconds(event: Event, name: str, value: str) -> None:
    number = integer(value)
    if number is not None and abs(number) < 1 << 50:
        setattr(event, _SECONDS[name], number * 1000)


def _size(event: Event, name: str, value: str) -> None:
    """Of a communicator."""
    if (number := integer(value)) is not None and number <= MOST_RANKS:
        event.fields[name] = number


def _field(event: Event, name: str, value: str) -> None:
    event.fields[name] = value_of(value)


def value_of(text: str) -> Any:
    """A short decimal number as a number, anything else as bounded text."""
    if len(text) <= 15 and (bare := text.lstrip("-")).isdigit() and bare.isascii():
        return integer(text)
    return clean(text, 400)
