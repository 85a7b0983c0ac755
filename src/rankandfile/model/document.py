"""Documents that are published: how they are written, and the JSON Schema of their keys."""

from __future__ import annotations

from typing import Any

import msgspec


def pretty(value: object) -> bytes:
    """JSON as a person can read it too."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def schema_of(document: type[msgspec.Struct], name: str, title: str) -> dict[str, Any]:
    """The published JSON Schema of what `pretty` writes of `rankandfile.NAME/1`: every key is always there."""
    schema = msgspec.json.schema(document)
    for part in schema["$defs"].values():
        if part.get("type") == "object":
            part["required"] = list(part["properties"])
    schema["$defs"][document.__name__]["properties"]["schema"] = {"const": f"rankandfile.{name}/1"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rankandfile:{name}:1",
        "title": title,
        **schema,
    }
