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
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias

from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.raw import MOST_COMPARED, Said

from .kept_lines import LONGEST, NUMBER, shape_of

Writer: TypeAlias = Hashable
Spoken: TypeAlias = dict[Writer, tuple[int, Said]]
"""By writer: the log, and the line in it."""

#: Earlier lines of a shape that must agree on all ranks before a last one tells.
_LEAST_BEFORE = 2

_FEWEST = 3
_MOST_FOUND = 12
#: Lines that one rank alone wrote: of all ranks, and how many of its others may come behind one.
_MOST_OWN, _MOST_BEHIND = 16, 2

_SOMEWHERE = re.compile(r"(?:\b\w+://|(?<![\w/])\.{0,2}/)[^\s'\",;()]+|\b[\w-]+(?:\.[\w-]+){1,8}:\d{2,5}\b")
_OWN = re.compile(
    r"(?i)\brank[ =:_-]{0,3}#|#[ =:_-]{0,3}rank\b"
    r"|\b(?:pid|port|seed|device|gpu|cuda|local|host|node|addr\w*|took|elapsed|sec\w*|ms|time|loss|acc\w*|lr|"
    r"eta|it/s|mem(?!bers?\b)\w*|world|worker|thread|uuid|hash|id)\b"
)
_TELLS = re.compile(
    r"(?i)\b(?:skip\w*|stop\w*|early|signal|sig(?:term|int|usr)\w*|preempt\w*|exhaust\w*|retry\w*|nan|non-finite|empty|"
    r"missing|corrupt\w*|fallback|fall\w* back|resum\w*|evict\w*|drop\w*|ignor\w*|abort\w*|break\w*|interrupt\w*|"
    r"no more|leaving|cannot|could not|unable|giving up)\b"
)

_TELLS_OR_ENDS = re.compile(
    _TELLS.pattern
    + r"|(?i:\b(?:epoch|loader|data\w*|batch\w*)\b.{0,40}\b(?:finished|ended|done|over|complete\w*)\b)"
)


def differences(
    logs: Iterable[tuple[int, int | None, Sequence[Said]]], several: bool
) -> dict[int, list[Event]]:
    """By log: what one rank or a few say that the others do not. `logs`: number, rank of the file, its lines.

    `several`: more than one rank is heard of, be it by lines that are not compared.
    """
    listed = [entry for entry in logs if entry[2]]
    if not 0 < len(listed) <= MOST_COMPARED:
        return {}
    written = _by_writers(listed)
    by_shape: dict[str, Spoken] = defaultdict(dict)
    for log, writer, said in written:
        by_shape[shape_of(said.text)][writer] = (log, said)
    ranks = {writer for _, writer, _ in written}
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
        *(_own_last(written, by_shape) if several else ()),
        *_elsewhere_at_last(written, ranks),
        *now[:_MOST_FOUND],
    ):
        out[log].append(event)
    return out


def _by_writers(logs: Iterable[tuple[int, int | None, Sequence[Said]]]) -> list[tuple[int, Writer, Said]]:
    """Log, writer and line. A writer is a rank or, where its lines tell none, what they tell of its process: which rank
    that is, other lines may tell later. Lines that tell nothing are left out."""
    lines = [
        (log, said.rank if said.rank is not None else owner, said)
        for log, owner, told in logs
        for said in told
    ]
    ranks: dict[object, set[int]] = defaultdict(set)
    for log, rank, said in lines:
        if rank is not None:
            ranks[_process(log, said)].add(rank)
    found: list[tuple[int, Writer, Said]] = []
    for log, rank, said in lines:
        process = _process(log, said)
        tells = (said.local_rank, said.task) != (None, None)
        known = ranks.get(process, ())
        if rank is not None or (tells and len(known) <= 1):
            found.append((log, rank if rank is not None else next(iter(known), process), said))
    return found


def _process(log: int, said: Said) -> tuple[object, ...]:
    return log if said.host is None else said.host, said.local_rank, said.task


def _elsewhere_at_last(
    written: Iterable[tuple[int, Writer, Said]], ranks: set[Writer]
) -> Iterable[tuple[int, Event]]:
    """The last lines of all ranks, where they are one but for what rank it is and a path or an address, and that is
    another one on a few than on most."""
    last: Spoken = {}
    for log, writer, said in written:
        if writer not in last or last[writer][1].line <= said.line:
            last[writer] = log, said
    shapes = {shape_of(_SOMEWHERE.sub("@", said.text)) for _, said in last.values()}
    if len(ranks) < _FEWEST or set(last) != ranks or len(shapes) != 1:
        return
    places = {writer: tuple(_SOMEWHERE.findall(said.text)) for writer, (_, said) in last.items()}
    usual, most, odd = _few_against_most(places)
    example = next(said.text for writer, (_, said) in last.items() if places[writer] == usual)
    for writer in odd[:_MOST_FOUND]:
        log, said = last[writer]
        yield log, _event("place_differs", writer, said, others=most, other=example)


def _own_last(
    written: Iterable[tuple[int, Writer, Said]], by_shape: dict[str, Spoken]
) -> Iterable[tuple[int, Event]]:
    """What one rank alone wrote, among the last that it wrote."""
    lines: dict[Writer, list[int]] = defaultdict(list)
    for _, writer, said in written:
        lines[writer].append(said.line)
    alone = [next(iter(spoken.items())) for spoken in by_shape.values() if len(spoken) == 1]
    last = [one for one in alone if sum(line > one[1][1].line for line in lines[one[0]]) <= _MOST_BEHIND]
    for writer, (log, said) in last[:_MOST_OWN]:
        yield log, _event("own_last_line", writer, said)


def _of_shape(
    shape: str, spoken: Spoken, ranks: set[Writer], tells: re.Pattern[str]
) -> Iterable[tuple[int, Event]]:
    if len(spoken) == 1 and tells.search(shape):
        ((rank, (log, said)),) = spoken.items()
        yield log, _event("line_alone", rank, said, others=len(ranks) - 1)
        return
    if len(ranks) < _FEWEST or set(spoken) != ranks or "#" not in shape:
        return
    if not all(said.times > 1 for _, said in spoken.values()):
        if all(said.times == 1 for _, said in spoken.values()):
            yield from _other_number(shape, spoken)
        return
    values = {rank: _numbers(said.text)[:1] for rank, (_, said) in spoken.items()}
    usual, most, odd = _few_against_most(values)
    if any("." in value for value in usual):
        return
    example = next(said.text for rank, (_, said) in spoken.items() if values[rank] == usual)
    for rank in odd:
        log, said = spoken[rank]
        if _less(values[rank], usual):
            yield log, _event("progress_differs", rank, said, others=most, other=example)


def _other_number(shape: str, spoken: Spoken) -> Iterable[tuple[int, Event]]:
    """The first number of a line that is another one on a few: of those that no rank says of itself."""
    numbers = {rank: _numbers(said.text) for rank, (_, said) in spoken.items()}
    around = shape.split("#")
    for at in range(min(len(found) for found in numbers.values())):
        values: dict[Writer, tuple[str, ...]] = {rank: (found[at],) for rank, found in numbers.items()}
        usual, most, odd = _few_against_most(values)
        if not odd or "." in usual[0] or _OWN.search(f"{around[at]}#{around[at + 1]}"):
            continue
        example = next(said.text for rank, (_, said) in spoken.items() if values[rank] == usual)
        for rank in odd:
            log, said = spoken[rank]
            fields = {"others": most, "other": example, "value": values[rank][0], "usual": usual[0]}
            yield log, _event("value_differs", rank, said, **fields)
        return


def _no_longer_alike(shape: str, spoken: Spoken, ranks: set[Writer]) -> Iterable[tuple[int, Event]]:
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
        values: dict[Writer, tuple[str, ...]] = {rank: (numbers[at],) for rank, numbers in last.items()}
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


def _few_against_most(values: dict[Writer, tuple[str, ...]]) -> tuple[tuple[str, ...], int, list[Writer]]:
    """What most ranks have, how many these are, and who has something else: nobody, where they are not few."""
    (usual, most), *_ = Counter(values.values()).most_common(1)
    odd = [rank for rank, value in values.items() if value != usual]
    return usual, most, odd if len(odd) * 2 <= most else []


def _numbers(text: str) -> tuple[str, ...]:
    return tuple(NUMBER.findall(text[:LONGEST]))


def _less(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return one[0].isdigit() and other[0].isdigit() and int(one[0]) < int(other[0])


def _event(kind: str, writer: Writer, said: Said, **fields: Any) -> Event:
    rank = writer if isinstance(writer, int) else None
    found = Event(
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
    if rank is None:
        found.host, found.local_rank = said.host, said.local_rank
        if said.task is not None:
            found.fields["task"] = said.task
    return found
