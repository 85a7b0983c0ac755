"""Who may see the page: whoever has the token, and came by the address that it is at."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Literal

COOKIE = "raf_debug"
Refusal = Literal[401, 403]


def refused(token: str, given: str, headers: Mapping[str, str], loopback: bool) -> Refusal | None:
    """401 without a token, 403 with a wrong one; None for whoever may look. `given` is that of the address."""
    # A page of somebody else's in the same browser can let a name of its own point here.
    if loopback and not _is_local(headers.get("Host", "")):
        return 403
    shown = [given, _bearer(headers.get("Authorization", "")), _cookie(headers.get("Cookie", ""))]
    if any(hmac.compare_digest(one.encode(), token.encode()) for one in shown if one):
        return None
    return 403 if any(shown) else 401


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_local(host: str) -> bool:
    name = host.rpartition(":")[0] if host.count(":") == 1 or host.startswith("[") else host
    return is_loopback(name.strip("[]"))


def _bearer(header: str) -> str:
    kind, _, value = header.partition(" ")
    return value.strip() if kind.lower() == "bearer" else ""


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""
