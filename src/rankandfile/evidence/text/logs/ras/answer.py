"""One answer of NCCL's RAS as what it says of each communicator: which ranks have launched how much, who is missing.

From JSON everything is known. As text it says nothing of counts in which all agree, and does not name all ranks of a
large part: those are a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from rankandfile.evidence.text.logs.event import clean
from rankandfile.evidence.text.logs.ranklists import parse as ranks_in
from rankandfile.evidence.text.logs.ras import as_json
from rankandfile.evidence.text.logs.ras.as_text import HEADING, LISTED, MANY, ONE, ROW

_OP = re.compile(r"^\s*Communicator ranks have different (\w+) operation counts")
_VERSION = re.compile(r"^NCCL version (\S{1,60})", re.MULTILINE)
_MISSING = "Missing communicator data from"
#: Communicators and ranks of one that are read: beyond, an answer is no answer.
_MOST_COMMUNICATORS, _MOST_RANKS = 100_000, 1 << 20


class Member(Struct, frozen=True):
    """One rank of a communicator, and its process."""

    number: int
    host: str = ""
    pid: int = -1
    device: str = ""
    state: str = ""
    """`running`, or what else is told of it."""


class Cohort(Struct, frozen=True):
    """Ranks of a communicator that have launched equally many of each operation."""

    counts: Mapping[str, int]
    size: int
    members: tuple[Member, ...]
    """Those that are named; all, where there are as many as `size`."""


class Communicator(Struct, frozen=True):
    id: str
    size: int
    cohorts: tuple[Cohort, ...]
    """The largest first. Empty where the answer does not tell who belongs together."""
    missing: tuple[Member, ...] = ()
    """No data came from them."""

    @property
    def apart(self) -> bool:
        """Not all have launched the same."""
        return len(self.cohorts) > 1


class Answer(Struct, frozen=True):
    version: str
    communicators: tuple[Communicator, ...]
    whole: bool
    """Counts in which all agree are told as well."""
    told: int
    """Equal where two answers say the same of all launches."""


def read(data: bytes) -> Answer:
    """Raises ValueError, with a sentence, for what is no answer."""
    if as_json.is_one(data[:4096]):
        document, _ = as_json.parsed(data)
        found = tuple(
            _of_json(one) for one in as_json.dicts(document.get("communicators"))[:_MOST_COMMUNICATORS]
        )
        return _answer(clean(str(document.get("nccl_version", "")), 60), found, whole=True)
    text = data.decode("utf-8", "replace")
    if (version := _VERSION.search(text)) is None:
        raise ValueError(f"no answer of RAS: {clean(text[:200], 80) or 'nothing came'}")
    return _answer(version[1], tuple(_of_text(text)), whole=False)


def _answer(version: str, found: tuple[Communicator, ...], whole: bool) -> Answer:
    told = [(one.id, one.size, [(dict(part.counts), part.size) for part in one.cohorts]) for one in found]
    return Answer(version, found, whole, hash(msgspec.json.encode(told, order="sorted")))


def _of_json(told: dict[str, Any]) -> Communicator:
    ranks = as_json.dicts(told.get("ranks"))[:_MOST_RANKS]
    missing = as_json.dicts(told.get("missing_ranks"))[:_MOST_RANKS]
    by_counts: dict[tuple[tuple[str, int], ...], list[Member]] = {}
    for rank in ranks:
        counts = rank.get("collective_counts")
        kept = {
            clean(str(op), 60): n for op, n in (counts.items() if isinstance(counts, dict) else ())
            if type(n) is int and 0 < n < 1 << 53
        }  # fmt: skip
        by_counts.setdefault(tuple(sorted(kept.items())), []).append(_member(rank, as_json.state(rank)))
    return Communicator(
        _id(str(told.get("hash", "")), str(told.get("secondary_hash", ""))),
        as_json.integer(told.get("size")) or len(ranks) + len(missing),
        _largest_first(Cohort(dict(counts), len(those), tuple(those)) for counts, those in by_counts.items()),
        tuple(_member(rank, _gone(rank)) for rank in missing),
    )


def _largest_first(cohorts: Iterator[Cohort]) -> tuple[Cohort, ...]:
    return tuple(sorted(cohorts, key=lambda one: (-one.size, sorted(one.counts.items()))))


def _member(rank: dict[str, Any], state: str) -> Member:
    number, pid, device = (as_json.integer(rank.get(name)) for name in ("rank", "pid", "cuda_dev"))
    return Member(
        number if number is not None else -1,
        clean(str(rank.get("host", "")), 100),
        pid if pid is not None else -1,
        str(device) if device is not None else "",
        state,
    )


def _gone(rank: dict[str, Any]) -> str:
    status = rank.get("status")
    told = status if isinstance(status, dict) else {}
    if told.get("considered_dead") is True:
        return "considered dead"
    return "does not answer" if told.get("unresponsive") is True else "has left"


def _id(first: str, second: str) -> str:
    """The same in both forms; JSON tells more."""
    plain = first.removeprefix("0x").zfill(16)
    return clean(f"{plain}/{second}" if second else plain, 80)


class _Told(Struct):
    """What the text says of one communicator, while it is read."""

    id: str
    size: int
    groups: dict[str, list[tuple[int, int, list[Member]]]] = {}
    """Operation -> how many ranks launched how many, and those of them that are named."""
    missing: list[Member] = []


def _of_text(text: str) -> Iterator[Communicator]:
    sizes: dict[str, int] = {}
    found: dict[str, _Told] = {}
    now: _Told | None = None
    op, missing = "", False
    for line in text.splitlines():
        if (row := ROW.match(line)) is not None:
            sizes[row[1]] = int(row[5])
        elif (heading := HEADING.match(line)) is not None and len(found) < _MOST_COMMUNICATORS:
            size = sizes.get(heading[1], 0)
            now = found.setdefault(_id(heading[3], ""), _Told(_id(heading[3], ""), size, {}, []))
            op, missing = "", False
        elif line and not line[0].isspace():
            now = None
        elif now is not None and (told := _OP.match(line)) is not None:
            op, missing = told[1], False
            now.groups[op] = []
        elif now is not None and line.strip().startswith(("Communicator ranks have different", _MISSING)):
            op, missing = "", line.strip().startswith(_MISSING)
        elif now is not None and (op or missing):
            _add(now, op, line)
    for one in found.values():
        yield Communicator(one.id, one.size, _cohorts(one), tuple(one.missing))


def _add(now: _Told, op: str, line: str) -> None:
    listed = LISTED.match(line)
    if not op:
        if listed is not None:
            now.missing.append(_listed(listed, "does not answer"))
    elif (many := MANY.match(line)) is not None and many[4] is None:
        now.groups[op].append((int(many[2] or 0), int(many[1]), []))
    elif (one := ONE.match(line)) is not None and one[4] is None:
        host, pid, device = clean(one[7] or "", 100), int(one[6] or -1), one[5] or ""
        members = [Member(rank, host, pid, device, "running") for rank in ranks_in(one[1])]
        now.groups[op].append((int(one[2] or 0), len(members), members))
    elif listed is not None and now.groups[op]:
        now.groups[op][-1][2].append(_listed(listed, "running"))


def _listed(match: re.Match[str], state: str) -> Member:
    return Member(int(match[1]), clean(match[4], 100), int(match[3]), match[2], state)


def _cohorts(told: _Told) -> tuple[Cohort, ...]:
    """Empty where two parts of a communicator are numbers only: nobody knows who belongs to which."""
    named = {
        one.number: one for groups in told.groups.values() for _, _, members in groups for one in members
    }
    rest: dict[str, int] = {}
    own: dict[int, dict[str, int]] = {number: {} for number in named}
    for op, groups in told.groups.items():
        unnamed = [count for count, size, members in groups if size > len(members)]
        if len(unnamed) > 1:
            return ()
        rest[op] = unnamed[0] if unnamed else 0
        for count, _, members in groups:
            for one in members:
                own[one.number][op] = count
    if not told.groups:
        return ()
    size = told.size or max(sum(size for _, size, _ in groups) for groups in told.groups.values())
    by_counts: dict[tuple[tuple[str, int], ...], list[Member]] = {}
    for number, counts in sorted(own.items()):
        by_counts.setdefault(tuple(sorted({**rest, **counts}.items())), []).append(named[number])
    others = size - len(named) - len(told.missing)
    all_of_them = {counts: (len(those), those) for counts, those in by_counts.items()}
    if others > 0:
        key = tuple(sorted(rest.items()))
        count, those = all_of_them.get(key, (0, []))
        all_of_them[key] = count + others, those
    return _largest_first(
        Cohort(dict(counts), count, tuple(those)) for counts, (count, those) in all_of_them.items()
    )
