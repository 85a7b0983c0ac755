"""A value as bytes that are equal on two ranks if the value is, and as a short text for people."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

#: Addresses differ between processes and mean nothing.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LONGEST = 120
_DEEPEST = 20


def digest(value: object, bits: int) -> int:
    """A number of so many bits. Equal values have equal numbers; different ones practically never."""
    hashed = hashlib.blake2b(digest_size=8)
    for part in _parts(value, 0):
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return int.from_bytes(hashed.digest(), "little") >> (64 - min(bits, 64))


def text(value: object) -> str:
    """One line, of bounded length; never raises."""
    try:
        found = _tensor_text(value) if _is_tensor(value) else _ADDRESS.sub("", repr(value))
    except Exception as error:
        found = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    found = " ".join(found.split())
    return found if len(found) <= _LONGEST else found[: _LONGEST - 1] + "…"


def _parts(value: Any, depth: int) -> Iterator[bytes]:
    """Lists and dicts count in their order, for the order of a loop matters too; sets have none."""
    kind = type(value)
    yield kind.__name__.encode()
    if depth > _DEEPEST:
        yield b"too deep"
    elif kind in (bool, int, float, complex, str, type(None)):
        yield repr(value).encode("utf-8", "surrogatepass")
    elif kind in (bytes, bytearray):
        yield bytes(value)
    elif kind in (list, tuple):
        yield str(len(value)).encode()
        for item in value:
            yield from _parts(item, depth + 1)
    elif kind is dict:
        yield str(len(value)).encode()
        for key, item in value.items():
            yield from _parts(key, depth + 1)
            yield from _parts(item, depth + 1)
    elif kind in (set, frozenset):
        yield from sorted(b"".join(_parts(item, depth + 1)) for item in value)
    elif _is_tensor(value):
        yield f"{value.dtype} {tuple(value.shape)}".encode()
        yield _content(value)
    elif hasattr(value, "__array_interface__"):
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes()
    else:
        yield _ADDRESS.sub("", repr(value)).encode("utf-8", "surrogatepass")


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "untyped_storage") and hasattr(value, "detach")


def _content(tensor: Any) -> bytes:
    import torch

    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return bytes(flat.view(torch.uint8).numpy().tobytes()) if flat.numel() else b""


def _tensor_text(tensor: Any) -> str:
    what = f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
    return f"{tensor.item()!r} ({what})" if tensor.numel() == 1 else f"tensor {what}"
