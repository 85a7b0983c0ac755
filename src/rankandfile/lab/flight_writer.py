"""Flight Recorder dumps as torch's own C++ pickler writes them, byte for byte.

The pickler (protocol 2) memoises every string once, memoises a frame's dict if anything else refers to it
too, and the whole document, and nothing more; every list and dict has a MARK, even an empty one. Readers
that rely on those habits - interning stacks by the identity of their frames, say - can only be tested and
timed on files that share them.

A call of a kind that was written before adds no new string, so its bytes are those of the call before it but
for a few numbers: the second call of a kind is kept as a template and later ones are filled in.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rankandfile.lab.flight_writer_types import (
    STATUS_KEYS,
    VERSIONS,
    Dump,
    Entry,
    Fields,
    Frame,
    Kind,
    Sizes,
    wanted,
)

_NONE = b"N"
_BOOL = {False: b"\x89", True: b"\x88"}


def write_pickle(
    dump: Dump,
    version: str = "2.10",
    *,
    include_collectives: bool = True,
    include_stacks: bool = True,
    only_active: bool = False,
) -> bytes:
    """What `_dump_nccl_trace` or `_dump_fr_trace` of the torch that has this format version would return."""
    entries = wanted(dump.entries, only_active=only_active)
    return _Writer(dump.kinds, entries, VERSIONS[version], include_stacks).document(
        dump, version, include_collectives
    )


def _int(value: int) -> bytes:
    if 0 <= value < 256:
        return b"K%c" % value
    if 0 <= value < 65536:
        return b"M" + value.to_bytes(2, "little")
    if -(2**31) <= value < 2**31:
        return b"J" + value.to_bytes(4, "little", signed=True)
    return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)


def _optional_int(value: int | None) -> bytes:
    return _NONE if value is None else _int(value)


class _Memo:
    """The pickler's numbering: the first use of a thing stores it, later ones fetch it."""

    def __init__(self) -> None:
        self._strings: dict[str, bytes] = {}
        self._next = 0

    def put(self) -> tuple[bytes, bytes]:
        """A fresh slot: the bytes that store into it and the bytes that fetch from it."""
        number, self._next = self._next, self._next + 1
        if number < 256:
            return b"q%c" % number, b"h%c" % number
        return b"r" + struct.pack("<I", number), b"j" + struct.pack("<I", number)

    def text(self, value: str) -> bytes:
        known = self._strings.get(value)
        if known is not None:
            return known
        raw = value.encode("utf-8")
        store, self._strings[value] = self.put()
        return b"X" + struct.pack("<I", len(raw)) + raw + store


class _Writer:
    def __init__(self, kinds: Sequence[Kind], entries: Sequence[Entry], fields: Fields, stacks: bool) -> None:
        self._kinds, self._entries, self._fields, self._stacks = kinds, entries, fields, stacks
        self._memo = _Memo()
        self._text = self._memo.text
        self._frames: dict[Frame, bytes] = {}
        uses: Counter[Frame] = Counter()
        if stacks:
            for number, times in Counter(entry.kind for entry in entries).items():
                for frame in kinds[number].frames:
                    uses[frame] += times
        self._shared = {frame for frame, count in uses.items() if count > 1}

    def document(self, dump: Dump, version: str, include_collectives: bool) -> bytes:
        modern = self._fields.groups
        out = [b"\x80\x02}("]
        if modern:
            out += [
                self._text("version"),
                self._text(version),
                self._text("pg_config"),
                self._pg_config(dump),
            ]
        if self._fields.library_key is not None:
            out += [self._text(self._fields.library_key), self._text(dump.comm_lib_version)]
        if self._fields.status:
            out += [self._text("pg_status"), self._pg_status(dump)]
        if include_collectives or not modern:
            out += [self._text("entries"), *self._calls()]
        if not modern:
            out += [self._text("version"), self._text(version)]
        if dump.comm_state:
            out += [self._text("nccl_comm_state"), self._comm_state(dump.comm_state)]
        if not modern:
            out += [self._text("pg_config"), self._pg_config_by_id(dump)]
        # The recorder still holds the whole while it is pickled, so that is memoised as shared things are.
        return b"".join((*out, b"u", self._memo.put()[0], b"."))

    def _pg_config(self, dump: Dump) -> bytes:
        out = [b"}("]
        for key, group in dump.pg_config.items():
            out += [self._text(key), b"}(", self._text("name"), self._text(group.name), self._text("desc")]
            out += [self._text(group.desc), self._text("ranks"), self._text(group.ranks_text()), b"u"]
        return b"".join((*out, b"u"))

    def _pg_config_by_id(self, dump: Dump) -> bytes:
        """Before 2.1 a group is its number in this process, and its ranks are numbers."""
        groups = enumerate(dump.pg_config.values())
        return b"}(" + b"".join(_int(i) + self._ints(group.ranks) for i, group in groups) + b"u"

    def _pg_status(self, dump: Dump) -> bytes:
        out = [b"}("]
        for key, status in dump.pg_status.items():
            out += [self._text(key), b"}("]
            for name, value in zip(STATUS_KEYS, status, strict=True):
                out += [self._text(name), _int(value)]
            out.append(b"u")
        return b"".join((*out, b"u"))

    def _comm_state(self, state: Mapping[str, Mapping[str, str]]) -> bytes:
        out = [b"}("]
        for key, values in state.items():
            out += [self._text(key), b"}("]
            for name, value in values.items():
                out += [self._text(name), self._text(value)]
            out.append(b"u")
        return b"".join((*out, b"u"))

    def _calls(self) -> list[bytes]:
        out = [b"]("]
        seen: set[int] = set()
        templates: dict[int, list[bytes]] = {}
        for entry in self._entries:
            number = entry.kind
            template = templates.get(number)
            if template is not None:
                self._call(iter(template), entry, out)
            elif number in seen:
                # Every string of this kind is in the memo by now: only the numbers differ from here on.
                template = templates[number] = list(self._pieces(self._kinds[number]))
                self._call(iter(template), entry, out)
            else:
                seen.add(number)
                self._call(self._pieces(self._kinds[number]), entry, out)
        out.append(b"e")
        return out

    def _call(self, piece: Iterator[bytes], entry: Entry, out: list[bytes]) -> None:
        """One call: pieces and numbers in turn. Each new string takes its memo slot when its turn comes."""
        _, record, collective, p2p, operation, created, started, completed, retired, duration = entry
        take = piece.__next__
        out += (take(), _int(record), take())
        if self._fields.groups:
            out += (_int(collective), take(), _int(p2p))
        else:
            out.append(_int(collective + p2p))
        out += (take(), _int(operation), take(), _int(created))
        if duration is not None:
            out += (self._text("duration_ms"), b"G", struct.pack(">d", duration))
        out += (take(), self._text(entry.state), take(), _optional_int(started))
        out += (take(), _optional_int(completed), take(), _BOOL[retired], take())

    def _pieces(self, kind: Kind) -> Iterator[bytes]:
        """What stands between the numbers of a call of this kind, made one by one as they are written."""
        text, fields = self._text, self._fields
        stack = text("frames") + self._stack(kind.frames) if self._stacks and fields.groups else b""
        yield b"}(" + stack + text("record_id")
        ids = text("pg_id") + _int(kind.pg_id)
        if fields.groups:
            ids += text("process_group") + text(kind.group) + text(kind.desc) + b"\x86"
        if fields.threads:
            ids += text("thread_name") + text(kind.thread_name) + text("thread_id") + text(kind.thread_id)
        yield ids + text("collective_seq_id" if fields.groups else "seq_id")
        if fields.groups:
            yield text("p2p_seq_id")
        yield text("op_id")
        yield text("profiling_name") + text(kind.op) + text("time_created_ns")
        yield (
            self._tensors("input", kind.input_sizes, kind.input_dtypes)
            + self._tensors("output", kind.output_sizes, kind.output_dtypes)
            + text("state")
        )
        yield text("time_discovered_started_ns")
        yield text("time_discovered_completed_ns")
        yield text("retired")
        end = b""
        if fields.status:
            end += text("timeout_ms") + _int(kind.timeout_ms)
        if fields.groups:
            end += text("is_p2p") + _BOOL[kind.is_p2p]
        elif self._stacks:
            end += text("frames") + self._stack(kind.frames)
        yield end + b"u"

    def _stack(self, frames: tuple[Frame, ...]) -> bytes:
        return b"](" + b"".join(map(self._frame, frames)) + b"e"

    def _frame(self, frame: Frame) -> bytes:
        known = self._frames.get(frame)
        if known is not None:
            return known
        text = self._text
        made = b"}(" + text("name") + text(frame.name) + text("filename") + text(frame.filename)
        made += text("line") + _int(frame.line) + b"u"
        if frame not in self._shared:
            return made
        store, self._frames[frame] = self._memo.put()
        return made + store

    def _tensors(self, side: str, sizes: Sizes, dtypes: tuple[str, ...]) -> bytes:
        out = self._text(f"{side}_sizes") + b"](" + b"".join(map(self._ints, sizes)) + b"e"
        if self._fields.groups:
            out += self._text(f"{side}_dtypes") + b"](" + b"".join(map(self._text, dtypes)) + b"e"
        return out

    @staticmethod
    def _ints(values: tuple[int, ...]) -> bytes:
        return b"](" + b"".join(map(_int, values)) + b"e"
