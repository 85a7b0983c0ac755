"""Whether nothing that a pickle makes a key takes longer to hash than it took to write down.

A tuple of two that both are a tuple of two that both are … takes two bytes a level, and its hash twice the time of the
level below. For that a tuple has to be meant twice: by a second reference to its place in the memo, or by opcodes that
dumps do not have. So the opcodes are walked, a thousand at a time, by a pattern that has those of dumps alone: it takes
half the time that loading takes. A pickle passes where no place of a tuple is referred to, and no number is longer
than eight bytes:

    }q\\0(X\\1\\0\\0\\0aq\\1h\\1h\\1\\x86u.    passes: the place 1 is a text's
    })q\\0h\\0h\\0\\x86q\\1 …            does not: the place 0 is a tuple's
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from mmap import mmap

_PUT = rb"(?:q.|r.{4}|\x94)"
#: The place that is next in turn.
_IN_TURN = b"\x94"
_TUPLE = rb"[t\x85-\x87]"
_NUMBER = rb"K.|M..|J.{4}|G.{8}|" + b"|".join(rb"\x8a%c.{%d}" % (size, size) for size in range(9))
#: A mark that ends at once leaves what is below it on the top of the stack: a tuple, perhaps, to be given a place.
_MARK = rb"\((?!(?:\x95.{8}|\x80.)*[ue](?:\x95.{8}|\x80.)*" + _PUT + rb")"
_PLACELESS_TUPLE = _TUPLE + rb"(?!" + _PUT + rb")"
_GET = rb"h.|j.{4}"
_PLAIN = rb"[N\x88\x89)]|\x80.|\x95.{8}|" + b"|".join((_NUMBER, _MARK, _PLACELESS_TUPLE))
_MADE = rb"[}\]ueasld]"

_ONE = b"|".join((_PLAIN, _GET, _MADE + _PUT + rb"?"))
_OPCODE, _RUN = re.compile(_ONE, re.DOTALL), re.compile(rb"(?:" + _ONE + rb"){1,1000}", re.DOTALL)
_TEXT = re.compile(rb"(?:X(.{4})|[U\x8c](.))", re.DOTALL)
_PLACED = re.compile(_TUPLE + rb"(" + _PUT + rb")", re.DOTALL)
_AFTER_TEXT = re.compile(_PUT, re.DOTALL)
#: What a run refers to and gives a place to; the rest of it as nothing.
_PLACES = re.compile(
    rb"(" + _GET + rb"|" + _PUT + rb")|(?:" + _MADE + rb"|" + _PLAIN + rb"){1,1000}", re.DOTALL
)

#: Each tuple in a tuple takes a piece of the stack of the process that hashes the outermost: so many are not too deep.
_NEVER_DEEP = 10_000
_TUPLES = b"t\x85\x86\x87"
#: Tuples that are made of what was given a place before, which is no tuple's: none is in another. And what is no tuple.
_FLAT_RUN = re.compile(
    rb"(?:" + b"|".join((*(rb"(?:%b){%d}%c" % (_GET, n, 0x84 + n) for n in (1, 2, 3)), _NUMBER, _GET, _MARK, _MADE))
    + rb"|[N\x88\x89]|" + _PUT + rb"){1,1000}", re.DOTALL
)  # fmt: skip

Data = bytes | mmap


def are_quick(data: Data) -> bool:
    """Of the pickle that it begins with."""
    parts = []
    for part in _parts(data):
        if part is None:
            return False
        parts.append(part)
    if not _never_deep(data, parts):
        return False
    if not any(put for _, _, put in parts):
        return True
    tuples: set[int] = set()
    seen: set[bytes] = set()
    in_turn = 0
    for begin, end, put in parts:
        places = _PLACES.findall(data, begin, end)
        places.append(put)
        seen.update(places)
        in_turn += places.count(_IN_TURN)
        if put:
            tuples.add(int.from_bytes(put[1:], "little") if put != _IN_TURN else in_turn - 1)
    referred = {one for one in seen if one[:1] in (b"h", b"j")}
    ways = {one == _IN_TURN for one in seen - referred if one}
    return len(ways) == 1 and not any(int.from_bytes(one[1:], "little") in tuples for one in referred)


def _never_deep(data: Data, parts: Sequence[tuple[int, int, bytes]]) -> bool:
    """There are too few tuples for one to hold many within each other; of many, too few that may hold another."""
    made = 0
    for begin, end, put in parts:
        run = data[begin:end]
        made += bool(put) + len(run) - len(run.translate(None, _TUPLES))
    if made <= _NEVER_DEEP:
        return True
    nesting = position = 0
    for begin, end, put in parts:
        # A run may begin within a tuple of the one before.
        position = min(max(position, begin), end)
        while position < end and nesting <= _NEVER_DEEP:
            nesting += data[position] in _TUPLES
            found = _FLAT_RUN.match(data, position) or _OPCODE.match(data, position)
            position = found.end() if found else end
        nesting += bool(put)
    return nesting <= _NEVER_DEEP


def _parts(data: Data) -> Iterator[tuple[int, int, bytes] | None]:
    """Stretches of opcodes without texts, each with the place that a tuple behind it is given, if there is one; None
    where something follows that dumps do not have."""
    position, size = 0, len(data)
    while position < size and data[position] != ord("."):
        if (run := _RUN.match(data, position)) is not None:
            begin, position = position, run.end()
            placed = _PLACED.match(data, position)
            yield begin, position, placed[1] if placed else b""
            position = placed.end() if placed else position
        elif (text := _TEXT.match(data, position)) is not None:
            position = text.end() + int.from_bytes(text[1] or text[2], "little")
            if (put := _AFTER_TEXT.match(data, position)) is not None:
                yield position, put.end(), b""
                position = put.end()
        else:
            placed = _PLACED.match(data, position)
            yield (position, position, placed[1]) if placed else None
            position = placed.end() if placed else size
