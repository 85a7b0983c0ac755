"""Damaged dumps: what is sound counts, what is not is one note with file and place, and nothing raises."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import pytest
from support.evidence.loading import Decode, LoadFiles
from support.evidence.sample_dumps import job, one_rank, only, plain
from support.selected import in_lab

from rankandfile.evidence.tables.part import Part
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json

pytestmark = pytest.mark.slow

DUMP = one_rank(0)


def broken(**changes: Any) -> bytes:
    """A dump whose third entry (record 2) has these values instead of its own."""
    value = plain(DUMP)
    value["entries"][2] |= changes
    return pickle.dumps(value, 2)


def without(key: str, *positions: int) -> bytes:
    value = plain(DUMP)
    for position in positions or range(len(value["entries"])):
        del value["entries"][position][key]
    return pickle.dumps(value, 2)


def records(decoded: Any) -> list[int]:
    return Part(only(decoded.dumps), "").column("record").tolist()


def column(decoded: Any, name: str) -> list[int | None]:
    values = Part(only(decoded.dumps), "").column(name).tolist()
    return [None if value == -(1 << 63) else value for value in values]


class TestOneBadEntry:
    """Five of six calls are kept, and the note says which was not, and why."""

    HUGE = 1 << 200

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"profiling_name": 7}, "expected text, found int"),
            ({"profiling_name": None}, "expected text, found NoneType"),
            ({"profiling_name": "x" * 100_000}, "100000 characters"),
            ({"process_group": "0"}, "group's name and description"),
            ({"process_group": ("0",)}, "group's name and description"),
            ({"process_group": (0, 1)}, "expected text, found int"),
            ({"process_group": []}, "group's name and description"),
            ({"state": "melted"}, "unknown state 'melted'"),
            ({"state": 3}, "expected text, found int"),
            ({"state": None}, "expected text, found NoneType"),
            ({"retired": "yes"}, "expected true or false, found str"),
            ({"is_p2p": 2}, "expected true or false, found int"),
            ({"input_sizes": "[4]"}, "expected a list of tensors, found str"),
            ({"input_sizes": [4]}, "expected a list of dimensions, found int"),
            ({"input_sizes": [[None]]}, "expected a number, found NoneType"),
            ({"input_sizes": [[4.5]]}, "expected a number, found float"),
            ({"input_sizes": [[1] * 1000]}, "a list of 1000 dimensions"),
            ({"output_sizes": {}}, "expected a list of tensors, found dict"),
            ({"output_sizes": [[HUGE]]}, "a number beyond 62 bits"),
            ({"input_dtypes": [1]}, "expected text, found int"),
            ({"output_dtypes": None}, "expected a list of dtypes, found NoneType"),
            ({"frames": 5}, "expected a list of frames, found int"),
            ({"frames": [5]}, "expected a frame, found int"),
            ({"frames": [{}]}, "expected text, found NoneType"),
            ({"frames": [{"name": "f", "filename": "g", "line": "1"}]}, "expected a number, found str"),
            ({"frames": [{"name": "f", "filename": "g", "line": 1}] * 5000}, "a list of 5000 frames"),
            ({"thread_id": 17}, "expected text, found int"),
            ({"thread_name": []}, "expected text, found list"),
            ({"timeout_ms": "600"}, "expected a number, found str"),
            ({"timeout_ms": HUGE}, "a number beyond 62 bits"),
            ({"pg_id": "0"}, "expected a number, found str"),
            ({"pg_id": HUGE}, "a number beyond 62 bits"),
            ({"record_id": "2"}, "expected a number, found str"),
            ({"record_id": 2.0}, "expected a number, found float"),
            ({"record_id": HUGE}, "a number beyond 62 bits"),
            ({"collective_seq_id": HUGE}, "a number beyond 62 bits"),
            ({"collective_seq_id": None}, "expected a number, found NoneType"),
            ({"p2p_seq_id": -HUGE}, "a number beyond 62 bits"),
            ({"op_id": [1]}, "expected a number, found list"),
            ({"time_created_ns": "now"}, "expected a number, found str"),
            ({"time_created_ns": HUGE}, "a number beyond 62 bits"),
            ({"time_discovered_started_ns": [1]}, "expected a number, found list"),
            ({"time_discovered_completed_ns": 1.5}, "expected a number, found float"),
            ({"duration_ms": 1 << 5000}, "too large"),
            ({"record_id": 1}, "record 1 appears twice: the first one counts"),
        ],
    )
    def test_is_left_out(self, changes: dict[str, Any], why: str, decode: Decode) -> None:
        decoded = decode(broken(**changes))
        note = only(decoded.notes)
        assert note.where == "entry 2"
        assert note.what.startswith("left out: ")
        assert why in note.what
        assert len(note.what) < 200
        assert records(decoded) == [0, 1, 3, 4, 5]
        assert only(decoded.dumps).left_out == 1

    @pytest.mark.parametrize("entry", [None, 7, "entry", [], (), [1, 2], {}, {"profiling_name": "nccl:send"}])
    def test_is_no_entry_at_all(self, entry: Any, decode: Decode) -> None:
        value = plain(DUMP)
        value["entries"].insert(3, entry)
        value["entries"].insert(0, entry)
        decoded = decode(pickle.dumps(value, 2))
        assert records(decoded) == [0, 1, 2, 3, 4, 5]
        assert [note.where for note in decoded.notes] == ["entry 0", "entry 4"]

    @pytest.mark.parametrize(
        "key", ["profiling_name", "collective_seq_id", "time_created_ns", "state", "retired"]
    )
    def test_misses_a_key(self, key: str, decode: Decode) -> None:
        """What is not there is unknown; the call itself still happened, unless nothing says what it was."""
        decoded = decode(without(key, 2))
        kept = [0, 1, 3, 4, 5] if key == "profiling_name" else [0, 1, 2, 3, 4, 5]
        assert records(decoded) == kept
        if key == "time_created_ns":
            assert column(decoded, "created_ns")[2] is None
        if key == "collective_seq_id":
            assert column(decoded, "seq") == [1, 1, None, 2, 3, 3]

    def test_without_its_number_is_numbered_by_its_place(self, decode: Decode) -> None:
        assert records(decode(without("record_id", 2))) == [0, 1, 2, 3, 4, 5]

    @pytest.mark.parametrize(
        ("key", "name"),
        [
            ("time_created_ns", "created_ns"),
            ("time_discovered_started_ns", "started_ns"),
            ("time_discovered_completed_ns", "completed_ns"),
        ],
    )
    def test_has_a_negative_time(self, key: str, name: str, decode: Decode) -> None:
        decoded = decode(broken(**{key: -12}))
        note = only(decoded.notes)
        assert (note.where, note.what) == ("entry 2", f"{key} is -12, before 1970: taken as unknown")
        assert column(decoded, name)[2] is None
        assert all(value is not None for value in column(decoded, "created_ns")[3:])
        assert records(decoded) == [0, 1, 2, 3, 4, 5]


def test_one_bad_value_in_every_entry_is_not_a_thousand_notes(decode: Decode) -> None:
    value = plain(one_rank(0, calls=1000))
    for entry in value["entries"][::2]:
        entry["state"] = "melted"
    decoded = decode(pickle.dumps(value, 2))
    assert only(decoded.dumps).calls == only(decoded.dumps).left_out == 500
    about_entries = [note.what for note in decoded.notes if note.where.startswith("entr")]
    assert len(about_entries) == 6
    assert "495 more" in about_entries[-1]


def test_no_entry_is_sound(decode: Decode) -> None:
    value = plain(DUMP) | {"entries": [None, 1, "x"]}
    decoded = decode(pickle.dumps(value, 2))
    raw = only(decoded.dumps)
    assert (raw.calls, raw.left_out) == (0, 3)
    assert [note.where for note in decoded.notes][:3] == ["entry 0", "entry 1", "entry 2"]


@pytest.mark.parametrize("key", ["record_id", "time_created_ns", "collective_seq_id"])
def test_a_key_that_no_entry_has_is_noted_once(key: str, decode: Decode) -> None:
    """A flipped bit in the one place where a key is written changes it in every entry."""
    decoded = decode(without(key))
    note = only(decoded.notes)
    assert note.where == "entries"
    assert key in note.what
    assert records(decoded) == [0, 1, 2, 3, 4, 5]


def test_repeated_records_are_kept_once(decode: Decode) -> None:
    value = plain(DUMP)
    value["entries"] += value["entries"][:2]
    decoded = decode(pickle.dumps(value, 2))
    assert records(decoded) == [0, 1, 2, 3, 4, 5]
    assert ["twice" in note.what for note in decoded.notes] == [True, True]


def test_entries_that_differ_in_their_keys_lose_nothing(decode: Decode) -> None:
    """Stacks that only some calls have, say: the first entry does not speak for all."""
    value = plain(DUMP)
    del value["entries"][0]["frames"]
    del value["entries"][1]["frames"]
    raw = only(decode(pickle.dumps(value, 2)).dumps)
    part = Part(raw, "")
    assert [kind.stack is None for kind in part.kinds].count(False) > 0
    assert raw.calls == 6


class TestHeader:
    @pytest.mark.parametrize("value", [None, 3, "abc", [], [1], (), 1.5, True, b"x"])
    def test_a_pickle_of_something_else(self, value: Any, decode: Decode) -> None:
        decoded = decode(pickle.dumps(value, 2), "nccl_trace_rank_0.pkl")
        assert decoded.dumps == []

    @pytest.mark.parametrize("entries", [None, 3, "abc", {}, ()])
    def test_entries_of_a_wrong_type(self, entries: Any, decode: Decode) -> None:
        decoded = decode(pickle.dumps(plain(DUMP) | {"entries": entries}, 2))
        assert only(decoded.dumps).calls == 0
        assert any(note.where == "entries" for note in decoded.notes)

    @pytest.mark.parametrize("version", [2, None, 2.10, ["2.10"], "x" * 10_000, {}])
    def test_a_version_of_a_wrong_type(self, version: Any, decode: Decode) -> None:
        decoded = decode(pickle.dumps(plain(DUMP) | {"version": version}, 2))
        assert only(decoded.dumps).calls == 6
        assert only(decoded.notes).where == "version"

    @pytest.mark.parametrize(
        "config",
        [
            7,
            "{}",
            [],
            [("0", "x")],
            {"0": 3},
            {"0": None},
            {"0": {"ranks": 3}},
            {"0": {"ranks": "[0, x]"}},
            {"0": {"ranks": "[0, -1]"}},
            {"0": {"ranks": "__import__('os').system('true')"}},
            {"0": {"ranks": "[" + "9" * 5000 + "]"}},
            {"0": {"ranks": "[99999999999]"}},
            {"0": {"ranks": [0, "1"]}},
            {"0": {"ranks": [1 << 100]}},
            {"0": {"name": 4, "ranks": "[0]"}},
            {None: [0, 1]},
            {float("inf"): [0, 1]},
            {(1, 2): [0, 1]},
            {1 << 20_000: [0, 1]},
            {"x": [0, 1]},
        ],
    )
    def test_a_strange_group_is_noted_and_the_calls_count(self, config: Any, decode: Decode) -> None:
        decoded = decode(pickle.dumps(plain(DUMP) | {"pg_config": config}, 2))
        assert only(decoded.dumps).calls == 6
        assert only(decoded.notes).where.startswith("pg_config")

    @pytest.mark.parametrize(
        ("ranks", "members"),
        [
            ("[0, 1, 2]", [0, 1, 2]),
            ("[2,1, 0 ]", [0, 1, 2]),
            (" [ 5 ] ", [5]),
            ("3", [3]),
            ("[]", []),
            ("", []),
            ([1, 0, 0], [0, 1]),
            ((4,), [4]),
        ],
    )
    def test_members_in_every_spelling(self, ranks: Any, members: list[int], decode: Decode) -> None:
        config = {"0": {"name": "0", "desc": "default_pg", "ranks": ranks}}
        decoded = decode(pickle.dumps(plain(DUMP) | {"pg_config": config}, 2))
        assert list(only(only(decoded.dumps).config).members) == members

    def test_a_member_list_repeated_without_end_stays_bounded(self, decode: Decode) -> None:
        ranks = "[" + ", ".join(map(str, range(1 << 18))) + "]"
        config = {str(n): {"name": str(n), "desc": "", "ranks": ranks} for n in range(40)}
        decoded = decode(pickle.dumps(plain(DUMP) | {"pg_config": config}, 2))
        assert len(only(decoded.dumps).config) == 16
        assert "more members than any job has" in only(decoded.notes).what

    @pytest.mark.parametrize(
        "status",
        [7, [], "x", {"0": 7}, {"0": []}, {"0": {"last_enqueued_collective": "many"}}],
    )
    def test_a_strange_status_is_noted_and_the_calls_count(self, status: Any, decode: Decode) -> None:
        decoded = decode(pickle.dumps(plain(DUMP) | {"pg_status": status}, 2))
        assert only(decoded.dumps).calls == 6
        assert only(decoded.notes).where.startswith("pg_status")

    def test_counters_of_a_group_without_calls_are_noted(self, decode: Decode) -> None:
        status = plain(DUMP)["pg_status"] | {"9": plain(DUMP)["pg_status"]["0"], 1 << 20_000: {}, (): {}}
        decoded = decode(pickle.dumps(plain(DUMP) | {"pg_status": status}, 2))
        assert len(only(decoded.dumps).status) == 2
        assert only(decoded.notes).what == "3 counters belong to groups without a kept call"

    def test_notes_cannot_steer_a_terminal_or_defy_encoding(self, decode: Decode) -> None:
        value = plain(DUMP) | {"\x1b[2Jclear": 1, "\ud800": 2, "x" * 1000: 3, 4: 4}
        note = only(decode(pickle.dumps(value, 2)).notes)
        assert note.what.isprintable()
        note.what.encode()
        assert len(note.what) < 300


class TestCut:
    """The first N bytes of a dump hold the entries that end before byte N: these and no others are kept."""

    @staticmethod
    def ends(data: bytes) -> list[int]:
        """Offset after each entry, told by the entries' own shape: a key that each ends with."""
        last_key = data.index(b"is_p2p")
        ends = []
        position = data.index(b"u", last_key)
        first_slot = data[last_key + len("is_p2p") : position]
        assert first_slot[:1] == b"q"
        ends.append(position + 1)
        fetch = b"h" + first_slot[1:2]
        for _ in range(DUMP.entries.__len__() - 1):
            position = data.index(fetch + b"\x89u", position)
            position += len(fetch) + 1
            ends.append(position + 1)
        return ends

    def test_at_every_byte_of_a_pickle(self, decode: Decode) -> None:
        data = write_pickle(DUMP)
        ends = self.ends(data)
        assert len(ends) == 6
        for size in range(len(data)):
            decoded = decode(data[:size])
            whole = sum(end <= size for end in ends)
            if whole:
                assert records(decoded) == list(range(whole)), size
                assert only(decoded.dumps).truncated
            else:
                assert all(dump.calls == 0 for dump in decoded.dumps), size
            if size:
                assert decoded.notes or decoded.kind != "flight_pickle", size
            if decoded.dumps:
                place = next(note.where for note in decoded.notes if note.where.startswith("offset"))
                assert int(place.split()[1]) <= size

    @pytest.mark.lab
    def test_at_every_byte_of_a_json(self, decode: Decode) -> None:
        data = write_json(DUMP)
        text = data.decode()
        start = text.index('"entries":[') + len('"entries":[')
        ends = []
        position = start
        for _ in range(6):
            _, position = json.JSONDecoder().raw_decode(text, position)
            ends.append(position)
            position += 1
        for size in range(1, len(data)):
            decoded = decode(data[:size], "nccl_trace_rank_0.json")
            whole = sum(end <= size for end in ends)
            assert sum(dump.calls for dump in decoded.dumps) == whole, size
            assert all(dump.truncated for dump in decoded.dumps)
            assert decoded.notes, size

    def test_groups_known_before_the_cut_stay_known(self, decode: Decode) -> None:
        data = write_pickle(DUMP)
        raw = only(decode(data[: self.ends(data)[2] + 3]).dumps)
        assert [config.name for config in raw.config] == ["0", "1"]
        assert raw.version == "2.10"

    @pytest.mark.parametrize("version", ["1.4", "2.1", "2.4", "2.9"])
    def test_in_the_middle_of_every_version(self, version: str, decode: Decode) -> None:
        data = write_pickle(one_rank(0, calls=100), version)
        calls = only(decode(data[: len(data) * 3 // 4]).dumps).calls
        assert 50 < calls < 95

    @pytest.mark.parametrize("protocol", in_lab([2, 3, 4, 5], (2, 5)))
    def test_of_a_dump_that_python_pickled_again(self, protocol: int, decode: Decode) -> None:
        """A script that filtered dumps and wrote them back: other opcodes, batches of 1000, frames of 64 kB."""
        data = pickle.dumps(plain(one_rank(0, calls=2500)), protocol)
        whole = only(decode(data, "nccl_trace_rank_0.pkl").dumps)
        assert (whole.calls, whole.truncated) == (2500, False)
        for share in (0.2, 0.5, 0.9):
            decoded = decode(data[: int(len(data) * share)], "nccl_trace_rank_0.pkl")
            kept = only(decoded.dumps).calls
            assert 2500 * share * 0.9 < kept < 2500 * share * 1.1
            assert records(decoded) == list(range(kept))

    def test_an_empty_file_and_87_bytes(self, load_files: LoadFiles) -> None:
        files = {f"nccl_trace_rank_{rank}": write_pickle(dump) for rank, dump in job().items()}
        files["nccl_trace_rank_1"] = b""
        files["nccl_trace_rank_2"] = files["nccl_trace_rank_2"][:87]
        case = load_files(files)
        assert case.calls["rank"].unique().sort().to_list() == [0, 3]
        assert case.world_size == 4
        for rank in (1, 2):
            assert any(note.file.endswith(f"rank_{rank}") for note in case.notes), rank

    def test_bytes_after_the_end_do_no_harm(self, decode: Decode) -> None:
        decoded = decode(write_pickle(DUMP) + b"\0" * 4096)
        assert records(decoded) == [0, 1, 2, 3, 4, 5]

    def test_a_byte_order_mark_does_no_harm(self, decode: Decode) -> None:
        decoded = decode(b"\xef\xbb\xbf" + write_json(DUMP), "nccl_trace_rank_0.json")
        assert (records(decoded), only(decoded.dumps).truncated) == ([0, 1, 2, 3, 4, 5], False)


@pytest.mark.parametrize("form", ["pickle", "json"])
def test_every_flipped_bit_is_survived(form: str, decode: Decode) -> None:
    """Damage may cost calls or change a value; it never raises and never invents calls."""
    data = write_pickle(one_rank(0, calls=3)) if form == "pickle" else write_json(one_rank(0, calls=3))
    name = "nccl_trace_rank_0" + (".json" if form == "json" else "")
    rng = random.Random(7)
    places = range(len(data) * 8) if len(data) < 100 else rng.sample(range(len(data) * 8), 800)
    for place in places:
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        decoded = decode(bytes(flipped), name)
        for dump in decoded.dumps:
            assert dump.calls <= 3
            assert len(dump.kinds) == dump.calls * 4
            assert all(len(values) == dump.calls * 8 for values in dump.integers)


def test_damage_in_the_middle_keeps_what_stands_before_it(decode: Decode) -> None:
    data = bytearray(write_pickle(one_rank(0, calls=400)))
    middle = len(data) // 2
    for opcode in (b"c", b"\x00", b"R", b"Q", b"\x93"):
        data[middle : middle + 24] = opcode * 24
        decoded = decode(bytes(data))
        assert 150 < only(decoded.dumps).calls < 250, opcode
        assert only(decoded.dumps).truncated
        assert "kept the" in only(decoded.notes).what
