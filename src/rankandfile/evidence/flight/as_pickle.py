"""Flight recorder dumps as pickles, read without trusting them.

torch's recorder writes plain data: dicts, lists, tuples, text, numbers. Whatever would import, call or build
anything else is refused before it happens, so no code in a dump can run. Memory is bounded by the process that
decodes (see `worker`), because a few bytes can ask the C unpickler for gigabytes.
"""

from __future__ import annotations

import io
import mmap
import pickle
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from rankandfile.evidence.flight.plain_keys import KeysFirst
from rankandfile.evidence.flight.quick_keys import Data, are_quick
from rankandfile.evidence.flight.salvage import Salvage, salvage
from rankandfile.evidence.raw import RawNote

#: Of a dump that does not fit into the memory that decoding may use: what is read instead.
FIRST = 2 << 20
TOO_MUCH = "it asks for more memory than a dump of its size can need"
ENDS_EARLY = "the file ends early"
EMPTY = "the file is empty: the process ended before it could write"


class Refused(pickle.UnpicklingError):
    """The pickle asks for something that plain data never needs."""


class _PlainOnly:
    """Every global, and with them every reduce, and every persistent id is refused."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        raise Refused(f"refused: the file asks to run {module:.60}.{name:.60}, which a dump never does")

    def persistent_load(self, _pid: Any, /) -> NoReturn:
        raise Refused("refused: the file asks for an outside object, which a dump never does")


class PlainUnpickler(_PlainOnly, pickle.Unpickler):
    """Loads plain data only."""


class CheckedUnpickler(_PlainOnly, KeysFirst):
    """The same, and slowly."""


def plain_data(file: BinaryIO, data: Data) -> Any:
    """The object in the file, whose content is `data`: where keys may take long to hash, each is looked at before."""
    return (PlainUnpickler if are_quick(data) else CheckedUnpickler)(file).load()


#: What a broken or hostile pickle can raise out of either unpickler.
BROKEN = (
    struct.error,
    AssertionError,
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    UnicodeDecodeError,
)


def load(path: Path) -> tuple[Any, bool, list[RawNote]]:
    """The object in the file (None if nothing could be kept), whether the file ends early, and notes."""
    try:
        # From the file, not from BytesIO: a subclassed unpickler reads four times slower without `peek`.
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
            return _cut_off(data) or (plain_data(file, data), False, [])
    except MemoryError:
        pass  # what was made until then goes with the exception: there is room again
    except BROKEN as error:
        return _load_part(path, error)
    return load_first(path)


def _cut_off(data: Data) -> tuple[Any, bool, list[RawNote]] | None:
    """The whole entries of a file that simply ends, without an attempt to load what is not there; None of any other."""
    part = salvage(bytes(data)) if data[-1:] not in (b"", pickle.STOP) else None
    if part is None or part.completed is None or not (part.cut and part.kept):
        return None
    with suppress(*BROKEN):
        return _closed(part.completed), True, [_kept(part, ENDS_EARLY)]
    return None


def _closed(completed: bytes) -> Any:
    return plain_data(io.BufferedReader(io.BytesIO(completed)), completed)


def _kept(part: Salvage, how: str) -> RawNote:
    return RawNote(f"offset {part.stopped_at}", f"{how}: kept the {part.kept} entries before it")


def load_first(path: Path) -> tuple[Any, bool, list[RawNote]]:
    """So much of the file as fits whatever is in it: a byte becomes an empty list of seventy."""
    with path.open("rb") as file:
        part = salvage(file.read(min(path.stat().st_size // 4, FIRST)))
    try:
        if part.kept and part.completed is not None:
            found = _closed(part.completed)
            note = f"{TOO_MUCH}: kept the {part.kept} entries at its beginning"
            return found, True, [RawNote(f"offset {part.stopped_at}", note)]
    except (MemoryError, *BROKEN):
        pass
    return None, False, [RawNote("", f"refused: {TOO_MUCH}")]


def _load_part(path: Path, error: Exception) -> tuple[Any, bool, list[RawNote]]:
    data = path.read_bytes()
    if not data:
        return None, True, [RawNote("offset 0", EMPTY)]
    part = salvage(data)
    if isinstance(error, Refused) and not part.kept:
        return None, False, [RawNote(f"offset {part.stopped_at}", str(error))]
    if part.completed is None:
        what = f"not readable as a dump: {_reason(error)} (stopped at byte {part.stopped_at} of {len(data)})"
        return None, part.cut, [RawNote(f"offset {part.stopped_at}", what)]
    try:
        found = _closed(part.completed)
    except (MemoryError, *BROKEN) as again:
        return None, part.cut, [RawNote("", f"not readable as a dump: {_reason(again)}")]
    if isinstance(error, Refused):
        # One flipped bit makes such a byte of an honest one; what stands before it was read as plain data.
        how = str(error)
    else:
        how = ENDS_EARLY if part.cut else f"the file is damaged ({part.reason})"
    return found, True, [_kept(part, how)]


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error!s:.120}" if str(error) else type(error).__name__
