"""What can still be had from a pickle that was cut off or damaged.

The C unpickler keeps nothing of a file that does not end. This walks the opcodes itself — only those that plain
data needs — up to the first byte that makes no sense, goes back to the end of the last whole entry, and closes
what was open there, so that the C unpickler can load the rest. Most entries only refer back to names that were
written before: those are stepped over whole.
"""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

_FIXED = {  # opcode -> bytes of its argument
    b"\x80": 1, b"}": 0, b"]": 0, b")": 0, b"(": 0, b"N": 0, b"\x88": 0, b"\x89": 0, b"\x85": 0, b"\x86": 0,
    b"\x87": 0, b"t": 0, b"l": 0, b"d": 0, b"e": 0, b"a": 0, b"u": 0, b"s": 0, b"K": 1, b"M": 2, b"J": 4,
    b"G": 8, b"q": 1, b"r": 4, b"h": 1, b"j": 4, b"\x94": 0, b"\x95": 8,
}  # fmt: skip
_COUNTED = {b"X": "<I", b"\x8a": "<B", b"\x8c": "<B", b"U": "<B", b"T": "<I"}

#: Opcodes that push one value, that take the values above a mark, and so on: the depth of the stack is all
#: that matters here, never the values.
_PUSH = {b"}", b"]", b")", b"N", b"\x88", b"\x89", b"K", b"M", b"J", b"G", b"h", b"j", *_COUNTED}
_FOLD_MARK = {b"t", b"l", b"d"}
_INTO_BELOW_MARK = {b"e", b"u"}

_STRUCTURE = (b"(", *_FOLD_MARK, *_INTO_BELOW_MARK, b"\x95")


def _without_marks() -> bytes:
    """A pattern of one opcode, with its argument, that has no text and changes no mark."""
    sizes: dict[int, bytes] = {}
    for opcode, size in _FIXED.items():
        if opcode not in _STRUCTURE:
            sizes[size] = sizes.get(size, b"") + re.escape(opcode)
    short_integers = [rb"\x8a%c.{%d}" % (size, size) for size in range(9)]
    return b"|".join([*(rb"[%b].{%d}" % (opcodes, size) for size, opcodes in sizes.items()), *short_integers])


def _with_one_within(inner: bytes) -> bytes:
    """A pattern of what `inner` is, or of a list, a table or a tuple of it."""
    return rb"%b|\((?:%b){0,1000}[%b]" % (inner, inner, b"".join((*_FOLD_MARK, *_INTO_BELOW_MARK)))


#: An entry has lists in it, and those lists of sizes.
_ENTRY = re.compile(
    rb"\}(?:q.|r.{4}|\x94)?\((?:%b){0,1000}u" % _with_one_within(_with_one_within(_without_marks())),
    re.DOTALL,
)

#: Length of a frame's opcode and argument.
_FRAME = 9


class Salvage(NamedTuple):
    completed: bytes | None
    """A pickle that loads, or None if not even one entry was whole."""
    kept: int
    stopped_at: int
    cut: bool
    """The file simply ends; otherwise it holds something that plain data never does."""
    reason: str


def salvage(data: bytes) -> Salvage:
    """Close `data` after its last whole entry.

    A dump is a dict in construction (a mark, then keys and values) in which ``entries`` is a list in
    construction (another mark, then one dict an entry). An entry is whole when, two marks deep, the stack
    has grown by one finished dict.
    """
    marks: list[int] = []
    depth = 0
    position = 0
    last_key: bytes | None = None
    entries_open = False
    end_of_entry = end_of_pair = 0
    kept = kept_at_end = 0
    cut, reason = True, "ends"
    size = len(data)
    frames: list[int] = []
    while position < size:
        if entries_open and len(marks) == 2 and (whole := _ENTRY.match(data, position)) is not None:
            end_of_entry = position = whole.end()
            kept += 1
            continue
        opcode = data[position : position + 1]
        start = position
        position += 1
        if opcode == b".":
            cut, reason = False, "the end comes too soon"
            position = start
            break
        if opcode in _FIXED:
            position += _FIXED[opcode]
        elif opcode in _COUNTED:
            width = struct.calcsize(_COUNTED[opcode])
            if position + width > size:
                position = start
                break
            (length,) = struct.unpack_from(_COUNTED[opcode], data, position)
            position += width
            if len(marks) == 1:
                last_key = data[position : position + length] if length <= 64 else None
            position += length
        else:
            cut, reason = False, f"byte 0x{opcode[0]:02x} makes no sense here"
            position = start
            break
        if position > size:
            position = start
            break
        if opcode == b"\x95":
            frames.append(start)
        if opcode == b"(":
            entries_open = entries_open or (len(marks) == 1 and last_key == b"entries")
            marks.append(depth)
        elif opcode in _PUSH:
            depth += 1
        elif opcode in _FOLD_MARK or opcode in _INTO_BELOW_MARK:
            if not marks:
                cut, reason = False, "a list ends that never began"
                position = start
                break
            depth = marks.pop() + (1 if opcode in _FOLD_MARK else 0)
            if entries_open and len(marks) == 1:
                entries_open, kept_at_end = False, kept
        elif opcode in (b"s", b"a", b"\x86", b"\x87"):
            depth -= {b"s": 2, b"a": 1, b"\x86": 1, b"\x87": 2}[opcode]
        if entries_open and len(marks) == 2 and opcode in (b"u", b"s"):
            end_of_entry, kept = position, kept + 1
        elif (
            len(marks) == 1
            and not entries_open
            and (depth - marks[0]) % 2 == 0
            and opcode not in (b"q", b"r")
        ):
            end_of_pair, kept_at_end = position, kept
    if entries_open and kept:
        return Salvage(_unframed(data[:end_of_entry], frames) + b"eu.", kept, position, cut, reason)
    if end_of_pair:
        return Salvage(_unframed(data[:end_of_pair], frames) + b"u.", kept_at_end, position, cut, reason)
    return Salvage(None, 0, position, cut, reason)


def _unframed(data: bytes, frames: list[int]) -> bytes:
    """Without the frames of newer protocols: a frame promises bytes that a cut file does not have."""
    whole = [0, *(start + _FRAME for start in frames if start + _FRAME <= len(data))]
    ends = [*(start for start in frames if start + _FRAME <= len(data)), len(data)]
    return b"".join(data[begin:end] for begin, end in zip(whole, ends, strict=True))
