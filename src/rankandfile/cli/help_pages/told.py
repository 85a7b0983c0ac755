"""What a command says of its options and arguments: the same for `--help` and for its page.

Read off its function, since Typer's own objects change with its versions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

_NUMBERS = (int, float)
_VALUES = {int: "N", float: "X", Path: "PATH"}


class Parameter(NamedTuple):
    key: str
    """As the function calls it."""
    names: list[str]
    """`--format`, `-f`; empty for an argument."""
    metavar: str
    default: str
    told: str
    number: bool = False


def parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        told = next((one for one in get_args(hints.get(name)) if hasattr(one, "param_decls")), None)
        if told is None:
            continue
        kind, default = get_args(hints[name])[0], parameter.default
        # In `Annotated`, Typer keeps the first name as the default.
        names = [str(one) for one in (told.default, *(told.param_decls or ())) if str(one).startswith("-")]
        yield Parameter(
            key=name,
            names=names,
            metavar="" if kind is bool else told.metavar or _metavar(kind, name if not names else ""),
            default="required" if default is inspect.Parameter.empty and names else _default(default),
            told=" ".join((told.help or "").split()),
            number=kind in _NUMBERS or any(one in _NUMBERS for one in get_args(kind)),
        )


def _metavar(kind: Any, name: str) -> str:
    inner = [one for one in get_args(kind) if one is not type(None)]
    if inner:
        return _metavar(inner[0], name)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(one.value) for one in kind)
    return name.upper() or _VALUES.get(kind, "TEXT")


def _default(default: Any) -> str:
    if default is inspect.Parameter.empty or default is None or isinstance(default, bool):
        return ""
    said = default.value if isinstance(default, Enum) else default
    return str(int(said) if isinstance(said, float) and said.is_integer() else said)
