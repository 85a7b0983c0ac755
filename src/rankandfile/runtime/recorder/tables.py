"""Groups, shapes, threads and texts by number; each described once in the ring's table."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankandfile.runtime.recorder.ring import Ring

MASK = (1 << 64) - 1
_PRIME = 0x9E3779B97F4A7C15

#: Groups and kinds of size that are remembered; a job of ragged batches would fill the memory with them.
MOST_GROUPS, MOST_SHAPES = 10_000, 10_000

#: Texts of a job that a ring keeps: steps go on for ever.
MOST_EXCEPTIONS = 100
MOST_TEXTS = 4096


@dataclass
class GroupCounters:
    """A process group, with the counters of this rank's calls on it."""

    number: int
    hash: int = 0
    seq: int = 0
    p2p_seq: int = 0
    op_seq: int = 0


@dataclass(frozen=True)
class Shape:
    number: int
    in_elements: int
    out_elements: int
    digest: int
    """Of sizes and dtypes; the same on all ranks for the same ones."""


class Numbers:
    """Numbers from 1 for whatever repeats."""

    def __init__(self, ring: Ring, kind: bytes, most: int = 1 << 20) -> None:
        self._ring = ring
        self._kind = kind
        self._most = most
        self._known: dict[Any, int] = {}
        self._lock = threading.Lock()

    def of(self, key: Any, describe: Callable[[], list[object]]) -> int:
        number = self._known.get(key)
        return self._learn(key, describe) if number is None else number

    def _learn(self, key: Any, describe: Callable[[], list[object]]) -> int:
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                return known
            if len(self._known) >= self._most:
                return 0
            number = len(self._known) + 1
            if not self._ring.add(self._kind, [number, *describe()]):
                number = 0
            self._known[key] = number
            return number


def tensors(value: Any) -> list[Any]:
    """The tensors of an argument: one, a list, or a list of lists."""
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors(item)]
    return [] if value is None else [value]


def digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def rolled(before: int, contract: int) -> int:
    """The rolling hash of a group after one more call."""
    return ((before ^ contract) * _PRIME + 1) & MASK


def dtype_name(dtype: Any) -> str:
    """As torch's recorder spells it: Float, Long, BFloat16."""
    plain = str(dtype).removeprefix("torch.")
    return _DTYPES.get(plain, plain)


_DTYPES = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
