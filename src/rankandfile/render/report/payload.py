"""The pictures as JSON inside the page: columns and numbers, every string once."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from rankandfile.model.pictures import Pictures

from .safe import visible

#: What could end the element that holds it, or open another.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def payload(pictures: Pictures) -> str:
    """JSON that can stand in a script element, whatever it holds: ASCII only, without angle brackets."""
    score = pictures.score
    data = {
        "kinds": msgspec.to_builtins(score.kinds),
        "frames": msgspec.to_builtins(score.frames),
        "sheets": msgspec.to_builtins(score.sheets),
        "stands": msgspec.to_builtins(pictures.stacks.groups),
        "taken_from": pictures.stacks.taken_from,
    }
    text = json.dumps(_seen(data), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES)


def _seen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _seen(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        # The long columns are numbers: they are not looked into one by one.
        return value if value and isinstance(value[0], int) else [_seen(item) for item in value]
    return visible(value) if isinstance(value, str) else value
