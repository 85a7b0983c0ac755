"""Dumps from strangers: no code in them runs, whatever the opcode, and what they may take is bounded."""

from __future__ import annotations

import json
import os
import pickle
import struct
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.evidence.loading import Decode
from support.evidence.sample_dumps import one_rank, only, plain
from support.selected import in_lab

from rankandfile.evidence.files import decoder
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.pool import Task, decode_all
from rankandfile.evidence.flight import as_pickle, interning
from rankandfile.evidence.flight.quick_keys import are_quick
from rankandfile.lab.flight_writer import write_pickle

pytestmark = pytest.mark.slow


class Runs:
    """Unpickled without care, it runs a command."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


class RunsNew:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return eval, (f"__import__('os').system({self.command!r})",)


def short(text: str) -> bytes:
    return b"X" + struct.pack("<I", len(text)) + text.encode()


def payloads(command: str) -> dict[str, bytes]:
    value = plain(one_rank(0))
    found = {}
    for protocol in range(6):
        found[f"reduce, protocol {protocol}"] = pickle.dumps(Runs(command), protocol)
        found[f"eval, protocol {protocol}"] = pickle.dumps({"entries": [RunsNew(command)]}, protocol)
        found[f"after a whole dump, protocol {protocol}"] = pickle.dumps(
            value | {"zz": Runs(command)}, protocol
        )
        found[f"in an entry, protocol {protocol}"] = pickle.dumps(
            value | {"entries": [*value["entries"], {"frames": Runs(command)}]}, protocol
        )
    arguments = short(command) + b"\x85"
    found |= {
        "GLOBAL": b"\x80\x02}(X\x01\x00\x00\x00acos\nsystem\n" + arguments + b"Ru.",
        "STACK_GLOBAL": b"\x80\x04}("
        + short("a")
        + short("os")
        + short("system")
        + b"\x93"
        + arguments
        + b"Ru.",
        "INST": b"}(S'a'\n(S'" + command.encode() + b"'\nios\nsystem\nu.",
        "OBJ": b"\x80\x02}(" + short("a") + b"(cos\nsystem\n" + short(command) + b"ou.",
        "NEWOBJ": b"\x80\x02csubprocess\nPopen\n" + arguments + b"\x81.",
        "NEWOBJ_EX": b"\x80\x04csubprocess\nPopen\n" + arguments + b"}\x92.",
        "BUILD": b"\x80\x02cos\nsystem\n" + arguments + b"b.",
        "EXT1": b"\x80\x02\x82\x01.",
        "EXT2": b"\x80\x02\x83\x01\x00.",
        "EXT4": b"\x80\x02\x84\x01\x00\x00\x00.",
        "PERSID": b"Pevil\n.",
        "BINPERSID": b"\x80\x02}(" + short("a") + short("evil") + b"Qu.",
        "builtin by its old name": b"\x80\x02c__builtin__\neval\n"
        + short(f"__import__('os').system({command!r})")
        + b"\x85R.",
        "NEXT_BUFFER": b"\x80\x05}(" + short("a") + b"\x97u.",
    }
    return found


NAMES = sorted(payloads("true"))


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


@pytest.mark.parametrize("name", NAMES)
def test_no_code_runs(name: str, canary: Path, tmp_path: Path, decode: Decode) -> None:
    decoded = decode(payloads(f"touch {canary}")[name], "nccl_trace_rank_0.pkl")
    assert not canary.exists()
    assert sum(dump.calls for dump in decoded.dumps) in (0, 6)
    # Protocol 0 is text, which nobody takes for a dump; the unpickler refuses it all the same.
    _value, _truncated, notes = as_pickle.load(tmp_path / "nccl_trace_rank_0.pkl")
    assert not canary.exists()
    assert any(word in only(notes).what for word in ("refused", "not readable", "damaged"))


def test_the_canary_would_have_died(canary: Path) -> None:
    """The payloads above do what they threaten to: a plain load runs them."""
    pickle.loads(payloads(f"touch {canary}")["STACK_GLOBAL"])
    assert canary.exists()


def test_the_note_names_what_was_asked_for(decode: Decode) -> None:
    note = only(decode(payloads("true")["GLOBAL"]).notes)
    assert note.what == "refused: the file asks to run os.system, which a dump never does"


def test_names_in_a_refusal_are_short_and_printable(decode: Decode) -> None:
    module = "m" * 100_000 + "\x1b[2J"
    note = only(decode(b"\x80\x04}(" + short("a") + short(module) + short("\x07") + b"\x93u.").notes)
    assert note.what.isprintable()
    assert len(note.what) < 300


def test_what_stands_before_the_attack_counts(canary: Path, decode: Decode) -> None:
    data = payloads(f"touch {canary}")["after a whole dump, protocol 2"]
    decoded = decode(data)
    assert only(decoded.dumps).calls == 6
    assert only(decoded.dumps).truncated
    assert "asks to run posix.system" in only(decoded.notes).what
    assert not canary.exists()


def laughing(levels: int = 60) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "place",
    [
        "entries",
        "frames",
        "frame",
        "extra",
        "input_sizes",
        "process_group",
        "pg_config",
        "ranks",
        "pg_status",
        "version",
    ],
)
def test_billion_laughs(place: str, decode: Decode) -> None:
    value = plain(one_rank(0))
    laughs = laughing()
    if place in ("entries", "pg_config", "pg_status", "version"):
        value[place] = laughs
    elif place == "ranks":
        value["pg_config"]["0"]["ranks"] = laughs
    elif place == "frame":
        value["entries"][1]["frames"] = [laughs] * 10
    elif place == "extra":
        # Two equal frames that are not one object: comparing them must not walk what hides in them.
        for entry in value["entries"]:
            entry["frames"] = [{"name": "f", "filename": "g", "line": 1, "more": laughing()}]
    else:
        value["entries"][1][place] = laughs
    decoded = decode(pickle.dumps(value, 2))
    assert sum(dump.calls for dump in decoded.dumps) in (0, 5, 6)
    assert decoded.notes or place == "extra"


@pytest.mark.parametrize("place", ["entries", "frames", "input_sizes", "extra", "pg_config", "value"])
def test_a_value_that_holds_itself(place: str, decode: Decode) -> None:
    value = plain(one_rank(0))
    loop: list[Any] = []
    loop.append(loop)
    if place == "value":
        value["entries"] = value
    elif place == "extra":
        for entry in value["entries"]:
            own: list[Any] = []
            own.append(own)
            entry["frames"] = [{"name": "f", "filename": "g", "line": 1, "more": own}]
    elif place in ("entries", "pg_config"):
        value[place] = loop
    else:
        value["entries"][0][place] = loop
    decoded = decode(pickle.dumps(value, 2))
    assert sum(dump.calls for dump in decoded.dumps) in (0, 5, 6)


def test_deep_nesting(decode: Decode) -> None:
    deep = b"\x80\x02}(" + short("entries") + b"]" * 200_000 + b"a" * 199_999 + b"u."
    assert decode(deep).notes
    for text in (b'{"entries":' + b"[" * 200_000, b'{"a":' * 200_000, b'{"entries":[' + b'{"a":' * 100_000):
        decoded = decode(text, "trace_0.json")
        assert sum(dump.calls for dump in decoded.dumps) == 0


def test_a_number_of_a_million_digits(decode: Decode) -> None:
    decoded = decode(
        b'{"version":"2.10","entries":[{"record_id":' + b"9" * 1_000_000 + b"}]}", "trace_0.json"
    )
    assert sum(dump.calls for dump in decoded.dumps) == 0
    assert decoded.notes


@pytest.mark.parametrize("what", ["MOST_IN_SIZES", "MOST_IN_STACKS", "MOST_FRAMES"])
def test_more_variety_than_a_job_has_keeps_the_newest_calls(
    decode: Decode, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call has a stack and sizes of its own: they would take many times the memory of the file."""
    of_a_call = {"MOST_IN_SIZES": 6, "MOST_IN_STACKS": 2, "MOST_FRAMES": 2}
    calls = [
        {
            **pickle.loads(write_pickle(one_rank(0, calls=1)))["entries"][0],
            "record_id": n,
            "collective_seq_id": n,
            "input_sizes": [[n + 1]],
            "output_sizes": [[n + 1]],
            "input_dtypes": ["Float"],
            "output_dtypes": ["Float"],
            "frames": [{"name": f"f{n}_{k}", "filename": "a.py", "line": k} for k in range(2)],
        }
        for n in range(40)
    ]
    whole = only(decode(pickle.dumps({"version": "2.10", "entries": calls}, 2)).dumps)
    assert (whole.calls, whole.left_out) == (40, 0)
    monkeypatch.setattr(interning, what, of_a_call[what] * 10)
    decoded = decode(pickle.dumps({"version": "2.10", "entries": calls}, 2))
    dump = only(decoded.dumps)
    assert 0 < dump.calls <= 11 and dump.calls + dump.left_out == 40
    assert array("q", dump.integers[0])[-1] == 39
    assert f"the newest {dump.calls} entries were kept" in only(decoded.notes).what


class TestInAProcess:
    """Bounds that hold because a process of its own does the decoding."""

    @staticmethod
    def run(tmp_path: Path, files: dict[str, bytes], **limits: Any) -> dict[str, Decoded]:
        tasks = []
        for name, data in files.items():
            (tmp_path / name).write_bytes(data)
            tasks.append(Task(tmp_path / name, name, len(data)))
        found: dict[str, Decoded] = {}
        decode_all(tasks, lambda index, decoded: found.update({tasks[index].name: decoded}), 1, **limits)
        assert found.keys() == files.keys()
        return found

    @pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
    @pytest.mark.parametrize("slot", [0x7FFFFFFF, 0x0FFFFFFF, 0x05000000])
    def test_a_memo_of_gigabytes(self, slot: int, tmp_path: Path) -> None:
        bomb = b"\x80\x02}(" + short("a" * 1000) + b"r" + struct.pack("<I", slot) + b"u."
        found = self.run(tmp_path, {"rank_0": bomb, "rank_1": write_pickle(one_rank(1))})
        assert "memory" in only(found["rank_0"].notes).what
        assert only(found["rank_1"].dumps).calls == 6

    @pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
    def test_of_lists_that_take_too_much_the_beginning_is_kept(self, tmp_path: Path) -> None:
        """Empty lists are a byte each, and seventy in memory: the note says so, and the calls before them count."""
        honest = pickle.dumps({"version": "2.10", "entries": plain(one_rank(0, calls=40))["entries"]}, 2)
        assert honest.endswith(b"eu.")
        bomb = honest[:-3] + b"}(" + short("input_sizes") + b"](" + b"]" * 6_000_000 + b"eueu."
        files = {"rank_0": bomb, "rank_1": write_pickle(one_rank(1))}
        found = self.run(tmp_path, files, memory=300 << 20)
        assert only(found["rank_0"].dumps).calls == 40
        assert "more memory" in found["rank_0"].notes[0].what
        assert "kept the 40 entries at its beginning" in found["rank_0"].notes[0].what
        assert only(found["rank_1"].dumps).calls == 6

    @pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
    @pytest.mark.parametrize("ranks", [None, 2], ids=["one dump", "an answer of several ranks"])
    def test_of_a_json_that_takes_too_much_the_beginning_is_kept(
        self, tmp_path: Path, ranks: int | None
    ) -> None:
        """Empty lists are three bytes each as JSON, and more than fifty in memory."""
        honest = json.dumps(plain(one_rank(0, calls=40))["entries"])
        entries = honest[:-1] + ', {"input_sizes": [' + ",".join(["[]"] * 8_000_000) + "]}]"
        text = f'{{"entries": {entries}}}'
        if ranks is not None:
            text = f'{{"0": {{"entries": {honest}}}, "1": {text}}}'
        found = self.run(tmp_path, {"rank_0.json": text.encode()}, memory=300 << 20)
        assert [dump.calls for dump in found["rank_0.json"].dumps] == [40] * (ranks or 1)
        notes = [note.what for note in found["rank_0.json"].notes]
        assert any(
            "more memory" in note and f"kept the {40 * (ranks or 1)} entries" in note for note in notes
        )

    def test_a_text_that_claims_gigabytes(self, tmp_path: Path) -> None:
        bomb = b"\x80\x04}(" + short("a") + b"\x8d" + struct.pack("<Q", 1 << 40) + b"x" * 100
        found = self.run(tmp_path, {"rank_0": bomb, "rank_1": write_pickle(one_rank(1))})
        assert found["rank_0"].notes
        assert only(found["rank_1"].dumps).calls == 6

    def test_garbage_of_one_file_is_not_charged_to_the_next(self, tmp_path: Path) -> None:
        """Cycles outlive their file where nothing collects them: five such files would fill the process."""
        ring = b"\x80\x02}(" + short("zz") + b"]q\x03(" + b"K\x01" * 6_000_000 + b"h\x03eu."
        found = self.run(tmp_path, {f"rank_{n}": ring for n in range(6)}, memory=350 << 20)
        notes = {only(decoded.notes).what for decoded in found.values()}
        assert notes == {"keys not understood, left unread: zz"}

    def test_an_answer_without_end(self, tmp_path: Path) -> None:
        """Lists that are written once and meant thousands of times: a file of kilobytes, columns of megabytes."""
        value = plain(one_rank(0, calls=100))
        tensor = list(range(1 << 40, (1 << 40) + 64))
        for entry in value["entries"]:
            entry["input_sizes"] = [[entry["record_id"]]] + [tensor] * 4000
        bomb = pickle.dumps(value, 2)
        assert len(bomb) < 1_200_000
        found = self.run(tmp_path, {"rank_0": bomb, "rank_1": write_pickle(one_rank(1))})
        kept = only(found["rank_0"].dumps)
        assert 0 < kept.calls < 50 and kept.calls + kept.left_out == 100
        assert f"the newest {kept.calls} entries were kept" in only(found["rank_0"].notes).what
        assert only(found["rank_1"].dumps).calls == 6

    def test_an_answer_beyond_its_bound_is_not_taken(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(decoder, "ANSWER", 100)
        monkeypatch.setattr(decoder, "ANSWER_PER_BYTE", 0)
        found = self.run(tmp_path, {"rank_0": write_pickle(one_rank(1)), "rank_1": b""})
        assert "expands without end" in only(found["rank_0"].notes).what
        assert found["rank_1"].kind == "empty"

    def test_one_entry_meant_many_times_is_one_call(self, decode: Decode) -> None:
        value = plain(one_rank(0, calls=1))
        value["entries"] *= 20_000
        raw = only(decode(pickle.dumps(value, 2)).dumps)
        assert (raw.calls, raw.left_out) == (1, 19_999)

    def test_modules_in_the_current_folder_are_not_imported(self, tmp_path: Path, monkeypatch: Any) -> None:
        """A person stands in the folder of evidence, and evidence may hold a msgspec.py."""
        canary = tmp_path / "canary"
        trap = tmp_path / "evidence"
        trap.mkdir()
        for name in ("msgspec", "json", "resource", "rankandfile", "struct"):
            (trap / f"{name}.py").write_text(f"open({str(canary)!r}, 'w')\nraise SystemExit\n")
        monkeypatch.chdir(trap)
        monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
        found = self.run(tmp_path, {"rank_0": write_pickle(one_rank(0))})
        assert only(found["rank_0"].dumps).calls == 6
        assert not canary.exists()


#: How a tuple comes to be in the next one twice, `at` its place in the memo.
TWICE: dict[str, Callable[[int], bytes]] = {
    "duplicated": lambda at: b"2\x86",
    "a small place": lambda at: b"q%ch%c\x86" % (at, at),
    "a large place": lambda at: b"r%bj%b\x86" % ((struct.pack("<I", at + 9000),) * 2),
    "its own count": lambda at: b"\x94h%c\x86" % at,
    "counted and named": lambda at: b"\x94r\xff\0\0\0h%c\x86" % at,
    "a place in words": lambda at: b"p%d\ng%d\n\x86" % (at, at),
    "a place after nothing was appended": lambda at: b"(eq%ch%c\x86" % (at, at),
    "a place after a frame of nothing": lambda at: (
        b"(\x95\x09\0\0\0\0\0\0\0u\x80\x04r%bh%c\x86" % (struct.pack("<I", at), at)
    ),
    "a tuple of three": lambda at: b"q%ch%ch%c\x87" % (at, at, at),
    "from a mark": lambda at: b"q%c0(h%ch%ct" % (at, at, at),
}


@pytest.mark.parametrize("much", [0, 1 << 16], ids=["small", "large"])
@pytest.mark.parametrize("setter", ["one item", "several", "of a set"])
@pytest.mark.parametrize("twice", TWICE)
def test_a_key_that_nests_is_not_hashed(tmp_path: Path, setter: str, twice: str, much: int) -> None:
    """Each level is a tuple of the one below, twice: its hash takes as long as all of it, written out. Whatever the
    size of the file, and whatever else it has."""
    nested = b")" + b"".join(TWICE[twice](at) for at in range(64))
    whole = {
        "one item": b"}" + nested + b"Ns.",
        "several": b"}(" + nested + b"Nu.",
        "of a set": b"}X\x01\x00\x00\x00a\x8f(" + nested + b"\x90s.",
    }
    path = tmp_path / "trace_0.pkl"
    path.write_bytes(b"\x80\x04" + b"N" * much + whole[setter])
    value, _, notes = as_pickle.load(path)
    assert value == {} or (notes and not isinstance(value, dict))


@pytest.mark.parametrize("key", [b"\x8b\0\0\x01\0" + b"7" * (1 << 16), b"(" + b"N" * 1000 + b"t"])
def test_a_long_key_is_not_hashed_again_and_again(tmp_path: Path, key: bytes) -> None:
    path = tmp_path / "trace_0.pkl"
    path.write_bytes(b"\x80\x02}(" + key + b"q\0N" + b"h\0N" * 100_000 + b"u.")
    value, _, notes = as_pickle.load(path)
    assert not value and notes


DEEP: dict[str, bytes] = {
    "beside nothing": b"N\x86",
    "beside a text": b"X\x01\x00\x00\x00a\x86",
    "beside a list": b"]\x86",
    "with a place": b"N\x86q\x00",
    "from a mark": b"Nt",
}


@pytest.mark.parametrize("level", in_lab(list(DEEP), ("beside nothing", "from a mark")))
def test_a_deep_key_is_refused_before_it_is_hashed(tmp_path: Path, level: str) -> None:
    """Its hash would take more of the stack than a process has."""
    levels = 300_000
    marks = b"(" * levels if level == "from a mark" else b""
    data = b"\x80\x02}" + marks + b")" + DEEP[level] * levels + b"Ns."
    assert not are_quick(data)
    path = tmp_path / "trace_0.pkl"
    path.write_bytes(data)
    value, _, notes = as_pickle.load(path)
    assert not value
    assert "no plain value" in notes[0].what


def test_a_dump_of_many_tuples_is_read_by_the_quick_reader() -> None:
    """As torch writes them: the second name of each is a place, and no tuple is in another."""
    names = b"X\x01\0\0\0aq\x01X\x01\0\0\0bq\x02X\x01\0\0\0cq\x03\x87"
    entry = b"}(h\x01K\x05h\x02h\x01h\x02\x86h\x03\x8a\x08\x85\x86\x87t1234u"
    assert are_quick(b"\x80\x02}]q\x00(" + names + entry * 200_000 + b"e.")


def test_both_readers_of_pickles_read_the_same(tmp_path: Path) -> None:
    for protocol in (2, 3, 4, 5):
        data = pickle.dumps(plain(one_rank(0)), protocol)
        path = tmp_path / f"rank_{protocol}"
        path.write_bytes(data)
        assert are_quick(data), "dumps of every protocol are read by the quick one"
        with path.open("rb") as one, path.open("rb") as other:
            assert as_pickle.CheckedUnpickler(one).load() == as_pickle.PlainUnpickler(other).load()
