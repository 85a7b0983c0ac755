"""A tower on an address, until it is told to end."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple

import uvicorn

from rankandfile.tower.app import application
from rankandfile.tower.settings import Settings
from rankandfile.tower.store.engine import Engine
from rankandfile.tower.tower import Beside

_GRACE_S = 3
#: Connections beyond are answered 503, and cost nothing more.
_MOST_CONNECTIONS = 8_192


class CannotListen(ValueError):
    """There can be no server at that address; one line says why."""


class Place(NamedTuple):
    socket: socket.socket
    host: str
    """As it stands in an address."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.socket.getsockname()[1]}"


def host_and_port(address: str) -> tuple[str, int]:
    """`8770` and `:8770` are this machine only. Raises CannotListen."""
    name, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise CannotListen("neither a port nor HOST:PORT")
    return name.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def listen(host: str, port: int) -> Place:
    """Raises CannotListen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise CannotListen(f"cannot listen there: {error.strerror or error}") from error
    return Place(made, f"[{host}]" if family is socket.AF_INET6 else host)


def serve(
    place: Place, settings: Settings, engine: Callable[[], Engine], beside: Sequence[Beside] = ()
) -> None:
    config = uvicorn.Config(
        application(settings, engine, beside),
        log_level="warning",
        access_log=False,
        server_header=False,
        # Who came is what the socket says, unless a proxy is believed: then by its own header alone.
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_S,
    )
    uvicorn.Server(config).run(sockets=[place.socket])
