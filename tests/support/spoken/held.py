"""Statements held against what happened: calls of which it is known where they are whole, exits, stacks, logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

from .statement import Named, Spoken

Place = tuple[str, int]


class Group(NamedTuple):
    names: frozenset[str]
    members: frozenset[int]


class Made(NamedTuple):
    rank: int
    op: str
    group: int
    """Index of its group."""
    seq: int
    """0 of a send or a receive."""
    places: tuple[Place, ...]
    """All frames that it was made from, the innermost first; files as far as they are known."""
    batch: bool = False
    asked: str = ""
    """Types and sizes of what it hands over; empty where the witness does not know them."""
    peer: int | None = None
    """Of a send or a receive: to whom, or from whom, where the witness knows it."""
    open: bool | None = None
    """Whether it had not ended; None where the witness does not know."""


@dataclass(frozen=True, kw_only=True)
class Witness:
    """What is known of a job, by another way than an analyser's."""

    groups: tuple[Group, ...]
    calls: tuple[Made, ...]
    whole: frozenset[int]
    """Ranks of which every call is there, to the end."""
    wrapped: frozenset[int] = frozenset()
    """Ranks of which earlier calls are lost."""
    ends: Mapping[int, tuple[int | None, str | None, bool]] = field(default_factory=dict)
    """Rank -> exit code, signal, and whether it still ran."""
    logs: str = ""
    tables: bool = False
    """Its calls are all that were read."""
    stands: Mapping[int, frozenset[Place]] = field(default_factory=dict)
    """Rank -> every line that some stack of it shows."""
    spoke: frozenset[int] = frozenset()
    """Ranks of which there are lines of logs."""

    @cached_property
    def by_rank(self) -> dict[int, list[Made]]:
        found: dict[int, list[Made]] = {}
        for call in self.calls:
            found.setdefault(call.rank, []).append(call)
        return found

    def has(self, rank: int) -> bool:
        """Whether anything is known of such a rank: it is of a group, or left something."""
        members = {each for group in self.groups for each in group.members}
        known = {*members, *self.by_rank, *self.ends, *self.stands, *self.whole, *self.spoke}
        return not known or rank in known


def untrue(one: Spoken, witness: Witness) -> Iterator[str]:
    """What of a statement is not so, as far as the witness can tell."""
    check = _CHECKS.get(one.kind)
    for rank in one.ranks if check is not None else ():
        if check is not None and (why := check(one, rank, witness)):
            yield f"rank {rank} {one.kind}: {why} - {one.words}"


def _plain(op: str) -> str:
    op = op.lower().rpartition(":")[2].replace("_", "").removeprefix("monitored").removeprefix("coalesced ")
    for name in ("barrier", "allreduce", "allgather", "reducescatter", "alltoall", "broadcast", "scatter"):
        if name in op:
            return name
    return op


def _same(made: str, said: str) -> bool:
    """gloo has no reduce_scatter: torch makes an all_reduce of it, and that is what its recorder sees. A barrier of
    NCCL is an all_reduce, which the recorder has as `all_reduce_barrier`, and the watchdog's lines as ALLREDUCE."""
    if _plain(said) == "allreduce" and made.endswith("all_reduce_barrier"):
        return True
    made, said = _plain(made), _plain(said)
    return made == said or (made, said) == ("reducescatter", "allreduce")


def _groups(call: Named, rank: int, witness: Witness) -> list[int] | None:
    """Those that the words may mean; None: any."""
    if call.group is None:
        return None
    titles = {call.group, call.group.partition(":")[0]}
    return [
        i
        for i, group in enumerate(witness.groups)
        if titles & group.names and (not call.members or not group.members or call.members <= group.members)
    ]


def _such(call: Named, rank: int, witness: Witness, *, seq: bool = True, place: bool = True) -> list[Made]:
    groups = _groups(call, rank, witness)
    return [
        made
        for made in witness.by_rank.get(rank, ())
        if (groups is None or made.group in groups)
        and (call.op in (None, "coalesced") or _same(made.op, call.op or "") or made.batch)
        and (not seq or call.seq is None or made.seq in (call.seq, 0))
        and (not place or _at(call, made))
    ]


def _at(call: Named, made: Made) -> bool:
    if call.file is None or not made.places:
        return True
    name = call.file.replace("\\", "/").rpartition("/")[2]
    return any(
        file.rpartition("/")[2] == name and line == call.line for file, line in made.places
    ) or not any(file.rpartition("/")[2] == name for file, _ in made.places)


def _made(one: Spoken, rank: int, witness: Witness) -> str:
    if one.call is None or rank not in witness.whole or one.call.op is None:
        return ""
    if one.nth and rank not in witness.wrapped:
        # Others may come to a line by several ways: who has fewer calls of it altogether has none of that number.
        # Of its path are the calls of all kinds that a library makes there.
        made = _such(replace(one.call, op=None), rank, witness, seq=False)
        if len(made) < one.nth and all(call.places for call in made):
            return f"it made {len(made)} such calls"
    if _such(one.call, rank, witness) or _unrecorded(one.call.op, rank, witness):
        return ""
    if rank in witness.wrapped and one.kind != "waits":
        return ""
    return f"it made no such call ({one.call})"


def _waits_somewhere(_one: Spoken, rank: int, witness: Witness) -> str:
    """Said without a call: some call of it is open, or a stack shows it in one."""
    mine = witness.by_rank.get(rank, ())
    if rank not in witness.whole or not mine or any(made.open in (True, None) for made in mine):
        return ""
    inside = any("torch/distributed" in file for file, _ in witness.stands.get(rank, ()))
    return "" if inside else "it is in no call"


def _unrecorded(op: str, rank: int, witness: Witness) -> bool:
    """gloo's recorder has no sends and receives: where a rank's tables have none, they tell nothing of them."""
    recorded = any("send" in made.op or "recv" in made.op for made in witness.by_rank.get(rank, ()))
    return witness.tables and not recorded and _plain(op) in ("send", "recv", "isend", "irecv")


def _never(one: Spoken, rank: int, witness: Witness) -> str:
    call = one.call
    if call is None or call.seq is None or rank not in witness.whole or not any(c.seq for c in witness.calls):
        return ""
    mine = _such(call, rank, witness)
    if one.kind == "left out":
        groups = _groups(call, rank, witness) or []
        mine = [
            made for made in witness.by_rank.get(rank, ()) if made.group in groups and made.seq == call.seq
        ]
    if not mine:
        return ""
    others = {made.places for r in witness.by_rank if r not in one.ranks for made in _such(call, r, witness)}
    if one.kind == "never" and others and not any(made.places in others for made in mine):
        return ""
    return f"it made that call: {mine[0]}"


def _skipped(one: Spoken, rank: int, witness: Witness) -> str:
    call = one.call
    if call is None or rank not in witness.whole or witness.wrapped:
        return ""
    mine, decided = witness.by_rank.get(rank, []), False
    for peer in witness.by_rank.keys() & witness.whole - {*one.ranks}:
        wanted = {id(made) for made in _such(call, peer, witness, seq=False)}
        theirs = witness.by_rank[peer]
        if not mine or not wanted or not {made.group for made in mine} & {made.group for made in theirs}:
            continue
        # Who left a call out and went on makes the next one of its kind: that could be the one that others wait in.
        decided |= len(mine) <= len(theirs)
        if any(id(made) in wanted for made in _left_out(theirs, mine)):
            return ""
    return "it made every such call of the others, in their order" if decided else ""


def _left_out(theirs: list[Made], mine: list[Made]) -> Iterator[Made]:
    # Where no frames were recorded, calls are told apart by what they hand over.
    keys = [[(made.op, made.places or made.asked) for made in calls] for calls in (theirs, mine)]
    for tag, first, last, _, _ in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag in ("delete", "replace"):
            yield from theirs[first:last]


def _ended(one: Spoken, rank: int, witness: Witness) -> str:
    if rank not in witness.ends:
        return ""
    code, signal, running = witness.ends[rank]
    if one.kind == "ended well":
        return f"its end was {witness.ends[rank]}" if running or code not in (0, None) or signal else ""
    if one.what.startswith("SIG"):
        return (
            ""
            if signal == one.what or (not signal and not running and code is not None and code < 0)
            else (f"its end was {witness.ends[rank]}")
        )
    return "" if code == int(one.what) and not running else f"its end was {witness.ends[rank]}"


def _quoted(one: Spoken, rank: int, witness: Witness) -> str:
    what = re.sub(r"\s+", " ", one.what.rstrip(".…").removesuffix("...")).strip()
    head = what[:60]
    return (
        ""
        if not witness.logs or head in witness.logs or head.partition(": ")[2][:40] in witness.logs
        else (f"no log has it: {head}")
    )


def _stands(one: Spoken, rank: int, witness: Witness) -> str:
    seen = witness.stands.get(rank)
    if not seen:
        return ""
    name = one.file.rpartition("/")[2]
    # A stack that a record has kept is of the call that was asked for last.
    last = {made.group: made.places for made in witness.by_rank.get(rank, ())}
    shown = (*seen, *(place for places in last.values() for place in places))
    there = any(
        file.replace("\\", "/").rpartition("/")[2] == name and line == one.line for file, line in shown
    )
    return "" if there else "no stack of it shows that line"


_OF_RANK = re.compile(r"`(?:if|elif|while) (?P<no>not )?(?:[\w.]*\b(?:get_rank\(\)|rank\(\)|rank) == (?P<one>\d+)"
                      r"|[\w.]*\bis_main\w*(?:\(\))?):`")  # fmt: skip


def _took(one: Spoken, rank: int, _witness: Witness) -> str:
    """Of a test that is of the rank's number alone, anybody can tell."""
    test = _OF_RANK.search(one.words)
    if test is None:
        return ""
    truth = (rank == int(test["one"] or 0)) != bool(test["no"])
    return "" if truth == one.truth else "it cannot take this way"


_OF_ABSENCE = ("skipped a collective", "left out a call")
_OF_EXCESS = ("made a collective that the others did not", "made a call more")
_OF_PLACES = (*_OF_ABSENCE, *_OF_EXCESS, "left early")
_OF_PATHS = (*_OF_PLACES, "made another collective", "made collectives in another order")


def _did(one: Spoken, rank: int, witness: Witness) -> str:
    """What a headline says of a rank, by its calls held against those of its peers; by its end."""
    if not witness.has(rank):
        return "there is no such rank"
    if one.what in ("killed", "exited", "aborted itself"):
        end = witness.ends.get(rank)
        return f"its end was {end}" if end is not None and (end[2] or end[0] == 0) else ""
    if rank not in witness.whole or witness.wrapped or not witness.by_rank.get(rank):
        return ""
    if one.what == "left out a message":
        return _all_answered(rank, witness)
    peers = witness.by_rank.keys() & witness.whole - {*one.ranks}
    # A witness of places alone does not see what else a call may be another by.
    kinds = _OF_PATHS if witness.tables else _OF_PLACES
    if one.what in kinds and (like := [peer for peer in peers if _all_alike(rank, peer, witness)]):
        return f"it made the same calls as rank {like[0]}"
    mine = witness.by_rank[rank]
    others = [witness.by_rank[peer] for peer in peers]
    if not others:
        return ""
    # Who left a call out and went on makes more than those who wait in it; who is held in another one, fewer.
    most, least = max(map(len, others)), min(map(len, others))
    absent, besides = (one.what in kind for kind in (_OF_ABSENCE, _OF_EXCESS))
    if absent and len(mine) <= most and not any(any(_left_out(calls, mine)) for calls in others):
        return "it left out no call of any other"
    if besides and len(mine) >= least and not any(any(_left_out(mine, calls)) for calls in others):
        return "it made no call that another did not"
    return ""


def _all_answered(rank: int, witness: Witness) -> str:
    """Where the witness has transfers at all: whether the rank sent and took as many messages as were asked of it."""
    between: Counter[tuple[str, int, int]] = Counter()
    for made in witness.calls:
        name = next((n for n in ("send", "recv") if _plain(made.op).endswith(n)), None)
        if name is not None and made.peer is not None:
            between[name, made.rank, made.peer] += 1
    if between:
        owed = [
            key
            for (name, one, peer), count in between.items()
            if peer == rank and count > between[key := ("recv" if name == "send" else "send", rank, one)]
        ]
        return "" if owed else f"rank {rank} made its part of every message"
    ops = [_plain(made.op) for made in witness.calls]
    sent, asked = (sum(op.endswith(name) for op in ops) for name in ("send", "recv"))
    return f"{sent} messages were sent, and {asked} asked for" if sent + asked and sent >= asked else ""


def _all_alike(rank: int, peer: int, witness: Witness) -> bool:
    """Both are in the same groups, and made the same calls in each, from the same lines."""
    mine, theirs = (_by_group(one, witness) for one in (rank, peer))
    told = all(made.places for calls in mine.values() for made in calls)
    return told and {group: [_key(made) for made in calls] for group, calls in mine.items()} == {
        group: [_key(made) for made in calls] for group, calls in theirs.items()
    }


def _by_group(rank: int, witness: Witness) -> dict[int, list[Made]]:
    found: dict[int, list[Made]] = {}
    for made in witness.by_rank.get(rank, ()):
        found.setdefault(made.group, []).append(made)
    return found


def _key(made: Made) -> tuple[str, tuple[Place, ...], str]:
    return made.op, made.places, made.asked


_NTH = re.compile(r"(?P<least>at least )?the (?P<nth>\d+)(?:st|nd|rd|th) call by this path")


def _nth(one: Spoken, rank: int, witness: Witness) -> str:
    """How often the call of that number was made by its path until then, on some rank that made it."""
    match, call = _NTH.search(one.what), one.call
    if match is None or call is None or call.seq is None or not any(made.seq for made in witness.calls):
        return ""
    found = set()
    for peer in witness.by_rank.keys() & witness.whole:
        groups = _groups(call, peer, witness) or []
        calls = witness.by_rank[peer]
        for at, made in enumerate(calls):
            if made.group in groups and made.seq == call.seq and made.places:
                # A path may be told by the program's frames or by a framework's as well, and by torch's own.
                found.add(sum(_own(earlier) == _own(made) for earlier in calls[: at + 1]))
                found.add(sum(earlier.places == made.places for earlier in calls[: at + 1]))
                found.add(sum(_but_torch(earlier) == _but_torch(made) for earlier in calls[: at + 1]))
    nth = int(match["nth"])
    if not found or nth in found or witness.wrapped or (match["least"] and nth <= max(found)):
        return ""
    return f"it is the {sorted(found)}."


def _own(made: Made) -> tuple[Place, ...]:
    """The frames of the program, without those of libraries."""
    return tuple(place for place in made.places if "-packages/" not in place[0])


def _but_torch(made: Made) -> tuple[Place, ...]:
    return tuple(place for place in made.places if "-packages/torch/" not in place[0])


def _size(one: Spoken, rank: int, witness: Witness) -> str:
    """`4 ranks, 342 calls`: by the tables, of which every row is a call."""
    match = re.search(r"(?P<calls>[\d,]+) calls?\b", one.what)
    if match is None or not witness.tables:
        return ""
    return (
        ""
        if int(match["calls"].replace(",", "")) == len(witness.calls)
        else f"there are {len(witness.calls)}"
    )


_CHECKS = {
    "did": _did,
    "nth": _nth,
    "size": _size,
    "waits": _made,
    "waits somewhere": _waits_somewhere,
    "made": _made,
    "done": _made,
    "never": _never,
    "left out": _never,
    "skipped": _skipped,
    "ended": _ended,
    "ended well": _ended,
    "raised": _quoted,
    "logged": _quoted,
    "stands": _stands,
    "took": _took,
}
