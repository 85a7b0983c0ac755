"""The independent call log, as read back: every call of every rank with its group and place in the sequence."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

Frame = tuple[str, int, str]
"""File relative to the source tree, line, function."""


class Group(msgspec.Struct, frozen=True):
    """A process group as its members named it."""

    name: str
    desc: str
    ranks: tuple[int, ...]


class Call(msgspec.Struct, frozen=True):
    """One call as one rank issued it. `seq` counts collectives of the group from 1, as the Flight Recorder does;
    send/recv have 0."""

    rank: int
    n: int
    t: float
    op: str
    group: str
    seq: int
    stack: tuple[Frame, ...]
    peer: int | None = None
    thread: str = "MainThread"

    @property
    def site(self) -> Frame | None:
        """Innermost frame of user code."""
        return self.stack[0] if self.stack else None


class CallLog(msgspec.Struct, frozen=True):
    """All groups and calls of one job."""

    groups: tuple[Group, ...]
    calls: tuple[Call, ...]

    def of(self, group: Group, rank: int) -> list[Call]:
        """The collectives that `rank` issued on `group`, in order."""
        return [c for c in self.calls if c.rank == rank and c.group == group.name and c.seq > 0]

    def find_group(self, desc: str, containing: int) -> Group | None:
        """The group with this description or name that has `containing` among its members."""
        for group in self.groups:
            if desc in (group.desc, group.name) and containing in group.ranks:
                return group
        return None


class _Raw(msgspec.Struct):
    kind: str
    name: str = ""
    desc: str = ""
    ranks: tuple[int, ...] = ()
    n: int = 0
    t: float = 0.0
    op: str = ""
    hint: str | None = None
    peer: int | None = None
    thread: str = "MainThread"
    stack: tuple[Frame, ...] = ()
    seqs: dict[str, int] = {}


def merge_raw(files: dict[int, Path]) -> CallLog:
    """Put the ranks' raw logs together; the last line of a killed rank may be cut off."""
    groups: dict[tuple[str, tuple[int, ...]], Group] = {}
    calls: list[Call] = []
    for rank, path in sorted(files.items()):
        lines = _decode(path.read_bytes().splitlines()) if path.exists() else []
        for line in lines:
            if line.kind == "group":
                groups.setdefault((line.name, line.ranks), Group(line.name, line.desc, line.ranks))
        calls.extend(_resolve(rank, [line for line in lines if line.kind != "group"]))
    return CallLog(tuple(groups.values()), tuple(calls))


def _decode(lines: Iterable[bytes]) -> list[_Raw]:
    out = []
    for line in lines:
        try:
            out.append(msgspec.json.decode(line, type=_Raw))
        except msgspec.DecodeError:
            break
    return out


def _resolve(rank: int, lines: list[_Raw]) -> Iterable[Call]:
    """Give each call its group: the caller's own variable, or else the group whose number moved meanwhile. A group that
    is made anew under its name counts from 1 again: its number went back."""
    counts: dict[str, int] = {}
    before: dict[str, int] = {}
    for i, line in enumerate(lines):
        counts.update({group: 0 for group, seq in line.seqs.items() if seq < before.get(group, 0)})
        before.update(line.seqs)
        if line.kind != "call":
            continue
        after = lines[i + 1].seqs if i + 1 < len(lines) else {}
        moved = [g for g, seq in after.items() if seq > line.seqs.get(g, 0)]
        group = line.hint or (moved[0] if moved else "0")
        collective = line.op not in ("send", "recv")
        if collective:
            counts[group] = counts.get(group, 0) + 1
        seq = counts[group] if collective else 0
        yield Call(rank, line.n, line.t, line.op, group, seq, line.stack, line.peer, line.thread)
        if line.op == "monitored_barrier":
            counts[group] += 1  # gloo counts it twice


def write(log: CallLog, path: Path) -> None:
    """One JSON line per group and per call."""
    encode = msgspec.json.encode
    lines = [encode({"kind": "group", **msgspec.structs.asdict(g)}) for g in log.groups]
    lines += [encode({"kind": "call", **msgspec.structs.asdict(c)}) for c in log.calls]
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def read(path: Path) -> CallLog:
    """The log as `write` left it."""
    return parsed(path.read_bytes())


def parsed(text: bytes) -> CallLog:
    """The log in these lines."""
    groups, calls = [], []
    for line in text.splitlines():
        if line.startswith(b'{"kind":"group"'):
            groups.append(msgspec.json.decode(line, type=Group))
        else:
            calls.append(msgspec.json.decode(line, type=Call))
    return CallLog(tuple(groups), tuple(calls))
