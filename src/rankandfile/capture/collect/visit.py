"""One machine visited: its list heard, what is lacking here asked for, and received."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct

from rankandfile.evidence.files.expansion_budget import amount
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.tar import Tar

from . import far_side, folder, listing
from .folder import CONDENSED, Visited
from .listing import Listed
from .process import Process, Running
from .reasons import and_more, reason
from .receive import LARGEST, Incomplete, receive
from .target import Also, Target

_LINE = 8192
#: Lines before the script's first: what a login shell greets with.
_GREETING = 1000
_LIMITS = Limits()
_PIECE = 1 << 16


class Came(Struct, kw_only=True):
    """What came of a visit."""

    target: Target
    visited: Visited
    new: int = 0
    bytes: int = 0
    kept: int = 0
    """Files that were there already."""
    empty: bool = False
    """None of the files that were looked for is there."""


class _Failed(Exception):
    """Its text is a line for the person."""


class Visit:
    def __init__(self, target: Target, into: Path, before: Visited, running: Running, *, full: bool) -> None:
        self._target, self._into, self._before, self._full = target, into, before, full
        self._running = running
        self._until, self._late = 0.0, ""
        visited = Visited(condensed=before.condensed, stacks=before.stacks)
        self.came = Came(target=target, visited=visited)
        self._notes: list[str] = []

    def go(self, seconds: float, option: str = "--timeout") -> Came:
        """Takes no longer, as the option has it, and raises nothing for what a machine does, or lacks."""
        self._until = time.monotonic() + seconds
        self._late = f"no answer in {seconds:.0f} s ({option})"
        failed = [self._target.out_of_reach] if self._target.out_of_reach else []
        try:
            spool = folder.spool(self._into)
            for also in self._target.also:
                self._said_of_it(also, spool)
            if self._target.reach:
                self._files(spool)
        except (_Failed, Incomplete) as why:
            failed.append(str(why))
        except OSError as error:
            failed.append(f"{error.filename or 'here'}: {error.strerror or error}")
        self.came.visited.whole = not failed
        self.came.visited.said = "; ".join([*failed, *self._notes])
        return self.came

    def _start(self, command: Sequence[str]) -> AbstractContextManager[Process]:
        return self._running.start(command, self._until - time.monotonic())

    def _said_of_it(self, also: Also, spool: Path) -> None:
        """Without it the files still count: what goes wrong is noted."""
        copy, size = spool / "said", 0
        try:
            with self._start(also.command) as process, copy.open("wb") as file:
                while piece := process.read(_PIECE):
                    size += file.write(piece)
                    if size > LARGEST:
                        raise _Failed(f"more than {amount(LARGEST)}")
                self._ended(process)
        except _Failed as why:
            self._notes.append(f"{also.name}: {why}")
            return
        folder.put(copy, self._into / also.name, 0)
        self._took(size)

    def _files(self, spool: Path) -> None:
        stacks = self._target.stacks and not self._before.stacks
        script = far_side.script(self._target, stacks, condense=not self._full)
        with self._start(far_side.command(self._target, len(script))) as process:
            process.write(script)
            self._heard(process, {listing.FIRST}, _GREETING)
            found = listing.read(self._heard(process, {listing.LAST}), self._target.folder)
            self._notes += found.notes
            self.came.empty = not found.files
            wanted, condense = self._lacking(found)
            if wanted:
                self._ask(process, wanted, condense)
                self._take(process, wanted, spool)
            else:
                process.write(b"nothing 0\n")
            self._ended(process)
        self.came.visited.stacks |= any(one.stack for one in found.files)

    def _lacking(self, found: listing.Listing) -> tuple[list[Listed], bool]:
        """What is asked for, and whether as one condensed file: of all then, as what one tells hangs on the others."""
        large = [one.path for one in found.files if one.size > LARGEST]
        if large:
            self._notes.append(f"more than {amount(LARGEST)} long, left out: {and_more(large)}")
        files = [one for one in found.files if not one.stack and one.size <= LARGEST]
        stacks = [one for one in found.files if one.stack]
        if folder.is_condensed(self._into, files, self._before.condensed) and not self._full:
            self.came.kept = len(files)
            return stacks, False
        lacking = [one for one in files if not folder.has(self._into, one)]
        self.came.kept = len(files) - len(lacking)
        return lacking + stacks, found.can_condense and not self.came.kept and bool(lacking)

    def _ask(self, process: Process, wanted: Sequence[Listed], condense: bool) -> None:
        names = "\n".join(one.asked for one in wanted).encode("utf-8", "surrogateescape")
        process.write(f"{'condense' if condense else 'whole'} {len(names)}\n".encode() + names)

    def _take(self, process: Process, wanted: Sequence[Listed], spool: Path) -> None:
        *notes, how = self._heard(process, {"condensed", "whole"})
        self._notes += listing.read(notes).notes
        files = {one.name: (one.size, one.seconds) for one in wanted if not one.stack}
        if how == "condensed":
            one = Listed(
                path=f"/{CONDENSED}", name=CONDENSED, size=sum(one.size for one in wanted), seconds=0
            )
            wanted = [one]
        lacking = {one.sent: one for one in wanted}

        def took(one: Listed, size: int) -> None:
            del lacking[one.sent]
            self._took(size)

        try:
            # The far side waits for a word after it: the archive ends before the stream does.
            receive(Tar(process.read, alone=True), dict(lacking), self._into, spool, took)
        except Incomplete as why:
            said = self._late if process.late else self._complaint(process) or str(why)
            came = f"{len(wanted) - len(lacking):,} of {len(wanted):,} files came"
            raise _Failed(f"{said}; {came}") from None
        process.write(b"thanks\n")
        if how == "condensed":
            self.came.visited.condensed = files
        elif files and self._before.condensed:
            (self._into / CONDENSED).unlink(missing_ok=True)
            self.came.visited.condensed = {}
        if lacking:
            said = self._complaint(process) or "gone meanwhile"
            raise _Failed(f"not sent: {and_more([one.path for one in lacking.values()])} ({said})")

    def _heard(self, process: Process, ends: set[str], most: int = _LIMITS.files) -> list[str]:
        """Lines up to one of `ends`, and that one."""
        lines: list[str] = []
        for line in self._lines(process):
            lines.append(line)
            if line in ends:
                return lines
            if len(lines) > most:
                raise _Failed(f"it says too much: {most:,} lines, and none of them is '{min(ends)}'")
        self._ended(process)
        raise _Failed("it ended before it had told what is there")

    def _lines(self, process: Process) -> Iterator[str]:
        while line := process.out.readline(_LINE):
            yield line.decode("utf-8", "surrogateescape").rstrip("\r\n")

    def _ended(self, process: Process) -> None:
        """When it has: well. Raises `_Failed` otherwise."""
        status = process.wait()
        if process.late:
            raise _Failed(self._late)
        if status:
            raise _Failed(reason(process.said(), status))

    def _complaint(self, process: Process) -> str:
        status = process.wait()
        said = process.said()
        return reason(said, status) if said.strip() else ""

    def _took(self, size: int) -> None:
        self.came.new += 1
        self.came.bytes += size
