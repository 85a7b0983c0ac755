"""Asking torch's worker server in a rank, which is C++ and answers also where Python cannot."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

#: A stuck rank's recorder holds a few thousand calls.
LARGEST = 256 << 20
ANSWER_S = 5.0
#: How many times the patience for the next byte a whole answer may take.
WHOLE = 6

#: A path is a UNIX socket, a word is `http://host:port`.
Address = Path | str

#: With stacks and the device's progress, and without, in the order in which they are asked for.
FLIGHT = ("dump_nccl_trace_pickle", "fr_trace_json")


class _Local(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def fetch(address: Address, method: str, path: str, seconds: float = ANSWER_S) -> bytes | None:
    """What it answers; None where it does not, or not well. Raises nothing."""
    try:
        connection = _connection(address, seconds)
    except ValueError:
        return None
    over = threading.Event()
    timer: threading.Timer | None = None
    try:
        connection.connect()
        # Each byte of an answer has its patience, and so would somebody who sends one now and then for ever.
        timer = threading.Timer(WHOLE * seconds, _hang_up, (connection.sock, over))
        timer.daemon = True
        timer.start()
        connection.request(method, path, headers={"Content-Length": "0"} if method == "POST" else {})
        response = connection.getresponse()
        body = response.read(LARGEST)
        return body if response.status == 200 and not over.is_set() else None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        if timer is not None:
            timer.cancel()
        connection.close()


def _hang_up(connected: socket.socket, over: threading.Event) -> None:
    over.set()
    with contextlib.suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _connection(address: Address, seconds: float) -> http.client.HTTPConnection:
    if isinstance(address, Path):
        return _Local(address, seconds)
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"no address of a server: {address}")
    return http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=seconds)


def handler(address: Address, name: str, seconds: float = ANSWER_S) -> bytes | None:
    return fetch(address, "POST", f"/handler/{name}", seconds)


def handlers(address: Address) -> list[str]:
    """What a worker server can be asked for; empty for anything that is none."""
    try:
        names = json.loads(fetch(address, "GET", "/handler/") or b"null")
    except (ValueError, RecursionError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def flight(address: Address) -> tuple[str, bytes] | None:
    """torch's own recorder, and in which form: `pickle` or `json`."""
    offered = handlers(address)
    for name in FLIGHT:
        if name in offered and (data := handler(address, name)):
            return name.rpartition("_")[2], data
    return None
