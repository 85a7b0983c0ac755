"""The ranks that a page is about: those that one launcher started on this node, and what other nodes put beside."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rankandfile.capture.gather import fr_trace, worker_server
from rankandfile.capture.watch import ring_files
from rankandfile.capture.watch.rings import Seen, look

#: Where the nodes of a job put their rings for each other, in a dump folder that they share.
SHARED = "rings"


#: Kinds of dump that are written unless others are asked for.
DUMPS = ("verdict", "stacks", "fr_trace", "pickles")


@dataclass(frozen=True)
class Settings:
    """What the rank that starts the page tells it, through a pipe: a command line can be read by others."""

    rings: str
    """The folder where this job's ranks of this node record."""
    launcher: int
    """Their parent, which tells the rings of one job from another's."""
    attempt: int
    sockets: str
    """The folder of the ranks' worker servers: `rank-PID.sock`."""
    world: int
    shared: bool = False
    """There are other nodes, and the dump folder is where they meet."""
    store: str = ""
    """The job's store: address and port."""
    host: str = "127.0.0.1"
    port: int = 0
    token: str = ""
    dump_dir: str = ""
    dump_interval: float = 60.0
    keep_dumps: int = 20
    dumps: list[str] = field(default_factory=lambda: list(DUMPS))
    fetch_timeout: float = 10.0
    source: str = ""
    said: str = ""
    """A file to write the page's address into."""


def read(text: str) -> Settings:
    """Raises ValueError or TypeError for what is no settings."""
    return Settings(**json.loads(text))


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
    found = worker_server.handler(path, handler, settings.fetch_timeout if seconds is None else seconds)
    return "Error: no answer" if found is None else found.decode("utf-8", "replace")


def share(settings: Settings, own: Sequence[Rank]) -> None:
    """Put this node's rings where the other nodes look. Raises OSError."""
    folder = _shared(settings)
    folder.mkdir(parents=True, exist_ok=True)
    for one in own:
        if one.here:
            part = folder / f".{one.seen.path.name}.{os.getpid()}"
            with contextlib.suppress(FileNotFoundError):
                ring_files.copy(one.seen.path, part)
                part.replace(folder / one.seen.path.name)


def dump(one: Rank) -> dict[str, Any] | None:
    """The rank's calls in the form of torch's recorder; None where its ring cannot be read."""
    found = fr_trace.dump(one.seen.path)
    return found[1] if found is not None else None
