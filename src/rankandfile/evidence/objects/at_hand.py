"""Evidence that is named by an address, laid out as files of this machine, so that all that reads files reads it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from rankandfile.evidence.files.addresses import Left, address_of
from rankandfile.evidence.files.blobs import shown
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.patience import Patience
from rankandfile.model.errors import UserError
from rankandfile.model.ledger import Note

if TYPE_CHECKING:
    from .store import Store

OnCopied = Callable[[int, int], None]


class AtHand(Struct):
    """What was named, as paths of this machine."""

    paths: list[Path]
    notes: list[Note] = field(default_factory=list)
    """On objects that were not taken."""
    left: dict[str, Left] = field(default_factory=dict)
    """Path -> the object whose size that file has, and nothing of its content."""
    addresses: dict[str, str] = field(default_factory=dict)
    """Path -> the address that it, or what is in it, was copied from."""

    def called(self, path: str) -> str:
        """What a person calls this file, or one in this folder."""
        for root, address in self.addresses.items():
            if path == root or path.startswith(f"{root}{os.sep}"):
                return shown(address + path[len(root) :])
        return shown(path)


@contextmanager
def at_hand(
    paths: Sequence[Path], limits: Limits, leave: bool = False, on_copied: OnCopied | None = None
) -> Iterator[AtHand]:
    """Copies are there within the block. `leave`: objects that are named alike need not all be copied, as whoever
    decodes them can read them. Raises `UserError` where an address cannot be read, or there is nothing below it."""
    addresses = [address_of(path) for path in paths]
    found = AtHand([])
    if not any(addresses):
        found.paths += paths
        yield found
        return
    from .copying import Copying

    patience = Patience(limits.seconds)
    seen: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="raf-") as folder:
        for number, (path, address) in enumerate(zip(paths, addresses, strict=True)):
            if address is None:
                found.paths.append(path)
                continue
            copying = Copying(address, Path(folder, "_" * (number + 1)), limits, patience, seen)
            top = copying.run(leave, on_copied)
            found.paths.append(top)
            found.addresses[str(top)] = address
            found.notes += copying.notes()
            found.left |= copying.left
        try:
            yield found
        except UserError as error:
            raise UserError(_by_address(str(error), found)) from error


def _by_address(said: str, found: AtHand) -> str:
    """Nobody has named the copies, so no complaint does."""
    for root, address in found.addresses.items():
        said = said.replace(root, address)
    return said


@lru_cache(maxsize=4)
def _store(address: str) -> Store:
    """Who fetches one object, mostly fetches others: to connect takes longer than to read."""
    from .store import Store

    return Store(address)


def fetch(left: Left, size: int, into: Path, seconds: float) -> None:
    """The object itself, in place of what stands for it. Raises OSError."""
    try:
        _store(left.address).copy(left.key, size, into, Patience(seconds).left)
    except UserError as error:
        raise OSError(str(error)) from error
