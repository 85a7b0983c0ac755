"""One table tells what is served: the server routes by it, the OpenAPI document and the tests are made from it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

#: Of a job, as it stands in addresses and labels.
JOB = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
CASE = r"[0-9a-f]{32}"
_NAMES = {"job": re.compile(JOB), "case": re.compile(CASE)}
PATTERNS = {"job": f"^{JOB}$", "case": f"^{CASE}$"}

#: Gets what the tower has, and the request.
Call = Callable[[Any, Request], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True)
class Query:
    name: str
    told: str
    schema: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Route:
    path: str
    call: Call
    told: str
    method: str = "GET"
    query: tuple[Query, ...] = ()
    takes: tuple[str, object] | None = None
    """The media type of its body, and the type that describes it; None in place of a type: bytes."""
    gives: object = None
    """The type that describes its answer; None: no JSON."""
    media: str = "application/json"
    status: int = 200
    refuses: tuple[int, ...] = ()
    """Statuses beyond those that any route may answer with."""
    open: bool = False
    """Anybody may ask it."""
    is_api: bool = True


def well_named(values: dict[str, str]) -> bool:
    """Whether what stands in an address can be a name of ours at all."""
    return all(_NAMES[name].fullmatch(value) for name, value in values.items() if name in _NAMES)
