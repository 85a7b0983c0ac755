"""What a machine says that it has: lines of a stranger, of which each is understood or left."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from rankandfile.evidence.files.blobs import shown
from rankandfile.evidence.files.members import inside

FIRST, LAST = "raf-collect 1", "end"
_FILE = re.compile(r"(file|stack) (\d{1,18}) (\d{1,11}) (/.+)")


def sent_as(path: str) -> str:
    """A path, or a member's name -> the name below the archive's top that both mean."""
    return shown(inside(path)[0])


class Listed(Struct, frozen=True):
    path: str
    """There."""
    name: str
    """Here, below the machine's folder: leads nowhere else."""
    size: int
    seconds: int
    """When it was written."""
    stack: bool = False
    """Taken just now."""

    @property
    def asked(self) -> str:
        """As the far side is asked for it: below `/`, and never like an option."""
        return f".{self.path}"

    @property
    def sent(self) -> str:
        """As the archive calls it."""
        return sent_as(self.path)


class Listing(Struct, kw_only=True):
    files: list[Listed] = []
    notes: list[str] = []
    can_condense: bool = False


def read(lines: Iterable[str], top: str = "") -> Listing:
    """`top`: a folder there, of which what lies below it is called by the rest of its path."""
    found: dict[str, Listed] = {}
    listing = Listing()
    for line in lines:
        if match := _FILE.fullmatch(line):
            kind, size, seconds, path = match.groups()
            # A name with a backslash is another one to the tar that reads it from a list.
            if "\\" in path:
                listing.notes.append(f"{shown(path)}: left out, for the backslash in its name")
                continue
            name = sent_as(path.removeprefix(f"{top}/") if top else path)
            name = f"stacks/{name.rpartition('/')[2]}" if kind == "stack" else name
            found[name] = Listed(path, name, int(size), int(seconds), kind == "stack")
        elif line.startswith("note "):
            listing.notes.append(shown(line.removeprefix("note ")))
        elif line == "can condense":
            listing.can_condense = True
    listing.files = list(found.values())
    return listing
