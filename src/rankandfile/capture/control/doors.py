"""Who may come in where a controller or a worker listens: this machine alone, or who has the job's certificates.

Whoever reaches one of Monarch's ports can run anything behind it. What Monarch offers against that is TLS in which both
sides show a certificate, so that no other port than one on loopback is opened without it.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

#: In a folder of certificates, by Monarch's own names for them: the settings, and the files, which are its usual ones.
FILES = {"HYPERACTOR_TLS_CERT": "tls.crt", "HYPERACTOR_TLS_KEY": "tls.key", "HYPERACTOR_TLS_CA": "ca.crt"}

#: For a worker to take a connection; to take one while a job runs; to object to a certificate.
_REACH_S, _ANSWER_S, _OBJECT_S = 10.0, 2.0, 0.5
#: Workers that are asked at a time.
_AT_A_TIME = 32


class NoWay(Exception):
    """To a worker, or none that is safe; says why."""


def split(worker: str) -> tuple[str, int]:
    """Host and port of `host:port` or `[address]:port`. Raises NoWay."""
    host, _, port = worker.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16 or set("/@*") & set(host):
        raise NoWay(f"a host is given as HOST:PORT, not {worker!r}")
    return host.strip("[]"), int(port)


def scheme(workers: Sequence[str], certificates: Path | None) -> str:
    """Monarch's transport for these addresses. Raises NoWay where one of them must not be opened.

    With certificates, first asked before anything of Monarch's is imported: it reads its settings only then.
    """
    if certificates is not None:
        _ = _context(certificates)
        os.environ |= {name: str((certificates / file).absolute()) for name, file in FILES.items()}
        return "tls"
    for worker in workers:
        if not _is_loopback(split(worker)[0]):
            raise NoWay(
                f"{worker} can be reached from other machines, and whoever reaches it can run anything there: "
                "give certificates with --tls, or a loopback address"
            )
    return "tcp"


def knocked(workers: Sequence[str], certificates: Path | None) -> str:
    """This machine's address, as the first worker's would call it, once all have let it in. Raises NoWay."""
    context = None if certificates is None else _context(certificates)
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        first, *_ = pool.map(partial(_knock, context=context), workers)
        return first


def answers(worker: str) -> bool:
    """Whether there is a worker still."""
    try:
        socket.create_connection(split(worker), _ANSWER_S).close()
    except OSError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _context(certificates: Path) -> ssl.SSLContext:
    """Raises NoWay."""
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    certificate, key, authority = (certificates / file for file in FILES.values())
    for path in (certificate, key, authority):
        if not path.is_file():
            raise NoWay(f"no certificates in {certificates}: {path.name} is missing")
    try:
        found.load_cert_chain(certificate, key, password=_no_password)
        found.load_verify_locations(authority)
    except (OSError, ValueError) as error:
        raise NoWay(f"the certificates in {certificates} cannot be used: {_reason(error)}") from error
    return found


def _no_password() -> str:
    raise ValueError("the key is encrypted")  # nobody is there to be asked for it


def _knock(worker: str, context: ssl.SSLContext | None) -> str:
    host, port = split(worker)
    try:
        with socket.create_connection((host, port), _REACH_S) as there:
            me = str(there.getsockname()[0])
            if context is not None:
                with context.wrap_socket(there, server_hostname=host) as inside:
                    _hear_objections(inside)
            return me
    except ssl.SSLError as error:
        raise NoWay(
            f"the worker at {worker} and this controller do not trust each other: {_reason(error)}"
        ) from error
    except OSError as error:
        raise NoWay(f"no worker answers at {worker}: {error.strerror or error}") from error


def _hear_objections(inside: ssl.SSLSocket) -> None:
    """A server says only after the greetings that a certificate does not please it; else it waits to be spoken to."""
    inside.settimeout(_OBJECT_S)
    try:
        if not inside.recv(1):
            raise ConnectionResetError("it hangs up")
    except TimeoutError:
        return


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, ssl.SSLError):
        return (error.reason or str(error)).replace("_", " ").lower()
    return str(error)
