"""Decoding processes that serve one load after another, so that a thousand tests do not start a thousand of them."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.decoder import BrokenDecoder, Decoder
from rankandfile.evidence.files.worker import Request

_MOST = 2


class KeptDecoders:
    """Called like `Decoder`, and gives one that is kept where the load that had it has ended."""

    def __init__(self) -> None:
        self._idle: OrderedDict[object, Decoder] = OrderedDict()

    def __call__(self, memory: int) -> _Lent:
        # What a process is by its start: its bound, where it stands, what it can import.
        key = (memory, Path.cwd(), tuple(sys.path))
        return _Lent(self, key, self._idle.pop(key, None) or Decoder(memory))

    def take_back(self, key: object, decoder: Decoder) -> None:
        if self._idle.setdefault(key, decoder) is not decoder:
            decoder.end()
        while len(self._idle) > _MOST:
            self._idle.popitem(last=False)[1].end()

    def end(self) -> None:
        while self._idle:
            self._idle.popitem()[1].end()


class _Lent:
    """The decoder of one load. One that broke, or is ended over a file, is not kept."""

    def __init__(self, owner: KeptDecoders, key: object, decoder: Decoder) -> None:
        self._owner, self._key, self._decoder = owner, key, decoder
        self._asked = self._broken = False

    def ask(self, requests: Sequence[Request], size: int, seconds: float, most: float) -> list[Decoded]:
        self._asked = True
        try:
            return self._decoder.ask(requests, size, seconds, most)
        except BrokenDecoder:
            self._broken = True
            raise
        finally:
            self._asked = False

    def kill(self) -> None:
        if self._asked:
            self._broken = True
            self._decoder.kill()

    def end(self) -> None:
        if self._broken:
            self._decoder.end()
        else:
            self._owner.take_back(self._key, self._decoder)
