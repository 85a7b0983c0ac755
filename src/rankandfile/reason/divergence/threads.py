"""Which thread of a rank made a call, by the outermost frame of its stack: two threads come in any order."""

from __future__ import annotations

from msgspec import Struct

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Location
from rankandfile.reason import lookup
from rankandfile.reason.waits.facts import WaitFacts

from .code_paths import stack_of


class InThread(Struct, frozen=True):
    """A call that a thread made which Python began."""

    begins: Location
    """The program's own outermost line in that thread."""
    call: Location
    """The line of the call."""


def in_thread(facts: WaitFacts, row: Row | None) -> InThread | None:
    """None where the call was made in no thread that Python began."""
    number = row["stack"] if row is not None else None
    if number is None or number not in facts.programs.threads:
        return None
    own = stack_of(facts.case, number)
    if not own:
        return None
    begins = Location(file=own[0].file, line=own[0].line, function=own[0].function)
    return InThread(begins=begins, call=lookup.location_of(facts, row) or begins)


def of_another_thread(facts: WaitFacts, *rows: Row | None) -> InThread | None:
    """Of calls that a thread made, and another thread the others, the first; None where one thread made them all."""
    made = [in_thread(facts, row) for row in rows]
    first = next((one for one in made if one is not None), None)
    return first if len({one and (one.begins.file, one.begins.function) for one in made}) > 1 else None


def in_words(thread: InThread | None) -> str:
    if thread is None:
        return ""
    at = thread.begins
    place = f"{lookup.short_file(at.file or '')}:{at.line}"
    return f"Two threads of a rank make them, and which comes first is chance: one begins in {at.function}, {place}."
