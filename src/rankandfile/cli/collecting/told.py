"""The gathering itself, with what is said of it: a line for what lacks, and what to do next."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.progress import watching

from .place import Place

if TYPE_CHECKING:
    from rankandfile.capture.collect.collect import Wishes
    from rankandfile.capture.collect.target import Target
    from rankandfile.capture.collect.visit import Came

#: Lines of what lacks; all of them are in the manifest.
_SHOWN = 40


def gather(found: Sequence[Target], place: Place, wishes: Wishes, *, last: bool) -> bool:
    """Whether all has come. `last`: nothing is said of what to do next. Raises `UserError` where nothing has."""
    from rankandfile.capture.collect import archive, folder
    from rankandfile.capture.collect.collect import collect

    lacking: list[Came] = []
    done = 0
    with told_as(f"cannot write {place.named}"), watching() as on_progress:

        def show(came: Came) -> None:
            nonlocal done
            done += 1
            if on_progress is not None:
                on_progress("gathering, nodes", done, len(found))
            lacking.extend([came] if not came.visited.whole else [])
            if len(lacking) <= _SHOWN and (line := _line(came)):
                err.print(line, soft_wrap=True)

        unpacked = _unpacked(place)
        came = collect(found, place.folder, wishes, show)
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


def _line(came: Came) -> str:
    said = came.visited.said or ("none of these files is there" if came.empty else "")
    return f"{came.target.name}: {said}" if said else ""


def _nothing(came: Sequence[Came]) -> str:
    what = "nothing was gathered" if any(not one.visited.whole for one in came) else "no such file is there"
    return f"{what} ({_counted(len(came), 'node')} asked); nothing was written"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _say_done(came: Sequence[Came], lacking: Sequence[Came], place: Place, last: bool) -> None:
    new, kept = sum(one.new for one in came), sum(one.kept for one in came)
    size = sum(one.bytes for one in came) / 1e6
    nodes = (
        f"{len(came) - len(lacking):,} of {_counted(len(came), 'node')}"
        if lacking
        else _counted(len(came), "node")
    )
    were = f"; {kept:,} were there already" if kept else ""
    out.print(f"{place.named}: {nodes}, {_counted(new, 'new file')}, {size:,.1f} MB{were}", soft_wrap=True)
    if lacking:
        names = ", ".join(one.target.name for one in lacking[:8]) + (" ..." if len(lacking) > 8 else "")
        out.print(f"lacking: {names}; the same command again asks only for what is not here", soft_wrap=True)
    if not last:
        out.print(f"next:    raf diagnose {shlex.quote(str(place.named))}", soft_wrap=True)
