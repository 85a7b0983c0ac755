"""Answers: JSON, errors, and the headers that all have."""

from __future__ import annotations

import base64
import hashlib

import msgspec
from starlette.responses import Response

from rankandfile.tower.errors import Refused

#: Nothing that the tower serves is to be guessed at, framed, or told to other sites.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_NOTHING = "default-src 'none'; frame-ancestors 'none'"


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """What is answered where there is nothing better."""

    error: str
    """A word for programs."""
    told: str
    """A sentence for people."""


def json(document: object, status: int = 200) -> Response:
    return Response(
        msgspec.json.encode(document),
        status,
        {**HEADERS, "Content-Security-Policy": _NOTHING, "Cache-Control": "no-store"},
        "application/json",
    )


def problem(refused: Refused) -> Response:
    answer = json(Problem(error=refused.word, told=refused.told), refused.status)
    if refused.after_s is not None:
        answer.headers["Retry-After"] = str(refused.after_s)
    if refused.status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def html(text: str, scripts: tuple[str, ...], styles: tuple[str, ...], status: int = 200) -> Response:
    """A page that runs these scripts and no others, and asks nobody but the tower."""
    policy = (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes(styles)}; img-src data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return Response(
        text.encode("utf-8", "replace"),
        status,
        {**HEADERS, "Content-Security-Policy": policy, "Cache-Control": "no-store"},
        "text/html",
    )


def _hashes(texts: tuple[str, ...]) -> str:
    return " ".join(f"'{sha256(text)}'" for text in texts) or "'none'"


def sha256(text: str) -> str:
    """As a Content-Security-Policy names an inline script or style that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
