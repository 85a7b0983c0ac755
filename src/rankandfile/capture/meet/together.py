"""One verdict for all nodes: everybody hands in what it has, and one speaks.

That is the lowest node that is there; of a job that goes on, the one that keeps its evidence.
"""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rankandfile.capture.meet.nodes import Nodes, Word

#: For the slowest node's stacks; for the ends of the others' jobs; for the verdict of whoever speaks.
ALL_S, ENDS_S, VERDICT_S = 40.0, 8.0, 120.0
_LOOK_S = 0.3
#: Of a log, its end; of everything, so much.
LOG_TAIL, MOST = 4 << 20, 1 << 30

Say = Callable[[str], None]


@dataclass(frozen=True)
class Told:
    """Another node speaks for all."""

    words: str
    hang: bool | None = None


@dataclass(frozen=True)
class Speaks:
    """This node speaks for all, with what the others have handed in; some have not."""

    missing: frozenset[str] = frozenset()


def confer(nodes: Nodes, folder: Path, alarm: int, say: Say, ended: int | None = None) -> Told | Speaks:
    """Hand in, and learn who speaks; others' evidence is in `folder` if we do. `ended`: the job's code here."""
    state = "runs" if ended is None else "ended"
    nodes.listen(True)
    nodes.hand_in(pack(folder), alarm, state, ended or 0)
    began = time.monotonic()
    about = "end" if ended is not None else str(alarm)
    while not nodes.lost:
        waited = time.monotonic() - began
        if (told := nodes.verdict(about)) is not None:
            return _told(told)
        first = nodes.speaker() if ended is None else nodes.first(waiting=True)
        others = nodes.others()
        missing = [
            name for name, word in others.items() if nodes.alive(name) and not _is_in(word, alarm, ended)
        ]
        patient = waited < (ALL_S if ended is None else ENDS_S)
        if first == nodes.own:
            if not missing or not patient:
                return Speaks(fetch_all(nodes, folder, alarm, say))
        elif not patient and ended is not None and others[first].state == "runs":
            return Told(f"the job still runs on {others[first].name}, which has the evidence of this node")
        elif waited > ALL_S + VERDICT_S:
            break
        time.sleep(_LOOK_S)
    return Speaks()


def replaced(nodes: Nodes, alarm: int, before: Told) -> Told | None:
    """What the node that speaks says by now, where that is something else."""
    told = nodes.verdict(str(alarm))
    now = _told(told) if told is not None else before
    return now if now.words != before.words else None


def _is_in(word: Word, alarm: int, ended: int | None) -> bool:
    return word.state == "ended" or (ended is None and word.answered >= alarm)


def _told(verdict: dict[str, object]) -> Told:
    hang = verdict.get("hang")
    words = f"the verdict is with {_line(verdict.get('node'))}: {_line(verdict.get('headline'))}"
    return Told(
        f"{words}; case there: {_line(verdict.get('case'))}", hang if isinstance(hang, bool) else None
    )


def _line(value: object) -> str:
    """Of another node: one line, without anything that a terminal obeys."""
    return "".join(letter for letter in str(value)[:300] if letter.isprintable())


def fetch_all(nodes: Nodes, folder: Path, alarm: int, say: Say) -> frozenset[str]:
    """What others have handed in, into `folder`; returns who has not."""
    size = 0
    missing = set()
    for name, word in sorted(nodes.others().items(), key=lambda other: other[1].ranks):
        fresh = word.state == "ended" or word.answered >= alarm
        data = nodes.fetch(name) if fresh and size < MOST else None
        if data is None:
            lost = "" if nodes.alive(name) else ", which is lost"
            say(f"no evidence of {word.name}{lost}")
            missing.add(name)
            continue
        size += len(data)
        (folder / f"handed-in-{min(word.ranks, default=0)}.tar.gz").write_bytes(data)
    return frozenset(missing)


def pack(folder: Path) -> bytes:
    """A folder of evidence as an archive, which `raf diagnose` reads as it is."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz", compresslevel=3) as archive:
        for path in sorted(folder.rglob("*")):
            if not path.is_file():
                continue
            with path.open("rb") as file:
                info = archive.gettarinfo(str(path), str(path.relative_to(folder)))
                if path.suffix == ".log" and info.size > LOG_TAIL:
                    file.seek(info.size - LOG_TAIL)
                    info.size = LOG_TAIL
                # Files may grow meanwhile; an archive that promised less stays whole.
                archive.addfile(info, io.BytesIO(file.read(info.size)))
    return whole.getvalue()
