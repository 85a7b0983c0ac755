"""What options mean, where that is plain: a path, a number, a word of a list.

Typer builds a validator of Pydantic for each option of a command, whether it was given or not, and that takes as long
as reading a small case. So plain values are taken by hand; whatever is not plain, or not allowed, goes to Typer's own.
What that refuses is said in our words. Where Typer is built another way, nothing changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args, get_origin

from typer import BadParameter

from .wrong_values import unreadable, what_is_wrong

if TYPE_CHECKING:
    from typer._click.core import Command, Context

_NUMBERS = {int: re.compile(r"-?\d{1,15}"), float: re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")}
_ASKS_MORE = ("parser", "click_type", "exists", "resolve_path", "allow_dash", "writable", "clamp")
_HOLDER = "_runtime_param"


class _Unsure:
    """Not plain."""


UNSURE: Final = _Unsure()


def lighten(command: Command, above: Context | None = None) -> None:
    """Have a command of Typer, or all those of a group, take plain values by hand."""
    context = command.context_class(command, parent=above, **command.context_settings)
    for inner in dict(getattr(command, "commands", {})).values():
        lighten(inner, context)
    for param in command.get_params(context):
        if hasattr(param, _HOLDER) and hasattr(param, "type_descriptor"):
            setattr(param, _HOLDER, _ByHand())


class _ByHand:
    """Stands where Typer keeps the validator of a parameter."""

    def coerce(self, value: object, *, param: object, ctx: object) -> object:
        several = getattr(param, "multiple", False) or getattr(param, "nargs", 1) == -1
        if value is None:
            return () if several else None
        kind = getattr(param, "type_descriptor", None)
        rules = getattr(kind, "parameter_info", None)
        found = plainly(value, getattr(kind, "annotation", None), rules)
        if not isinstance(found, _Unsure):
            return found
        setattr(param, _HOLDER, None)
        try:
            typers: object = param.get_runtime_param().coerce(value, param=param, ctx=ctx)  # type: ignore[attr-defined]
        except BadParameter as error:
            error.message = what_is_wrong(value, getattr(kind, "annotation", None), rules) or error.message
            raise
        return typers


def plainly(value: object, kind: object, rules: object = None) -> object:
    """The value as an option of this kind has it; `UNSURE` if it is not plain that this is right."""
    if any(getattr(rules, name, None) for name in _ASKS_MORE):
        return UNSURE
    if get_origin(kind) is list and isinstance(value, list | tuple):
        return _each(value, get_args(kind)[0], rules)
    if kind in _NUMBERS and isinstance(kind, type):
        return _number(value, kind, rules)
    if kind is Path and isinstance(value, str | Path):
        return UNSURE if unreadable(Path(value)) else Path(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((one for one in kind if value is one or value == one.value), UNSURE)
    return value if kind in (str, bool) and type(value) is kind else UNSURE


def _each(values: Iterable[object], kind: object, rules: object) -> object:
    found = [plainly(value, kind, rules) for value in values]
    return UNSURE if any(isinstance(one, _Unsure) for one in found) else found


def _number(value: object, kind: type, rules: object) -> object:
    if isinstance(value, str) and _NUMBERS[kind].fullmatch(value):
        value = kind(value)
    least, most = (getattr(rules, name, None) for name in ("min", "max"))
    if type(value) is not kind:
        return UNSURE
    fits = (least is None or value >= least) and (most is None or value <= most)
    return value if fits else UNSURE
