"""Flight recorder dumps as JSON: one rank's, a worker handler's, or several ranks' in one answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.flight import header
from rankandfile.evidence.flight.as_pickle import EMPTY, FIRST, TOO_MUCH
from rankandfile.evidence.raw import RawNote
from rankandfile.model.ranks import MOST_RANKS

#: Keys by which a dump is known.
KEYS = {"entries", "pg_config", "pg_status", "comm_lib_version", "nccl_version", "nccl_comm_state"}

#: torch writes its keys in order, so `entries` comes before `pg_config`: a cut file has entries only.
_ENTRIES = re.compile(r'"entries"\s*:\s*\[')

#: Right before the entries of one rank of several: its number, and what its answer is wrapped in.
_RANK_BEFORE = re.compile(
    r'"(?:rank[ _]?)?(\d{1,7})"\s*:\s*\{\s*(?:"\w{1,20}"\s*:\s*\{\s*){0,2}$', re.IGNORECASE
)

_KEYS_OF_A_DUMP = {"entries", "pg_config", "pg_status", "version"}

#: Keys under which collectors put the dump that a rank answered with.
_WRAPPERS = ("result", "response", "body", "dump", "text")


def decode(path: Path, _name: str) -> Decoded:
    """The dumps in the file, each with its rank where the document tells it."""
    try:
        return _decoded(*load(path))
    except MemoryError:
        pass  # what was made until then goes with the exception: there is room again
    return _decoded(*load_first(path))


def _decoded(value: Any, truncated: bool, notes: list[RawNote]) -> Decoded:
    found = dumps_in(value)
    if value is not None and not found:
        return Decoded("other_json", notes=notes)
    dumps, more = header.decode_all(found, "json", truncated)
    return Decoded(dumps=dumps, notes=[*notes, *more])


def load(path: Path) -> tuple[Any, bool, list[RawNote]]:
    """The value in the file (None if nothing could be kept), whether the file ends early, and notes."""
    try:
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        try:
            return msgspec.json.decode(data), False, []
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            return _load_part(data, str(error))
        except RecursionError:
            return None, False, [RawNote("", "refused: it nests deeper than any dump")]
    except MemoryError:
        pass
    return load_first(path)


def load_first(path: Path) -> tuple[Any, bool, list[RawNote]]:
    """So much of the file as fits whatever is in it, where all of it does not."""
    try:
        with path.open("rb") as file:
            value, kept, end = _whole_entries(file.read(min(path.stat().st_size // 4, FIRST)))
        if kept:
            note = f"{TOO_MUCH}: kept the {kept} entries at its beginning"
            return value, True, [RawNote(f"offset {end}", note)]
    except MemoryError:
        pass
    return None, False, [RawNote("", f"refused: {TOO_MUCH}")]


def _load_part(data: bytes, error: str) -> tuple[Any, bool, list[RawNote]]:
    """The whole entries before the place where the text breaks."""
    if not data:
        return None, True, [RawNote("offset 0", EMPTY)]
    value, kept, end = _whole_entries(data)
    if value is None:
        return None, True, [RawNote("", f"not readable as JSON: {error:.120}")]
    if not kept:
        return None, True, [RawNote(f"offset {end}", f"no whole entry: {error:.120}")]
    what = (
        f"the text breaks off here: kept the {kept} entries before it; what follows them is lost "
        "(configuration of the groups, version)"
    )
    return value, True, [RawNote(f"offset {end}", what)]


def _whole_entries(data: bytes) -> tuple[Any, int, int]:
    """What a text that breaks holds of one dump, or of several ranks': the value that dumps with these entries would
    be, how many they are, and where the last one ends. None where no dump begins."""
    text = data.decode("utf-8", "replace")
    found: dict[int | None, list[Any]] = {}
    end, whole = 0, True
    while whole and (match := _ENTRIES.search(text, end)) is not None:
        before = _RANK_BEFORE.search(text, max(end, match.start() - 120), match.start())
        entries, end, whole = _list_from(text, match.end())
        found.setdefault(int(before[1]) if before else None, entries)
    if not found:
        return None, 0, 0
    kept = sum(map(len, found.values()))
    end = len(text[:end].encode("utf-8", "replace"))
    if None in found:  # nobody's, as in a file of one rank; others beside it cannot be told apart from it
        return {"entries": found[None]}, len(found[None]), end
    return {str(rank): {"entries": entries} for rank, entries in found.items()}, kept, end


def _list_from(text: str, position: int) -> tuple[list[Any], int, bool]:
    """The items of a list that begins before a place, where the last one ends, and whether the list ends there."""
    decode = json.JSONDecoder().raw_decode
    items: list[Any] = []
    while True:
        while position < len(text) and text[position] in ", \r\n\t":
            position += 1
        try:
            item, position = decode(text, position)
        except (ValueError, RecursionError):
            return items, position, text[position : position + 1] == "]"
        items.append(item)


def dumps_in(value: Any) -> list[tuple[int | None, dict[str, Any]]]:
    """The dumps in a JSON value, with their ranks where the value tells them.

    Handles a bare dump, and answers that hold one per rank: a list, or an object by rank (``"3"``, ``"rank3"``),
    each dump bare, as text, or under a key such as ``result``.
    """
    if _is_dump(value):
        rank = value.get("rank")
        return [(rank if type(rank) is int and 0 <= rank < MOST_RANKS else None, value)]
    if isinstance(value, list):
        return _each(list(enumerate(value)))
    if isinstance(value, dict):
        ranked = {key: rank for key in value if (rank := _rank(key)) is not None}
        if ranked and len(ranked) == len(value):
            return _each([(ranked[key], value[key]) for key in value])
    return []


def _each(items: list[tuple[int, Any]]) -> list[tuple[int | None, dict[str, Any]]]:
    found: list[tuple[int | None, dict[str, Any]]] = []
    for rank, item in items:
        dump = _unwrap(item)
        if dump is not None:
            found.append((rank, dump))
    return found


def _unwrap(item: Any) -> dict[str, Any] | None:
    for _ in range(3):
        if isinstance(item, str):
            try:
                item = msgspec.json.decode(item)
            except (msgspec.DecodeError, ValueError, RecursionError):
                return None
        if _is_dump(item):
            return item  # type: ignore[no-any-return]
        if not isinstance(item, dict):
            return None
        item = next((item[key] for key in _WRAPPERS if key in item), None)
    return None


def _is_dump(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("entries"), list) or len(_KEYS_OF_A_DUMP & value.keys()) >= 2


def _rank(key: Any) -> int | None:
    match = re.fullmatch(r"(?:rank[ _]?)?(\d{1,7})", str(key)[:16], re.IGNORECASE)
    return int(match[1]) if match else None
