"""Texts that are no longer than a reader of reports takes: one long list would have the whole report refused."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, inspect

T = TypeVar("T", bound=Struct)


def fitted(told: T) -> T:
    """The same; what its field cannot hold is cut, and ends in `…`."""
    most = _most(type(told))
    fits: dict[str, Any] = {}
    for name in told.__struct_fields__:
        value = getattr(told, name)
        if isinstance(value, tuple):
            fits[name] = tuple(fitted(one) if isinstance(one, Struct) else one for one in value)
        elif isinstance(value, str) and len(value) > most.get(name, len(value)):
            fits[name] = f"{value[: most[name] - 1]}…"
    return msgspec.structs.replace(told, **fits)


@functools.cache
def _most(kind: type[Struct]) -> Mapping[str, int]:
    """How long the texts of each field may be."""
    told = inspect.type_info(kind)
    assert isinstance(told, inspect.StructType)
    return {
        field.name: field.type.max_length
        for field in told.fields
        if isinstance(field.type, inspect.StrType) and field.type.max_length is not None
    }
