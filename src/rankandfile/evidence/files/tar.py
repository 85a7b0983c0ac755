"""Tar archives as a stream of members, for files that strangers made.

The standard library's reader holds headers of any size in memory and stops at the first surprise by raising;
this one is bounded, keeps what came before a cut, and says how the archive ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

_BLOCK = 512
_PIECE = 1 << 18
_LONG_NAME = 1 << 16
"""Largest extended header that is read; longer ones are skipped."""
_PADDING = 1 << 20
"""Most zeros after the end mark that are read in search of another archive."""

_FILES = (b"\0", b"0", b"7")
_SKIPPED = {b"1": "link", b"2": "link", b"3": "device", b"4": "device", b"6": "FIFO", b"S": "sparse file"}
_SILENT = b"5DMVN"


class Member(NamedTuple):
    name: str
    kind: str
    """file, folder, link, device, FIFO or sparse file"""
    size: int
    written_ns: int


def is_header(block: bytes) -> bool:
    """Whether a block is a tar header: its checksum, which may be of signed or unsigned bytes, is right."""
    if len(block) < _BLOCK:
        return False
    told = _number(block[148:156])
    rest = block[:148] + b" " * 8 + block[156:_BLOCK]
    unsigned = sum(rest)
    return told is not None and told in (unsigned, unsigned - 256 * sum(byte > 127 for byte in rest))


class Tar:
    """The members, by iteration; `body` reads the latest one. Afterwards `broken` tells a bad end."""

    def __init__(self, read: Callable[[int], bytes], *, alone: bool = False) -> None:
        """`alone`: no archive is looked for behind its end mark, where whoever sends it may wait for an answer."""
        self._read = read
        self._most_zeros = _BLOCK if alone else _PADDING
        self._left = 0
        self._padding = 0
        self.cut = False
        """The body that was read last ended early."""
        self.broken: str | None = None

    def __iter__(self) -> Iterator[Member]:
        extended: dict[str, str] = {}
        zeros = 0
        while True:
            for _ in self.body():  # whatever the caller did not read
                pass
            self._exactly(self._padding)
            self._padding = 0
            block = self._exactly(_BLOCK)
            if not block.strip(b"\0"):
                zeros += _BLOCK
                if len(block) < _BLOCK or zeros > self._most_zeros:
                    break
                continue
            if not is_header(block):
                if zeros < 2 * _BLOCK:
                    self.broken = "is cut off" if len(block) < _BLOCK else "is damaged (a member's header)"
                return
            zeros = 0
            size, flag = _number(block[124:136]), block[156:157]
            if size is None or size < 0:
                self.broken = "is damaged (a member's size)"
                return
            if flag in b"xgLK":
                extended.update(self._extended(flag, size))
                continue
            size = _decimal(extended.get("size", "")) or size
            self._announce(0 if flag in b"1256" else size)
            if flag == b"S":
                self._skip_sparse_maps(block[482:483])
            member = _member(block, flag, size, extended)
            extended = {}
            if flag not in _SILENT:
                yield member
        if zeros <= _BLOCK and not self.broken:
            self.broken = "ends without an end mark, so that it may be cut off"

    def body(self) -> Iterator[bytes]:
        self.cut = False
        while self._left:
            piece = self._read(min(self._left, _PIECE))
            if not piece:
                self.cut, self.broken = True, "is cut off"
                self._left = self._padding = 0
                return
            self._left -= len(piece)
            yield piece

    def _announce(self, size: int) -> None:
        self._left, self._padding = size, -size % _BLOCK

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size and (piece := self._read(size - len(data))):
            data += piece
        return data

    def _skip_sparse_maps(self, more: bytes) -> None:
        while more == b"\1":
            more = self._exactly(_BLOCK)[504:505]

    def _extended(self, flag: bytes, size: int) -> dict[str, str]:
        """The name or attributes that a header of its own gives to the next member."""
        self._announce(size)
        if size > _LONG_NAME or flag in b"gK":
            return {}
        data = b"".join(self.body())
        if flag == b"L":
            return {"path": _text(data)}
        return _attributes(data)


def _member(block: bytes, flag: bytes, size: int, extended: dict[str, str]) -> Member:
    name = _text(block[:100])
    if block[257:263] == b"ustar\0" and (prefix := _text(block[345:500])):
        name = f"{prefix}/{name}"
    name = extended.get("path", name)
    if flag == b"5" or (flag in _FILES and name.endswith("/")):
        kind = "folder"
    elif any(key.startswith("GNU.sparse") for key in extended):
        kind = "sparse file"
    else:
        kind = _SKIPPED.get(flag, "file")
    return Member(name, kind, size, _written_ns(extended.get("mtime", ""), block[136:148]))


def _written_ns(exact: str, field: bytes) -> int:
    """A pax header has parts of a second, where the header itself has none."""
    whole, _, part = exact.partition(".")
    seconds = _decimal(whole) or _number(field) or 0
    if not 0 < seconds < 1 << 33:
        return 0
    return seconds * 10**9 + (_decimal(part[:9].ljust(9, "0")) or 0)


def _number(field: bytes) -> int | None:
    """Octal digits, or base 256 where the first bit is set."""
    if field[0] & 0x80:
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
    digits = field.strip(b" \0")
    if digits.strip(b"01234567"):
        return None
    return int(digits, 8) if digits else 0


def _decimal(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")


def _attributes(data: bytes) -> dict[str, str]:
    """The records ``length key=value`` of a pax header."""
    found: dict[str, str] = {}
    while data:
        length = _decimal(data[:20].partition(b" ")[0].decode("ascii", "replace"))
        if not length or length > len(data):
            break
        key, equals, value = data[:length].partition(b" ")[2].rstrip(b"\n").partition(b"=")
        if equals:
            found[_text(key)] = value.decode("utf-8", "replace")
        data = data[length:]
    return found
