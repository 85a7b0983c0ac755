"""Which release of torch the files of one job tell: what was named comes before what lies beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from rankandfile.model.ledger import Note
from rankandfile.model.settings import Settings

from .pins import near

Read = Sequence[tuple[Path | None, Sequence[Settings]]]
"""Each file that was named with the settings in it; None: no file, but a stream."""


def settled(read: Read) -> list[Settings]:
    """The settings with the release that is told, and a note of any other that is pinned there."""
    parts = [part for _, found in read for part in found]
    named = [(part.torch, part.torch_from) for part in parts if part.torch_from]
    found = [release for path, _ in read if path is not None and (release := near(path)) is not None]
    if not named:
        return (
            [replace(part, torch=found[0][0], torch_from=found[0][1]) for part in parts] if found else parts
        )
    # An image has its own torch, though it does not tell which.
    taken = next((one for one in named if one[0]), named[0])
    others = dict.fromkeys(one for one in (*named, *found) if one[0] and _plain(one[0]) != _plain(taken[0]))
    if not others or not taken[0]:
        return parts
    notes = tuple(
        Note(
            file="torch",
            where="",
            what=f"{release} is {told_by}, and this answer is of {taken[0]}, {taken[1]}: --torch, if it is not that",
        )
        for release, told_by in others
    )
    first, *rest = parts
    return [replace(first, notes=(*first.notes, *notes)), *rest]


def _plain(release: str | None) -> str:
    """Without how it was built: `+cu124`."""
    return (release or "").partition("+")[0]


def is_pin(settings: Settings) -> bool:
    """Of a file that tells the release alone, and nothing that a process is started with."""
    place, told_by = settings.place, settings.torch_from
    alone = Settings(place=place, torch=settings.torch, torch_from=told_by)
    return settings == alone and told_by.endswith(f"in {Path(place.file).name}")
