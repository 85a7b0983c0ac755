"""Just enough TOML writing for truth files: scalars, lists of scalars, tables and arrays of tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def dumps(document: Mapping[str, Any]) -> str:
    """Scalars first, then tables, so that every key belongs to the table it was written for."""
    lines: list[str] = []
    _table(document, (), lines)
    return "\n".join(lines).strip() + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    for key, value in table.items():
        if value is not None and not _is_table(value):
            lines.append(f"{key} = {_value(value)}")
    for key, value in table.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            lines.extend(["", f"[{'.'.join(here)}]"])
            _table(value, here, lines)
        elif _is_table(value):
            for item in value:
                lines.extend(["", f"[[{'.'.join(here)}]]"])
                _table(item, here, lines)


def _is_table(value: Any) -> bool:
    listed = isinstance(value, (list, tuple)) and bool(value) and isinstance(value[0], Mapping)
    return isinstance(value, Mapping) or listed


def _value(value: Any) -> str:
    if isinstance(value, str):
        if "\n" in value and "'''" not in value and "\r" not in value:
            return f"'''\n{value}'''"
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    return repr(value)
