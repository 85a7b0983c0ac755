"""One store of objects, as fsspec knows it: what lies below an address, and the bytes of it. Nothing of it is trusted
to end, neither a listing nor an object."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from rankandfile.evidence.files.addresses import how_to_copy
from rankandfile.evidence.files.patience import OVER
from rankandfile.model.errors import UserError

#: What the extra brings clients of, and what is no store: a page lists whatever it likes, on any host.
_BROUGHT = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az")
_NO_STORE = ("http", "https")
#: As much is asked for at a time.
PIECE = 8 << 20
#: How often a listing under way is looked at.
_LOOK_S = 0.1


class Object(NamedTuple):
    key: str
    """As the store has it; no name for a file."""
    below: str
    """What comes after the address: empty if the address is that of the object itself."""
    size: int
    written_ns: int


class Store:
    """Raises `UserError` where nothing can read such an address."""

    def __init__(self, address: str) -> None:
        self.address = address
        scheme = address.partition(":")[0]
        if scheme in _NO_STORE:
            raise UserError(how_to_copy(address) or address)
        try:
            import fsspec

            # Of its own: what a listing holds goes with it.
            self._fs, top = fsspec.core.url_to_fs(address, skip_instance_cache=True, use_listings_cache=False)
        except ImportError as error:
            extra = ", or pip install 'rankandfile[objects]'" if scheme in _BROUGHT else ""
            raise UserError(f"{how_to_copy(address)}{extra}") from error
        except ValueError as error:
            known = scheme in fsspec.available_protocols()
            raise UserError(
                f"{address}: cannot be read: {said(error)}" if known else how_to_copy(address) or address
            ) from error
        except Exception as error:
            raise UserError(f"{address}: cannot be read: {said(error)}") from error
        self._top = str(top).rstrip("/")
        # What fails is told here, once, and in one line.
        logging.getLogger(type(self._fs).__module__.partition(".")[0]).addHandler(logging.NullHandler())

    def objects(self, most: int, memory: int, left: Callable[[], float]) -> Iterator[Object]:
        """All below the address, one more than `most` at the most. Raises `UserError`."""
        try:
            for number, (key, told) in enumerate(self._listed(most, memory, left)):
                # A store has no folders; some tools write empty objects for them.
                if told.get("type") != "directory" and not key.endswith("/"):
                    below = key.removeprefix(self._top).lstrip("/")
                    yield Object(key, below, int(told.get("size") or 0), _written(told))
                if number >= most:
                    return
        except UserError:
            raise
        except Exception as error:
            raise UserError(f"{self.address}: cannot be read: {said(error)}") from error

    def _listed(
        self, most: int, memory: int, left: Callable[[], float]
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if self._fs.async_impl:
            yield from self._at_once(memory, left).items()
            return
        if self._fs.isfile(self._top):
            yield self._top, self._fs.info(self._top)
            return
        seen = 0
        for _, folders, files in self._fs.walk(self._top, detail=True):
            seen += len(folders)
            if seen > most or left() <= 0:
                raise UserError(f"{self.address}: {OVER if left() <= 0 else _ENDLESS}")
            yield from ((str(one["name"]), one) for one in files.values())

    def _at_once(self, memory: int, left: Callable[[], float]) -> dict[str, Mapping[str, Any]]:
        """Stores list a thousand objects per request, whatever folders they seem to be in. fsspec gives nothing back
        before all are there, so that time and memory are watched from outside."""
        before = _resident()
        coming: concurrent.futures.Future[dict[str, Mapping[str, Any]]]
        coming = asyncio.run_coroutine_threadsafe(self._fs._find(self._top, detail=True), self._fs.loop)
        try:
            while not coming.done():
                with suppress(concurrent.futures.TimeoutError):
                    coming.result(_LOOK_S)
                    break
                if left() <= 0:
                    raise UserError(f"{self.address}: {OVER}")
                if _resident() - before > memory:
                    raise UserError(f"{self.address}: {_ENDLESS}")
            return coming.result()
        finally:
            coming.cancel()

    def copy(self, key: str, size: int, into: Path, left: Callable[[], float]) -> None:
        """As much as the listing said, and no more. Raises OSError, with why it cannot be read."""
        try:
            with into.open("wb") as file:
                for start in range(0, size, PIECE):
                    if left() <= 0:
                        raise OSError(OVER)
                    wanted = min(PIECE, size - start)
                    piece = self._fs.cat_file(key, start=start, end=start + wanted)
                    file.write(piece[:wanted])
                    if len(piece) < wanted:
                        break
        except Exception as error:
            # Every store has errors of its own.
            raise OSError(said(error)) from error


_ENDLESS = "more below it than can be listed; name something below it"


def said(error: BaseException) -> str:
    """In one line: a client's errors are pages, or say nothing."""
    words = " ".join(str(error).split())[:300]
    name = type(error).__name__
    if isinstance(error, FileNotFoundError):
        return f"it is not there ({words})"
    if isinstance(error, OSError) and words:
        return words
    return f"{name}: {words}" if words else name


def _written(told: Mapping[str, Any]) -> int:
    """When it was written; 0 where the store does not say. Each calls it otherwise."""
    for name in ("LastModified", "last_modified", "updated", "mtime", "modified", "created"):
        value = told.get(name)
        with suppress(ValueError, OverflowError, OSError):
            if isinstance(value, str):
                value = datetime.fromisoformat(value.replace("Z", "+00:00"))
            if isinstance(value, datetime):
                value = value.timestamp()
            if isinstance(value, int | float):
                return max(0, int(value * 10**9))
    return 0


def _resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
