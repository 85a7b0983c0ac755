"""The gathering itself, with what is said of it: a line for what lacks, and what to do next."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.progress import watching
from rankandfile.evidence.files.expansion_budget import amount

from .place import Place

if TYPE_CHECKING:
    from rankandfile.capture.collect.collect import Wishes
    from rankandfile.capture.collect.target import Target
    from rankandfile.capture.collect.visit import Came


class _Lines:
    """A line for each node that lacks something, as it comes; of many that say the same, the first, and a number."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._more: dict[str, int] = {}

    def add(self, came: Came) -> None:
        name = came.target.name
        said = came.visited.said or ("none of these files is there" if came.empty else "")
        same = said.replace(name, "")
        if said and same not in self._first:
            self._first[same] = name
            err.print(f"{name}: {said}", soft_wrap=True)
        elif said:
            self._more[same] = self._more.get(same, 0) + 1

    def end(self) -> None:
        for same, number in self._more.items():
            err.print(f"the same as {self._first[same]}: {counted(number, 'more node')}", soft_wrap=True)


def gather(found: Sequence[Target], place: Place, wishes: Wishes, *, last: bool) -> bool:
    """Whether all has come. `last`: nothing is said of what to do next. Raises `UserError` where nothing has."""
    from rankandfile.capture.collect import archive, folder
    from rankandfile.capture.collect.collect import collect

    lines, done = _Lines(), 0
    with told_as(f"cannot write {place.named}"), watching() as on_progress:

        def show(came: Came) -> None:
            nonlocal done
            done += 1
            if on_progress is not None:
                on_progress("gathering, nodes", done, len(found))
            lines.add(came)

        unpacked = _unpacked(place)
        came = collect(found, place.folder, wishes, show)
        lines.end()
        lacking = [one for one in came if not one.visited.whole]
        nothing = not sum(one.new + one.kept for one in came)
        if nothing:
            folder.forget(place.folder)
        elif place.archive is not None:
            archive.write(place.folder, place.archive)
        if place.archive is not None and (unpacked if nothing else not lacking):
            shutil.rmtree(place.folder, ignore_errors=True)
        if nothing:
            raise UserError(_nothing(came))
    _say_done(came, lacking, place, last)
    return not lacking


def _unpacked(place: Place) -> bool:
    """Whether an archive of before was taken apart, to go on with it. Raises `UserError` for one of another origin."""
    from rankandfile.capture.collect import archive

    if place.archive is None or not place.archive.exists() or place.folder.exists():
        return False
    if not archive.unpack(place.archive, place.folder):
        raise UserError(f"{place.archive}: is there, and raf collect has not made it; name another one")
    return True


def _nothing(came: Sequence[Came]) -> str:
    what = "nothing was gathered" if any(not one.visited.whole for one in came) else "no such file is there"
    return f"{what} ({_nodes(came)} asked); nothing was written"


def _nodes(came: Sequence[Came]) -> str:
    return counted(sum(one.target.node for one in came), "node")


def counted(number: int, what: str) -> str:
    """
    >>> counted(2, "new file")
    '2 new files'
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _say_done(came: Sequence[Came], lacking: Sequence[Came], place: Place, last: bool) -> None:
    new, kept = sum(one.new for one in came), sum(one.kept for one in came)
    whole = sum(one.target.node and one.visited.whole for one in came)
    told = [
        f"{whole:,} of {_nodes(came)}" if lacking else _nodes(came),
        counted(new, "new file"),
        amount(sum(one.bytes for one in came)),
    ]
    were = f"; {kept:,} were there already" if kept else ""
    out.print(f"{place.named}: {', '.join(told)}{were}", soft_wrap=True)
    if lacking:
        names = ", ".join(one.target.name for one in lacking[:8]) + (" ..." if len(lacking) > 8 else "")
        out.print(f"lacking: {names}; the same command again asks only for what is not here", soft_wrap=True)
    if not last:
        out.print(f"next:    raf diagnose {shlex.quote(str(place.named))}", soft_wrap=True)
