"""Compressed bytes in, plain bytes out, a bounded piece at a time. A damaged stream just ends."""

from __future__ import annotations

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

PIECE = 1 << 18
"""Most bytes that one step yields (zstd through the `zstandard` package can yield up to 8 MiB)."""

_INPUT = 1 << 16
_STREAMS = 1 << 20
"""Compressed streams in a row in one file: bgzip makes one per 64 KiB; a million empty ones burn time."""

_ERRORS: tuple[type[Exception], ...] = (
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    MemoryError,
)


class Unavailable(Exception):
    """The method is known, but what would read it is not installed. Its text is one line for the person."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    @property
    def needs_input(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Zlib:
    """zlib, given the interface of the other decompressors."""

    def __init__(self, wbits: int) -> None:
        self._inner = zlib.decompressobj(wbits)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


class _Zstandard:
    """The `zstandard` package, which cannot bound its output: it gets its input in steps that bound it.

    A block of four bytes can stand for 128 KiB, so that 256 bytes of input are 8 MiB at worst.
    """

    _STEP = 1 << 8

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._waiting = memoryview(b"")

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) + bytes(self._waiting)

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    def decompress(self, data: bytes, max_length: int) -> bytes:  # noqa: ARG002 - see the class
        waiting = memoryview(bytes(self._waiting) + data) if data else self._waiting
        self._waiting = waiting[self._STEP :]
        data = self._inner.decompress(waiting[: self._STEP])
        assert isinstance(data, bytes)
        return data


def _zstd(window_bytes: int) -> Callable[[], _Decompressor]:
    global _ERRORS
    if sys.version_info >= (3, 14):
        from compression import zstd

        _ERRORS = (*_ERRORS, zstd.ZstdError)
        options = {zstd.DecompressionParameter.window_log_max: max(10, window_bytes.bit_length() - 1)}
        return lambda: zstd.ZstdDecompressor(options=options)
    try:
        import zstandard
    except ImportError:
        raise Unavailable(
            "compressed with zstd, which needs the 'zstandard' package: pip install 'rankandfile[zstd]'"
        ) from None
    _ERRORS = (*_ERRORS, zstandard.ZstdError)
    context = zstandard.ZstdDecompressor(max_window_size=window_bytes)
    return lambda: _Zstandard(context.decompressobj())


def _maker(method: str, window_bytes: int) -> Callable[[], _Decompressor]:
    if method == "gzip":
        return lambda: _Zlib(31)
    if method == "deflate":
        return lambda: _Zlib(-15)
    if method == "bzip2":
        return bz2.BZ2Decompressor
    if method == "xz":
        return lambda: lzma.LZMADecompressor(memlimit=window_bytes)
    return _zstd(window_bytes)


class Inflate:
    """The plain bytes of a compressed file, by iteration. Afterwards `broken` says how it ended, if badly."""

    def __init__(
        self, read: Callable[[int], bytes], method: str, window_bytes: int, *, one_stream: bool = False
    ) -> None:
        self._read = read
        self._make = _maker(method, window_bytes)
        self._one_stream = one_stream
        self.consumed = 0
        """Compressed bytes used up, without what was read ahead."""
        self.broken: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._pieces()
        except _ERRORS as error:
            self.broken = f"is damaged ({str(error) or type(error).__name__})"

    def _take(self) -> bytes:
        data = self._read(_INPUT)
        self.consumed += len(data)
        return data

    def _pieces(self) -> Iterator[bytes]:
        rest = b""
        for _ in range(_STREAMS):
            decompressor = self._make()
            while not decompressor.eof:
                if not rest and decompressor.needs_input:
                    rest = self._take()
                    if not rest:
                        yield from self._last(decompressor)
                        return
                piece = decompressor.decompress(rest, PIECE)
                rest = b""
                if piece:
                    yield piece
            rest = decompressor.unused_data
            if self._one_stream:
                self.consumed -= len(rest)
                return
            # Tapes and block devices pad with zeros between and after streams.
            while not (rest := rest.lstrip(b"\0")):
                if not (rest := self._take()):
                    return
        self.broken = "has too many compressed streams in a row"

    def _last(self, decompressor: _Decompressor) -> Iterator[bytes]:
        """What is still inside the decompressor when the input has ended before the stream did."""
        while not decompressor.eof and (piece := decompressor.decompress(b"", PIECE)):
            yield piece
        if not decompressor.eof:
            self.broken = "is cut off"
