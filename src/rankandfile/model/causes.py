"""The causes: what a verdict may name, what each means, and what to do about it.

A cause is one file in `rankandfile/reason/causes`, with its finding below these words. Whoever renders a diagnosis
needs the words alone, also of one that was saved long ago. So the files are found here, by the name of their folder
and when the first of them is asked for; what else they hold is `rankandfile.reason.causes`' business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal

from msgspec import Struct

from rankandfile import listing

from .diagnosis import Probe, Remedy

Family = Literal[
    "paths", "arguments", "host", "process", "device", "fabric", "start_and_end", "not_a_fault", "honesty"
]

#: Family -> its title, in the order of every table of causes.
FAMILIES: dict[Family, str] = {
    "paths": "Ranks took different paths",
    "arguments": "Arguments differ",
    "host": "A host did not get there",
    "process": "A process is gone",
    "device": "The device",
    "fabric": "The fabric",
    "start_and_end": "Start and end",
    "not_a_fault": "Not a fault",
    "honesty": "Honesty",
}

#: Of a send or receive that was not made, as whoever names its rank begins.
LEFT_MESSAGE_OUT = "left out a message"
#: Of a rank in a circle of messages, as its own words begin.
RECEIVES_FROM, SENDS_TO = "receives from rank", "sends to rank"

_FOLDER = "rankandfile.reason.causes"
_LAST = 1 << 20


class Cause(Struct, frozen=True, kw_only=True):
    word: str
    """What `--format json` has in `cause`; the name of the file."""
    family: Family
    place: int = _LAST
    """Where it stands among those of its family: the lower, the earlier."""
    meaning: str
    """One sentence."""
    help: str
    """Why it hangs, and where to look."""
    remedies: tuple[Remedy, ...] = ()
    anti_advice: tuple[str, ...] = ()
    """What not to do: sentences that begin with 'Do not'."""
    probes: tuple[Probe, ...] = ()
    """What would confirm it."""
    did: str = ""
    """What its culprits did or are, behind their names in the headline: 'rank 2 DID'; for one as for several."""
    title: str
    """Of its page in the documentation."""
    page: str
    """What the page tells, in Markdown, between the meaning and the recorded incident."""
    scenario: str = ""
    """The hang of the lab that the page shows."""
    shown_from: str = "evidence"
    """The part of that incident that is read; where it is only a part, without the source."""


class _Causes(Mapping[str, Cause]):
    """Word -> cause, family by family."""

    @cached_property
    def _of_word(self) -> dict[str, Cause]:
        families = list(FAMILIES)
        found = listing.members(_FOLDER, "CAUSE", Cause)
        for cause in found:
            if cause.family not in FAMILIES:
                raise ValueError(f"cause {cause.word}: {cause.family} is no family of causes")
        for module, cause in zip(listing.modules(_FOLDER), found, strict=True):
            if (name := module.__name__.rpartition(".")[2]) != cause.word:
                raise ValueError(f"{name}.py is to be named after its cause, whose word is {cause.word}")
        found.sort(key=lambda cause: (families.index(cause.family), cause.place, cause.word))
        return {cause.word: cause for cause in found}

    def __getitem__(self, word: str) -> Cause:
        try:
            return self._of_word[word]
        except KeyError:
            raise KeyError(f"no cause is called {word!r}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._of_word)

    def __len__(self) -> int:
        return len(self._of_word)


CAUSES: Mapping[str, Cause] = _Causes()
