"""A dump of torch's flight recorder as it writes it itself: a pickle, of which nothing can run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import FileKind, Head, Sign
from rankandfile.evidence.flight import as_pickle, header
from rankandfile.evidence.flight.known_moulds import KnownMoulds
from rankandfile.evidence.raw import RawNote

_DICT = re.compile(rb"\x80[\2-\5](\x95.{8})?(\}|$)|\}q.\(", re.DOTALL)
#: The oldest protocol is text: `(dp0`, and in the next line the first key.
_IN_TEXT = re.compile(rb"\(d(p\d+\n)?(V\w+|S'\w+')\n")
_NAME = re.compile(r"(\.(pkl|pickle)|(trace|dump|rank)[^./]*[0-9])$", re.IGNORECASE)

#: What this process has learnt of the dumps it read.
ALIKE = KnownMoulds()


def decode(path: Path, _name: str) -> Decoded:
    if (alike := ALIKE.read(path)) is not None:
        return Decoded(dumps=[alike])
    value, truncated, notes = as_pickle.load(path)
    if isinstance(value, dict) and not truncated and not notes:
        ALIKE.learn(path, value)
    try:
        return _decoded(value, truncated, notes)
    except MemoryError:
        del value  # what it takes is needed for its beginning
    return _decoded(*as_pickle.load_first(path))


def _decoded(value: Any, truncated: bool, notes: list[RawNote]) -> Decoded:
    dumps, more = header.decode_all([(None, value)] if value is not None else [], "pickle", truncated)
    return Decoded(dumps=dumps, notes=[*notes, *more])


def _by_name(head: Head) -> bool:
    return head.text is None and _NAME.search(head.path) is not None


KIND = FileKind(
    "flight_pickle",
    (
        Sign(60, lambda head: _DICT.match(head.data) is not None),
        Sign(65, lambda head: _IN_TEXT.match(head.data) is not None),
        Sign(440, _by_name),
    ),
    decode,
    is_dump=True,
)
