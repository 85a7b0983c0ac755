"""A pickle read opcode by opcode, so that what becomes a key of a dict is looked at before it is hashed.

The formats have text for keys, and none that nests. The C unpickler cannot be asked to look, and is many times as fast:
it reads what cannot have such keys (see `quick_keys`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NoReturn

_PLAIN = (str, float, bytes, bool, type(None))
#: Longer ones take long to hash, each time anew.
_MOST_BITS, _MOST_PARTS = 1 << 16, 32


class NestedKey(pickle.UnpicklingError):
    """Something would be hashed that is no plain key."""


class _Opcodes(dict[int, Callable[[Any], None]]):
    """Python's own way to each opcode, as `pickle` has it."""

    def __missing__(self, opcode: int) -> NoReturn:
        raise pickle.UnpicklingError(f"invalid load key, {bytes([opcode])!r}")


class KeysFirst(pickle._Unpickler):
    """Python's own, which refuses keys that nest."""

    dispatch = _Opcodes(pickle._Unpickler.dispatch)


def _is_plain(key: object) -> bool:
    if type(key) is tuple:
        return len(key) <= _MOST_PARTS and not any(type(part) is tuple or not _is_plain(part) for part in key)
    return isinstance(key, _PLAIN) or (type(key) is int and key.bit_length() <= _MOST_BITS)


def _looked_at(opcode: bytes, keys: slice) -> None:
    """Before this opcode takes values off the stack, those that it makes keys are looked at."""
    plainly = KeysFirst.dispatch[opcode[0]]

    def look_first(unpickler: Any) -> None:
        if not all(map(_is_plain, unpickler.stack[keys])):
            raise NestedKey("refused: what it has for a key is no plain value, as a dump's keys are")
        plainly(unpickler)

    KeysFirst.dispatch[opcode[0]] = look_first


_looked_at(pickle.SETITEM, slice(-2, -1))
for _opcode in (pickle.SETITEMS, pickle.DICT):
    _looked_at(_opcode, slice(None, None, 2))
for _opcode in (pickle.ADDITEMS, pickle.FROZENSET):
    _looked_at(_opcode, slice(None))
