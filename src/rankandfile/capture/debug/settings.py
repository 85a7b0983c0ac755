"""What the rank that starts the page tells it, through a pipe: a command line can be read by others."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

#: Kinds of dump that are written unless others are asked for.
DUMPS = ("verdict", "stacks", "fr_trace", "pickles")


@dataclass(frozen=True)
class Settings:
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


def written(settings: Settings) -> str:
    return json.dumps(asdict(settings))
