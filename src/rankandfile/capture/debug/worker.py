"""Asking a rank through the worker server of torch, which runs in C++ and answers also where Python cannot."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path
from typing import NamedTuple

#: A stuck rank's answer is small; a profile is not.
LARGEST = 256 << 20


class Answer(NamedTuple):
    status: int
    """As of HTTP; 0 where there was no answer."""
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class _Local(http.client.HTTPConnection):
    """HTTP over a UNIX socket."""

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def ask(path: Path, handler: str, timeout: float) -> Answer:
    """What the rank's handler says; why not, where it says nothing. Raises nothing."""
    connection = _Local(path, timeout)
    try:
        connection.request("POST", f"/handler/{handler}")
        response = connection.getresponse()
        return Answer(response.status, response.read(LARGEST))
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return Answer(0, f"no answer: {why}".encode())
    finally:
        connection.close()
