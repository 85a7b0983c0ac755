"""Asks NCCL's RAS service, which listens in the processes of a job: one connection for each answer, as `ncclras` does.

Whatever answers may be something else: what it says is bounded, in size and in time.
"""

from __future__ import annotations

import contextlib
import socket
import time
from typing import NamedTuple

from rankandfile.evidence.text.logs.ras.as_json import MOST

PORT = 28028
#: How long its processes may wait for each other; how long we wait in all; how long for a connection, and for a word.
GATHER_S, ANSWER_S, WORD_S = 5, 30.0, 1.0
#: How often it is tried.
TRIES = 4
_BLOCK, _LINE = 1 << 16, 4096


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address(text: str) -> Address:
    """`HOST:PORT`, `[IPV6]:PORT`, `HOST` or `:PORT`. Raises ValueError, with a sentence."""
    host, colon, port = text.rpartition(":")
    if not colon or "]" in port or (":" in host and not host.startswith("[")):
        host, port = text, ""
    if port and not (port.isdecimal() and 0 < int(port[:6]) < 1 << 16):
        raise ValueError(f"{text}: no port is called {port}")
    return Address(host.strip("[]") or "localhost", int(port or PORT))


def ask(where: Address) -> bytes:
    """An answer, as JSON where it is given, else as text with the ranks that it names. Raises OSError."""
    until = time.monotonic() + ANSWER_S
    try:
        return _tried(where, until, b"SET FORMAT json\n", b"STATUS\n")
    except _UnknownError:
        return _tried(where, until, None, b"VERBOSE STATUS\n")  # before 2.28.7 there is no JSON


def _tried(where: Address, until: float, form: bytes | None, command: bytes) -> bytes:
    """All processes of a node listen at one port: who is stopped gets the connection as well as any other."""
    for _ in range(TRIES - 1):
        with contextlib.suppress(_SilentError):
            return _asked(where, until, form, command)
    try:
        return _asked(where, until, form, command)
    except _SilentError:
        raise TimeoutError("NCCL's RAS does not answer") from None


class _UnknownError(Exception):
    """It does not know this format."""


class _SilentError(Exception):
    """Not a word came."""


def _asked(where: Address, until: float, form: bytes | None, command: bytes) -> bytes:
    with socket.create_connection(where, WORD_S) as connection:
        connection.settimeout(WORD_S)
        if not _said(connection, b"CLIENT PROTOCOL 2\n").upper().startswith(b"SERVER PROTOCOL "):
            raise OSError("what answers there is not NCCL's RAS")
        if _said(connection, b"TIMEOUT %d\n" % GATHER_S) != b"OK":
            raise OSError("NCCL's RAS does not take a timeout")
        if form is not None and _said(connection, form) != b"OK":
            raise _UnknownError
        connection.sendall(command)
        return _all_of(connection, until)


def _said(connection: socket.socket, command: bytes) -> bytes:
    """The one line that it answers to a command."""
    connection.sendall(command)
    line = b""
    while not line.endswith(b"\n"):
        try:
            block = connection.recv(_LINE)
        except TimeoutError:
            raise _SilentError from None
        if not block or len(line) + len(block) > _LINE:
            raise OSError(
                "NCCL's RAS closed the connection" if not block else "what answers is not NCCL's RAS"
            )
        line += block
    return line.strip()


def _all_of(connection: socket.socket, until: float) -> bytes:
    """Until it closes the connection."""
    blocks: list[bytes] = []
    size = 0
    while True:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("NCCL's RAS does not come to the end of its answer")
        connection.settimeout(left)
        block = connection.recv(_BLOCK)
        if not block:
            return b"".join(blocks)
        size += len(block)
        if size > MOST:
            raise OSError("what answers goes on for ever: not NCCL's RAS")
        blocks.append(block)
