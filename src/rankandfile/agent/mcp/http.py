"""Streamable HTTP, for those who have the token."""

from __future__ import annotations

import hashlib
import hmac
import socket
from typing import NamedTuple

import uvicorn
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from .cases import Cases
from .server import server

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class CannotListen(ValueError):
    """There can be no server at that address; one line says why."""


class Listener(NamedTuple):
    socket: socket.socket
    host: str
    """As it stands in an address."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.socket.getsockname()[1]}{PATH}"

    @property
    def is_loopback(self) -> bool:
        return self.host in LOOPBACK


def listen(address: str) -> Listener:
    """`8765` and `:8765` are this machine only. Raises CannotListen."""
    name, _, port = address.rpartition(":")
    host = name.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise CannotListen("neither a port nor HOST:PORT")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, int(port)), family=family)
    except OSError as error:
        raise CannotListen(f"cannot listen there: {error.strerror or error}") from error
    return Listener(made, f"[{host}]" if family is socket.AF_INET6 else host)


class Token(TokenVerifier):
    """The one token of this server."""

    def __init__(self, token: str) -> None:
        self._digest = _digest(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        # Digests are as long as each other: the time that this takes tells nothing of the token.
        if not hmac.compare_digest(_digest(token), self._digest):
            return None
        return AccessToken(token=token, client_id="token", scopes=[])


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def app(cases: Cases, hosts: list[str], token: str) -> Starlette:
    """`hosts`: the names under which clients reach the server. Others are refused, as a web page that had its own
    name lead to this machine would come under that."""
    named = [one for host in hosts for one in (host, f"{host}:*")]
    return server(cases).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            allowed_hosts=named,
            allowed_origins=[f"{scheme}://{one}" for scheme in ("http", "https") for one in named],
        ),
        token_verifier=Token(token),
        # No authorization server is behind this: the address only fills a field that the SDK demands.
        auth=AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None),
    )


def serve_http(cases: Cases, place: Listener, hosts: list[str], token: str) -> None:
    """Until it is interrupted. `hosts`: names by which this machine is reached, beside its own of the loopback."""
    config = uvicorn.Config(
        app(cases, [*LOOPBACK, place.host, *hosts], token),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(config).run(sockets=[place.socket])
