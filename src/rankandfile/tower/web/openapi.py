"""The OpenAPI document of the routes: made from the same table that serves them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from rankandfile.tower.web.answers import Problem
from rankandfile.tower.web.route import PATTERNS, Route

_REFUSALS = {
    400: "The request is broken.",
    401: "A token is needed.",
    403: "This visitor may not do that.",
    404: "There is no such thing.",
    408: "The body came too slowly.",
    409: "A bound is reached.",
    413: "The body is too large.",
    415: "The body is of another kind.",
    421: "The tower is not known under this name.",
    422: "The body, or a parameter, says nothing that is understood.",
    429: "Too many at a time.",
    503: "The store does not answer, or more comes in than it can write.",
    507: "The disk is full; nothing was kept.",
}
_ALWAYS = (401, 403, 404, 421, 503)
_PART = re.compile(r"\{(\w+)(?::\w+)?\}")


def openapi(routes: Sequence[Route], version: str) -> dict[str, Any]:
    told = [route for route in routes if route.is_api]
    types = [Problem, *(route.gives for route in told if route.gives is not None)]
    types += [route.takes[1] for route in told if route.takes is not None and route.takes[1] is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in told:
        path = _PART.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Rank & File tower",
            "version": version,
            "description": "What sentinels tell of running jobs, and what the tower knows of them.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(route: Route, schema_of: dict[str, dict[str, Any]]) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": route.told}
    if route.gives is not None:
        answer["content"] = {route.media: {"schema": schema_of[repr(route.gives)]}}
    elif route.status != 204:
        answer["content"] = {route.media: {"schema": {"type": "string"}}}
    problem = {"application/json": {"schema": schema_of[repr(Problem)]}}
    refusals = sorted({*_ALWAYS, *route.refuses} - ({401, 403} if route.open else set()))
    found: dict[str, Any] = {
        "summary": route.told,
        "operationId": f"{route.method.lower()}{re.sub(r'[^a-z]+', '_', route.path)}".rstrip("_"),
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": _named(name)}
            for name in _PART.findall(route.path.replace(":path", ""))
        ]
        + [
            {"name": one.name, "in": "query", "description": one.told, "schema": one.schema}
            for one in route.query
        ],
        "responses": {
            str(route.status): answer,
            **{str(status): {"description": _REFUSALS[status], "content": problem} for status in refusals},
        },
    }
    if route.open:
        found["security"] = []
    if route.takes is not None:
        media, takes = route.takes
        schema = {"type": "string", "format": "binary"} if takes is None else schema_of[repr(takes)]
        found["requestBody"] = {"required": True, "content": {media: {"schema": schema}}}
    return found


def _named(name: str) -> dict[str, Any]:
    return {"type": "string", **({"pattern": PATTERNS[name]} if name in PATTERNS else {})}
