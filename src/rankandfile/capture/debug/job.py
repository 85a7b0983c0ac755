"""The ranks that a page is about: those that one launcher started on this node, and what other nodes put beside."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankandfile.capture.debug.settings import Settings
from rankandfile.capture.gather import fr_trace
from rankandfile.capture.gather import worker_server as asking
from rankandfile.capture.watch.rings import Seen, look

#: Where the nodes of a job put their rings for each other, in a dump folder that they share.
SHARED = "rings"


class Rank(NamedTuple):
    seen: Seen
    here: bool
    """A process of this node, whose worker can be asked."""


def ranks(settings: Settings) -> list[Rank]:
    """By rank. A rank that was started anew counts once, by its newest ring."""
    folder = Path(settings.rings)
    own = [one for one in look(folder) if _belongs(one, settings)]
    host = os.uname().nodename
    others = [
        one
        for one in (look(_shared(settings)) if settings.shared and settings.dump_dir else [])
        if (one.host != host or not _belongs(one, settings)) and one.attempt == settings.attempt
    ]
    found: dict[int, Rank] = {}
    for one, here in [*((one, False) for one in others), *((one, True) for one in own)]:
        before = found.get(one.rank)
        if before is None or (one.lives, one.started) >= (before.seen.lives, before.seen.started):
            found[one.rank] = Rank(one, here)
    return [found[rank] for rank in sorted(found)]


def _belongs(one: Seen, settings: Settings) -> bool:
    words = one.path.stem.split("-")
    return one.attempt == settings.attempt and len(words) > 3 and words[3] == str(settings.launcher)


def _shared(settings: Settings) -> Path:
    return Path(settings.dump_dir) / SHARED


def ask(settings: Settings, one: Rank, handler: str, seconds: float | None = None) -> str:
    """What the rank's worker server says; `Error: …` where it says nothing."""
    if not one.here:
        return "Error: on another node"
    if not one.seen.lives:
        return "Error: the process is gone"
    path = Path(settings.sockets) / f"rank-{one.seen.pid}.sock"
    found = asking.handler(path, handler, settings.fetch_timeout if seconds is None else seconds)
    return "Error: no answer" if found is None else found.decode("utf-8", "replace")


def share(settings: Settings, own: Sequence[Rank]) -> None:
    """Put this node's rings where the other nodes look. Raises OSError."""
    folder = _shared(settings)
    folder.mkdir(parents=True, exist_ok=True)
    for one in own:
        if one.here:
            part = folder / f".{one.seen.path.name}.{os.getpid()}"
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(one.seen.path, part)
                part.replace(folder / one.seen.path.name)


def dump(one: Rank) -> dict[str, Any] | None:
    """The rank's calls in the form of torch's recorder; None where its ring cannot be read."""
    found = fr_trace.dump(one.seen.path)
    return found[1] if found is not None else None
