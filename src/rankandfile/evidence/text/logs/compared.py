"""What ranks' logs say differently: the beginnings and ends of their logs, put side by side by the shape of each line.

A line's shape is its text without its numbers. Some things are worth a word: a number that one rank has where all
others agree on another ("loaded 1187 shards"), a line of consequence that one rank alone wrote ("got signal 15"), and a
counter that all repeat and that is behind on one. What each rank says of itself, its time, its loss, is none of them.
A fourth is a path or an address in the last line of all, which is another one on a few: where they wait to meet, say.
What one rank wrote last, and no other, is kept as well: with the program's source it tells where that rank has been.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.logs.event import Event, clean
from rankandfile.evidence.text.logs.raw import MOST_COMPARED, Said

#: Lines looked at from each end of a file, distinct shapes kept, and characters of each.
_LOOKED, _FIRST, _LAST, _LONGEST = 60, 12, 24, 160

#: Earlier lines of a shape that are kept, and how many of them must agree on all ranks before a last one tells.
_KEPT_BEFORE, _LEAST_BEFORE = 4, 2

_FEWEST = 3
_MOST_FOUND = 12
#: Lines that one rank alone wrote: of all ranks, and how many of its others may come behind one.
_MOST_OWN, _MOST_BEHIND = 16, 2

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e-?\d+)?")
_WORD = re.compile(r"[A-Za-z]{3,}")
_SOMEWHERE = re.compile(r"(?:\b\w+://|(?<![\w/])\.{0,2}/)[^\s'\",;()]+|\b[\w-]+(?:\.[\w-]+){1,8}:\d{2,5}\b")
_OWN = re.compile(
    r"(?i)\brank[ =:_-]{0,3}#|#[ =:_-]{0,3}rank\b"
    r"|\b(?:pid|port|seed|device|gpu|cuda|local|host|node|addr\w*|took|elapsed|sec\w*|ms|time|loss|acc\w*|lr|"
    r"eta|it/s|mem(?!bers?\b)\w*|world|worker|thread|uuid|hash|id)\b"
)
#: Lines of a stack: where each rank stands is told by them together.
_STACK = re.compile(
    r"#\d+ |File:? \"|frame #|(?:Current t|T)hread 0x|Traceback |Timeout \(|.*most recent call"
)
#: A time in milliseconds, say, in a column that most lines have; what else is indented belongs to the line above.
_PADDED = re.compile(r" {1,8}\d+[ .:]")
_OF_TORCH = frozenset(("c10", "nccl", "kernel", "syslog", "journal"))
_TELLS = re.compile(
    r"(?i)\b(?:skip\w*|stop\w*|early|signal|sig(?:term|int|usr)\w*|preempt\w*|exhaust\w*|retry\w*|nan|non-finite|empty|"
    r"missing|corrupt\w*|fallback|fall\w* back|resum\w*|evict\w*|drop\w*|ignor\w*|abort\w*|break\w*|interrupt\w*|"
    r"no more|leaving|cannot|could not|unable|giving up)\b"
)

_TELLS_OR_ENDS = re.compile(
    _TELLS.pattern
    + r"|(?i:\b(?:epoch|loader|data\w*|batch\w*)\b.{0,40}\b(?:finished|ended|done|over|complete\w*)\b)"
)


class Wanted:
    """Whether a log's lines are worth keeping, as the last request to this process said: of too many logs none are."""

    lines = True


def said_in(head: Sequence[BareLine], tail: Sequence[BareLine], lines: int, whole: bool) -> list[Said]:
    """Distinct lines at a file's beginning and end, of a shape that repeats the last. `whole`: the head is the file."""
    if not Wanted.lines:
        return []
    numbered = [(number, bare) for number, bare in enumerate(head[:_LOOKED], start=1)]
    first_of_tail = lines - len(tail) + 1
    rest = [(first_of_tail + place, bare) for place, bare in enumerate(tail)][-_LOOKED:]
    if whole:
        rest = [(number, bare) for number, bare in enumerate(head, start=1)][-_LOOKED:]
    shapes: dict[tuple[object, ...], Said] = {}
    said = [(number, bare) for number, bare in {**dict(numbered), **dict(rest)}.items() if _speaks(bare)]
    in_column = 2 * sum(_PADDED.match(bare.body) is not None for _, bare in said) > len(said)
    for number, bare in said:
        text = bare.body.strip()
        if bare.body[:1].isspace() and not (in_column and _PADDED.match(bare.body)):
            continue
        key = (bare.rank, bare.host, bare.pid, bare.local_rank, bare.task, shape_of(text))
        known = shapes.pop(key, None)
        times = 1 + (known.times if known else 0)
        before = (*known.before, known.text)[-_KEPT_BEFORE:] if known else ()
        shapes[key] = Said(
            line=number, rank=bare.rank, text=clean(text, _LONGEST), times=times, pid=bare.pid, host=bare.host,
            local_rank=bare.local_rank, task=bare.task, before=before,
        )  # fmt: skip
    found = list(shapes.values())
    return found if len(found) <= _FIRST + _LAST else [*found[:_FIRST], *found[-_LAST:]]


def _speaks(bare: BareLine) -> bool:
    text = bare.body.strip()
    return len(text) >= 8 and not _OF_TORCH.intersection(bare.layers) and _plain(text)


def _plain(text: str) -> bool:
    return len(_WORD.findall(text[:_LONGEST])) >= 2 and not _STACK.match(text)


def shape_of(text: str) -> str:
    return _shape_of(text[:_LONGEST])


@lru_cache(maxsize=1 << 12)
def _shape_of(text: str) -> str:
    return _NUMBER.sub("#", text)


def differences(
    logs: Iterable[tuple[int, int | None, Sequence[Said]]], several: bool
) -> dict[int, list[Event]]:
    """By log: what one rank or a few say that the others do not. `logs`: number, rank of the file, its lines.

    `several`: more than one rank is heard of, be it by lines that are not compared.
    """
    listed = [entry for entry in logs if entry[2]]
    if not 0 < len(listed) <= MOST_COMPARED:
        return {}
    by_shape: dict[str, dict[int, tuple[int, Said]]] = defaultdict(dict)
    ranks: set[int] = set()
    for number, owner, lines in listed:
        for said in lines:
            rank = said.rank if said.rank is not None else owner
            if rank is not None:
                ranks.add(rank)
                by_shape[shape_of(said.text)][rank] = (number, said)
    out: dict[int, list[Event]] = defaultdict(list)
    # Where each rank counts for itself, who alone says that it is through tells of itself, and not of the job.
    each = any(
        set(spoken) == ranks and all(said.times > 1 for _, said in spoken.values())
        for spoken in by_shape.values()
    )
    tells = _TELLS_OR_ENDS if each else _TELLS
    found = 0
    for shape, spoken in by_shape.items() if len(ranks) > 1 else ():
        for log, event in _of_shape(shape, spoken, ranks, tells):
            if found < _MOST_FOUND:
                out[log].append(event)
                found += 1
    now = [each for shape, spoken in by_shape.items() for each in _no_longer_alike(shape, spoken, ranks)]
    for log, event in (
        *(_own_last(listed) if several else ()),
        *_elsewhere_at_last(listed, ranks),
        *now[:_MOST_FOUND],
    ):
        out[log].append(event)
    return out


def _elsewhere_at_last(
    logs: Iterable[tuple[int, int | None, Sequence[Said]]], ranks: set[int]
) -> Iterable[tuple[int, Event]]:
    """The last lines of all ranks, where they are one but for what rank it is and a path or an address, and that is
    another one on a few than on most."""
    last: dict[int, tuple[int, Said]] = {}
    for log, owner, said_there in logs:
        for said in said_there:
            rank = said.rank if said.rank is not None else owner
            if rank is not None and (rank not in last or last[rank][1].line <= said.line):
                last[rank] = log, said
    shapes = {shape_of(_SOMEWHERE.sub("@", said.text)) for _, said in last.values()}
    if len(ranks) < _FEWEST or set(last) != ranks or len(shapes) != 1:
        return
    places = {rank: tuple(_SOMEWHERE.findall(said.text)) for rank, (_, said) in last.items()}
    usual, most, odd = _few_against_most(places)
    example = next(said.text for rank, (_, said) in last.items() if places[rank] == usual)
    for rank in odd[:_MOST_FOUND]:
        log, said = last[rank]
        yield log, _event("place_differs", rank, said, others=most, other=example)


def _own_last(logs: Iterable[tuple[int, int | None, Sequence[Said]]]) -> Iterable[tuple[int, Event]]:
    """What one rank alone wrote, among the last that it wrote. Which rank that is, other lines may tell later."""
    by_shape: dict[str, dict[object, tuple[int, Said]]] = defaultdict(dict)
    lines: dict[object, list[int]] = defaultdict(list)
    for number, owner, said_there in logs:
        for said in said_there:
            writer = _writer(said, owner)
            if writer is not None:
                lines[writer].append(said.line)
                by_shape[shape_of(said.text)][writer] = (number, said)
    alone = [next(iter(spoken.items())) for spoken in by_shape.values() if len(spoken) == 1]
    last = [one for one in alone if sum(line > one[1][1].line for line in lines[one[0]]) <= _MOST_BEHIND]
    for writer, (log, said) in last[:_MOST_OWN]:
        event = _event("own_last_line", writer if isinstance(writer, int) else None, said)
        event.host, event.local_rank = said.host, said.local_rank
        if said.task is not None:
            event.fields["task"] = said.task
        yield log, event


def _writer(said: Said, owner: int | None) -> object:
    """The rank or, where the line tells none, what it tells of its process; None where that is nothing."""
    rank = said.rank if said.rank is not None else owner
    place = (said.host, said.local_rank, said.task)
    return rank if rank is not None else place if place[1:] != (None, None) else None


def _of_shape(
    shape: str, spoken: dict[int, tuple[int, Said]], ranks: set[int], tells: re.Pattern[str]
) -> Iterable[tuple[int, Event]]:
    if len(spoken) == 1 and tells.search(shape):
        ((rank, (log, said)),) = spoken.items()
        yield log, _event("line_alone", rank, said, others=len(ranks) - 1)
        return
    if len(ranks) < _FEWEST or set(spoken) != ranks or "#" not in shape:
        return
    repeated = all(said.times > 1 for _, said in spoken.values())
    if not repeated and (any(said.times > 1 for _, said in spoken.values()) or _OWN.search(shape)):
        return
    values = {rank: _numbers(said.text)[: 1 if repeated else None] for rank, (_, said) in spoken.items()}
    usual, most, odd = _few_against_most(values)
    if any("." in value for value in usual):
        return
    example = next(said.text for rank, (_, said) in spoken.items() if values[rank] == usual)
    for rank in odd:
        log, said = spoken[rank]
        if repeated and not _less(values[rank], usual):
            continue
        yield (
            log,
            _event(
                "progress_differs" if repeated else "value_differs", rank, said, others=most, other=example
            ),
        )


def _no_longer_alike(
    shape: str, spoken: dict[int, tuple[int, Said]], ranks: set[int]
) -> Iterable[tuple[int, Event]]:
    """A whole number in the last line of all ranks that is another one on a few, and was the same on all in the lines
    of this shape before: what the ranks had agreed on until then. What each says of itself is none, nor is one that
    the others have left behind: that log only ends a line earlier."""
    if len(ranks) < _FEWEST or set(spoken) != ranks or len({said.times for _, said in spoken.values()}) != 1:
        return
    rounds = list(zip(*(map(_numbers, said.before) for _, said in spoken.values()), strict=False))
    last = {rank: _numbers(said.text) for rank, (_, said) in spoken.items()}
    lengths = {len(numbers) for of in (*rounds, last.values()) for numbers in of}
    if len(rounds) < _LEAST_BEFORE or len(lengths) != 1:
        return
    around = shape.split("#")
    for at in range(lengths.pop()):
        values: dict[int, tuple[str, ...]] = {rank: (numbers[at],) for rank, numbers in last.items()}
        usual, most, odd = _few_against_most(values)
        agreed = {numbers[at] for numbers in rounds[-1]}
        if any(len({numbers[at] for numbers in of}) > 1 for of in rounds) or not odd:
            continue
        if len(odd) > _MOST_FOUND or any(not value[0].isdigit() for value in values.values()):
            continue
        if _OWN.search(f"{around[at]}#{around[at + 1]}") or any(last[rank][at] in agreed for rank in odd):
            continue
        example = next(said.text for rank, (_, said) in spoken.items() if last[rank][at] == usual[0])
        for rank in odd:
            log, said = spoken[rank]
            fields = {"others": most, "other": example, "before": len(rounds)}
            yield log, _event("value_differs_now", rank, said, **fields, value=last[rank][at], usual=usual[0])
        return


def _few_against_most(values: dict[int, tuple[str, ...]]) -> tuple[tuple[str, ...], int, list[int]]:
    """What most ranks have, how many these are, and who has something else: nobody, where they are not few."""
    (usual, most), *_ = Counter(values.values()).most_common(1)
    odd = [rank for rank, value in values.items() if value != usual]
    return usual, most, odd if len(odd) * 2 <= most else []


def _numbers(text: str) -> tuple[str, ...]:
    return tuple(_NUMBER.findall(text[:_LONGEST]))


def _less(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return one[0].isdigit() and other[0].isdigit() and int(one[0]) < int(other[0])


def _event(kind: str, rank: int | None, said: Said, **fields: Any) -> Event:
    return Event(
        line=said.line,
        offset=0,
        kind=kind,
        shape="P9",
        role="fact",
        rank=rank,
        rank_from="compared" if rank is not None else None,
        text=said.text,
        fields=fields,
    )
