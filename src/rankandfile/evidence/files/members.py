"""The names of one archive's members, and what is to be said about them: a few lines, however many."""

from __future__ import annotations

import re
from collections import Counter

from rankandfile.evidence.files.blobs import shown
from rankandfile.model.ledger import Note

_SPELLED_OUT = 3
"""Notes of one kind per archive; the rest is a number."""

_DRIVE = re.compile(r"^[A-Za-z]:")
COLLECTING = ".raf-collect"
"""Where `raf collect` notes what it has brought, in the folder that it brings it to."""
_JUNK = re.compile(
    r"(^|/)(\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*)$"
    rf"|(^|/)(__MACOSX|\.git|__pycache__|{re.escape(COLLECTING)})(/|$)"
)


def is_junk(name: str) -> bool:
    """What desktops and tools leave in folders and archives, and nobody meant to send."""
    return _JUNK.search(name) is not None


def inside(name: str) -> tuple[str, bool]:
    """The name without anything that leads out of the archive, and whether it tried to."""
    steps = _DRIVE.sub("", name).split("/")
    kept = "/".join(step for step in steps if step not in ("", ".", ".."))
    tried = name.startswith("/") or ".." in steps or _DRIVE.match(name) is not None
    return kept or "unnamed", tried


class Members:
    """Names members, and collects what was wrong with them."""

    def __init__(self, archive: str) -> None:
        self._archive = archive
        self._seen: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._notes: list[Note] = []
        self.count = 0

    def source(self, name: str) -> str:
        """What a person calls the member: its name as it would be inside the archive."""
        self.count += 1
        name, tried = inside(name)
        name = shown(name)
        self._seen[name] += 1
        times = self._seen[name]
        source = f"{self._archive}!/{name}" if times == 1 else f"{self._archive}!/{name}#{times}"
        if tried:
            self.say(
                "leads out", source, "its name in the archive leads out of it; nothing was written there"
            )
        if times > 1:
            self.say("twice", source, f"the archive has this name {times} times; each is read")
        return source

    def skip(self, kind: str, name: str) -> None:
        self.say(kind, f"{self._archive}!/{shown(inside(name)[0])}", f"{_article(kind)} {kind}; skipped")

    def say(self, kind: str, source: str, what: str) -> None:
        self._kinds[kind] += 1
        if self._kinds[kind] <= _SPELLED_OUT:
            self._notes.append(Note(file=source, where="", what=what))

    def notes(self) -> list[Note]:
        more = {kind: times - _SPELLED_OUT for kind, times in self._kinds.items() if times > _SPELLED_OUT}
        return self._notes + [
            Note(file=self._archive, where="", what=f"{times:,} more members like these ({kind})")
            for kind, times in more.items()
        ]


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"
