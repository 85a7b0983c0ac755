"""Archives and compressed files, opened into a spool: streaming, bounded, and never outside the spool.

A member is stored under a number, so that no name in an archive can lead anywhere. What is cut off or damaged
keeps what came before; what is too large is one line, and the rest of the evidence still counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import BinaryIO

from rankandfile.evidence.files.blobs import Blob
from rankandfile.evidence.files.inflate import Inflate, Unavailable
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.members import Members, is_junk
from rankandfile.evidence.files.sniff import UNREADABLE, container
from rankandfile.evidence.files.stream import Stream, pieces_of
from rankandfile.evidence.files.tar import Tar
from rankandfile.evidence.files.zip import Unsupported, Zip
from rankandfile.model.ledger import Note

from .expansion_budget import (
    ExpansionBudget,
    Full,
    Stop,
    TooMuch,
)


class Expansion:
    """Opens the archives of one loading, all on one account. What comes out is in `blobs` and `notes`."""

    def __init__(self, budget: ExpansionBudget, limits: Limits) -> None:
        self.blobs: list[Blob] = []
        self.notes: list[Note] = []
        self._budget = budget
        self._limits = limits

    def open(self, blob: Blob, kind: str) -> None:
        """What is inside an archive on disk, and inside archives in it. Raises `Full` and nothing else."""
        self._budget.open_root(blob.size)
        try:
            self._open(blob, kind, 1)
        except Full:
            raise
        except Stop as stop:
            self._say(blob.source, f"{stop}; the rest of it was not read")

    def _say(self, source: str, what: str) -> None:
        self.notes.append(Note(file=source, where="", what=what))

    def _open(self, blob: Blob, kind: str, depth: int) -> None:
        if kind in UNREADABLE:
            self._say(blob.source, f"a {kind} archive, which is not read; unpack it first")
            return
        if depth > self._limits.archive_depth:
            self._say(blob.source, f"archives within archives, more than {depth - 1} deep; not opened")
            return
        members = Members(blob.source)
        try:
            with blob.path.open("rb") as file:
                if kind == "zip":
                    self._zip(blob, file, members, depth)
                elif kind == "tar":
                    self._tar(blob, self._budget.metered(pieces_of(file)), members, depth, lambda: None)
                else:
                    self._compressed(blob, kind, file, members, depth)
        except Unavailable as missing:
            self._say(blob.source, f"{missing}; not read")
        except OSError as error:
            self._say(blob.source, f"cannot be read: {error.strerror or error}")
        finally:
            self.notes += members.notes()

    def _compressed(self, blob: Blob, kind: str, file: BinaryIO, members: Members, depth: int) -> None:
        inflate = Inflate(file.read, kind, self._limits.window_bytes)
        stream = Stream(self._budget.metered(inflate))
        inner = container(stream.peek(512), "")
        if inner == "tar":
            self._tar(blob, stream.rest(), members, depth, lambda: inflate.broken)
            return
        # One compressed file is the same file to a person: what comes out keeps its name.
        copy = self._spool(stream.rest(), blob.source, blob.written_ns, blob.size, members)
        if copy is not None:
            if inflate.broken:
                self._say(blob.source, f"{inflate.broken}; {_kept(copy)}")
            self._take(copy, inner, depth)

    def _tar(
        self,
        blob: Blob,
        pieces: Iterable[bytes],
        members: Members,
        depth: int,
        broken: Callable[[], str | None],
    ) -> None:
        tar = Tar(Stream(pieces).read)
        cut = False
        for member in tar:
            self._budget.count()
            if member.kind != "file":
                if member.kind != "folder":
                    members.skip(member.kind, member.name)
            elif not is_junk(member.name):
                source = members.source(member.name)
                copy = self._spool(tar.body(), source, member.written_ns, None, members)
                cut = tar.cut
                if copy is not None:
                    if cut:
                        self._say(
                            source, f"the archive {broken() or tar.broken} in the middle of it; {_kept(copy)}"
                        )
                    self._take(copy, self._container(copy), depth)
        if (problem := broken() or tar.broken) and not cut:
            self._say(blob.source, f"{problem}; members read: {members.count}")

    def _zip(self, blob: Blob, file: BinaryIO, members: Members, depth: int) -> None:
        zipped = Zip(file, blob.size, self._limits.window_bytes)
        for member in zipped:
            self._budget.count()
            if member.kind == "folder" or is_junk(member.name):
                continue
            if member.encrypted or member.kind == "link":
                members.skip("encrypted file" if member.encrypted else "link", member.name)
                continue
            source = members.source(member.name)
            body = self._budget.metered(zipped.body(member))
            copy = self._spool(body, source, member.written_ns, member.compressed, members)
            if copy is not None:
                if zipped.member_broken:
                    members.say("damaged", source, f"{zipped.member_broken}; {_kept(copy)}")
                self._take(copy, self._container(copy), depth)
        if zipped.broken:
            self._say(blob.source, zipped.broken)

    def _spool(
        self, pieces: Iterable[bytes], source: str, written_ns: int, compressed: int | None, members: Members
    ) -> Blob | None:
        """A member's copy in the spool, or a note on why there is none."""
        try:
            path, size = self._budget.spool(pieces, compressed)
        except Stop:
            raise
        except (TooMuch, Unsupported, Unavailable) as reason:
            members.say("not read", source, f"{reason}; not read")
            return None
        return Blob(source, path, size, written_ns)

    def _container(self, copy: Blob) -> str | None:
        with copy.path.open("rb") as file:
            return container(file.read(512), copy.source)

    def _take(self, copy: Blob, kind: str | None, depth: int) -> None:
        if kind is None:
            self.blobs.append(copy)
            return
        try:
            self._open(copy, kind, depth + 1)
        finally:
            copy.path.unlink(missing_ok=True)


def _kept(copy: Blob) -> str:
    return f"the first {copy.size:,} bytes were kept" if copy.size else "nothing of it could be kept"
