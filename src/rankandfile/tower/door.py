"""Who may come in, and how far.

Programs send a token. People sign in with it once and get a cookie, or come through a proxy that says who they are. A
share link opens one job for reading, until it expires. Without a token a tower listens to its own machine only, and
then it looks at the name under which it was reached: a web page that leads its own name here comes under that.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from rankandfile.tower.errors import Refused
from rankandfile.tower.settings import Settings

SIGNED_IN = "raf-tower"
SHARED = "raf-share"
SIGNED_IN_S = 30 * 86400
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_READING = ("GET", "HEAD")


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """`job` is the only one that may be seen; None: all."""

    name: str
    job: str | None = None
    program: bool = False
    """It sent the token itself, as no page of another site can let a browser do."""


class Door:
    def __init__(self, settings: Settings, secret: str) -> None:
        self._settings, self._secret = settings, secret.encode()
        self._token = None if settings.token is None else _digest(settings.token)

    def enter(self, request: HTTPConnection, job: str | None = None) -> Visitor:
        """Who it is. `job`: what is asked for, where it is of one job. Raises Refused."""
        self._rightly_named(request)
        visitor = self._known(request) or self._guest(request)
        if visitor is None:
            raise Refused(401, "token", "a token is needed")
        if visitor.job is not None and visitor.job != job:
            raise Refused(403, "shared", "this link shows one job, and only that")
        method = str(request.scope.get("method", "GET"))
        if method not in _READING and not visitor.program and not _of_our_page(request):
            raise Refused(403, "origin", "a page of another site may change nothing here")
        return visitor

    def sign_in(self, token: str) -> str | None:
        """The cookie of who has the token."""
        if self._token is None or not hmac.compare_digest(_digest(token), self._token):
            return None
        return self._sealed("in", "", int(time.time()) + SIGNED_IN_S)

    def share(self, job: str, until: int) -> str:
        return self._sealed("job", job, until)

    def shared_job(self, link: str) -> str | None:
        """The job that the link opens; None for one that has expired, or is none of ours."""
        return self._opened("job", link)

    def _known(self, request: HTTPConnection) -> Visitor | None:
        header = self._settings.trust_header
        if header and request.client and request.client.host in self._settings.trust_from:
            name = request.headers.get(header, "").strip()
            if name:
                return Visitor(name=name[:200])
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        if self._token is not None and scheme.lower() == "bearer":
            if hmac.compare_digest(_digest(sent.strip()), self._token):
                return Visitor(name="token", program=True)
            raise Refused(401, "token", "that is not the token")
        if self._token is None and not header:
            return Visitor(name="this machine")
        cookie = request.cookies.get(SIGNED_IN, "")
        return Visitor(name="signed in") if self._opened("in", cookie) is not None else None

    def _guest(self, request: HTTPConnection) -> Visitor | None:
        if str(request.scope.get("method", "GET")) not in _READING:
            return None
        shared = self.shared_job(request.cookies.get(SHARED, ""))
        return None if shared is None else Visitor(name="shared", job=shared)

    def _rightly_named(self, request: HTTPConnection) -> None:
        hosts = self._settings.hosts
        if self._token is not None and not hosts:
            return
        name = _without_port(request.headers.get("host", ""))
        if name not in (*LOOPBACK, *hosts):
            raise Refused(421, "host", "the tower is not known under this name: --allow-host adds it")

    def _sealed(self, kind: str, what: str, until: int) -> str:
        text = f"{kind}\n{until}\n{what}".encode()
        return f"{_letters(text)}.{_letters(self._seal(text))}"

    def _opened(self, kind: str, sealed: str) -> str | None:
        text, _, seal = sealed.partition(".")
        try:
            said, given = _bytes(text), _bytes(seal)
            known, until, what = said.decode().split("\n", 2)
        except ValueError:
            return None
        if not hmac.compare_digest(self._seal(said), given) or known != kind:
            return None
        return what if int(until) > time.time() else None

    def _seal(self, text: bytes) -> bytes:
        # Who changes the token ends what it has opened.
        return hmac.digest(self._secret + (self._token or b""), text, "sha256")


def _of_our_page(request: HTTPConnection) -> bool:
    """Programs send neither header; browsers send both, and no page can forge them."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()


def elsewhere(host: str, settings: Settings) -> str | None:
    """Why a tower may not listen at this host."""
    if host in (*LOOPBACK, "::1") or settings.token is not None:
        return None
    return "beyond this machine the tower needs a token: --token-file"


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _letters(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(letters: str) -> bytes:
    return urlsafe_b64decode(letters.encode("ascii") + b"=" * (-len(letters) % 4))
