"""The wire format of protocol buffers, as far as a writer of traces needs it."""

from __future__ import annotations

import struct


def varint(value: int) -> bytes:
    if value < 0:
        value += 1 << 64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def fixed(field: int, value: int) -> bytes:
    """Eight bytes."""
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def data(field: int, value: bytes) -> bytes:
    """Bytes, or a message in itself."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def text(field: int, value: str) -> bytes:
    return data(field, value.encode("utf-8", "replace"))
