"""The debug server's text tables: read back to what each rank did, checked against torch's own handler."""

from __future__ import annotations

import contextlib
import io
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples

from rankandfile.evidence.flight.as_table import decode
from rankandfile.evidence.flight.plain_table import rows

pytestmark = pytest.mark.slow

Entry = dict[str, Any]

#: As torch 2.13 writes it: rank 1 calls broadcast where the others call all_reduce.
SAMPLE = """\
PARTIAL DATA: 3/4 workers responded
  Rank 3: ConnectionError: refused

=== FR Trace ===
--- Groups ---
id                     desc           size
0-4850097147344926394  default_pg        3
19000494312501845833   my group, x       2
--- Memberships ---
group_id                 global_rank
0-4850097147344926394              0
0-4850097147344926394              1
0-4850097147344926394              2
19000494312501845833               0
19000494312501845833               1
--- Collectives ---
  id    group_id  pass_check      collective_seq_id    p2p_seq_id    record_id  pg_desc        collective_name    \
input_sizes    output_sizes    expected_ranks    collective_state    collective_frames    input_numel    output_numel\
    missing_ranks    mismatch_collectives
   0           0  True                            1             0            0  0:default_pg   nccl:all_reduce    \
[[4, 8]]       [[4, 8]]        {0, 1, 2}         completed           []
   1           1  True                            1             0            2  1:my group, x  nccl:barrier       \
[[]]           [[]]            {0, 1}            completed           []
   2           0  False                           2             0            3  0:default_pg   nccl:all_reduce    \
[[4, 8]]       [[4, 8]]        {0, 1, 2}         scheduled           []                                              \
                   {1: Collective(id=3, group_id='0', pass_check=False, collective_seq_id=2, p2p_seq_id=0, \
record_id=3, pg_desc='0:default_pg', collective_name='nccl:broadcast', input_sizes=[[7]], output_sizes=[[7]], \
expected_ranks={0, 1, 2}, collective_state='started', collective_frames=[], input_numel=None, output_numel=None, \
missing_ranks=None, mismatch_collectives=None, type_of_mismatch=<torch.X object at 0x7f233e3f6910>)}
--- NCCL Calls ---
  id    collective_id    group_id    global_rank    traceback_id  collective_type    sizes
   0                0           0              0               0  nccl:all_reduce    [[4, 8]]
   1                0           0              1               0  nccl:all_reduce    [[4, 8]]
   2                0           0              2               0  nccl:all_reduce    [[4, 8]]
   3                1           1              0               0  nccl:barrier       [[]]
   4                1           1              1               0  nccl:barrier       [[]]
   5                            0              0               0  nccl:all_reduce    [[4, 8]]
   6                            0              1               0  nccl:all_reduce    [[4, 8]]
   7                            0              2               0  nccl:all_reduce    [[4, 8]]

=== FR Trace NCCL ===
Failed to fetch NCCL trace"""


def said(entry: Entry) -> tuple[Any, ...]:
    keys = ("collective_seq_id", "profiling_name", "state")
    return (*entry["process_group"], *(entry[key] for key in keys), str(entry["input_sizes"]))


def test_the_sample() -> None:
    dumps, notes = decode(SAMPLE)
    assert [rank for rank, _ in dumps] == [0, 1, 2]
    by_rank = dict(dumps)
    assert [said(entry) for entry in by_rank[1]["entries"]] == [
        ("0", "default_pg", 1, "nccl:all_reduce", "completed", "[[4, 8]]"),
        ("1", "my group, x", 1, "nccl:barrier", "completed", "[[]]"),
        # What rank 1 itself asked for, not what the row of the call says.
        ("0", "default_pg", 2, "nccl:broadcast", "started", "[[7]]"),
    ]
    assert said(by_rank[2]["entries"][-1])[2:5] == (2, "nccl:all_reduce", "scheduled")
    assert [entry["record_id"] for entry in by_rank[2]["entries"]] == [0, 1]
    assert by_rank[0]["pg_config"] == {
        "0": {"name": "0", "desc": "default_pg", "ranks": [0, 1, 2]},
        "1": {"name": "1", "desc": "my group, x", "ranks": [0, 1]},
    }
    assert list(by_rank[2]["pg_config"]) == ["0"]
    assert [(note.where, note.what) for note in notes] == [
        ("line 1", "only 3 of 4 ranks answered"),
        ("line 2", "rank 3 did not answer: ConnectionError: refused"),
        ("FR Trace NCCL", "the debug server had no trace for this part"),
    ]


def test_a_file_cut_before_the_calls_still_has_the_collectives() -> None:
    whole = SAMPLE[SAMPLE.index("=== FR") : SAMPLE.index("\n\n=== FR Trace NCCL")]
    cut = whole[: whole.index("--- NCCL Calls")]
    dumps, notes = decode(cut)
    assert {rank: sorted(map(said, dump["entries"])) for rank, dump in dumps} == {
        rank: sorted(map(said, dump["entries"])) for rank, dump in decode(whole)[0]
    }
    assert "the table is missing: the file is cut off" in [note.what for note in notes]
    assert "8 calls are taken from the table of collectives alone" in [note.what for note in notes]
    # Where ranks did not answer, nobody knows who of the others had joined.
    dumps, _ = decode(SAMPLE[: SAMPLE.index("--- NCCL Calls")])
    assert all(not dump["entries"] for _, dump in dumps)


@settings(max_examples=examples(500))
@given(st.integers(0, len(SAMPLE)))
def test_a_cut_anywhere_makes_no_false_call(cut: int) -> None:
    truth = {rank: {said(entry) for entry in dump["entries"]} for rank, dump in decode(SAMPLE)[0]}
    for text in (SAMPLE[:cut], SAMPLE[SAMPLE.index("=== FR") :][:cut]):
        for rank, dump in decode(text)[0]:
            assert {said(entry) for entry in dump["entries"]} <= truth.get(rank or 0, set())


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.tuples(st.integers(0, len(SAMPLE) - 1), st.sampled_from("0123456789 -[]{}:,'é\n=")), max_size=10
    )
)
def test_mutated_tables_never_raise(changes: list[tuple[int, str]]) -> None:
    text = list(SAMPLE)
    for place, letter in changes:
        text[place] = letter
    for rank, dump in decode("".join(text))[0]:
        assert rank is not None
        assert all(isinstance(entry["collective_seq_id"], int) for entry in dump["entries"])


@given(st.text())
def test_any_text_never_raises(text: str) -> None:
    decode(text)
    decode(
        f"=== FR Trace ===\n--- Groups ---\n{text}\n--- Collectives ---\n{text}\n--- NCCL Calls ---\n{text}"
    )


def test_a_row_whose_other_ranks_are_unreadable_is_left_out() -> None:
    for spoiled in ("{}", "{1: Colective(id=", "1: Collective(id="):
        text = SAMPLE.replace("{1: Collective(id=", spoiled)
        dumps, notes = decode(text)
        assert [len(dump["entries"]) for _, dump in dumps] == [2, 2, 1]
        assert "rows that are damaged or cut off, left out: 1" in [note.what for note in notes]


def test_other_texts_hold_no_dump() -> None:
    assert decode("")[0] == []
    assert [note.what for note in decode("hello")[1]] == ["no table of groups or calls in it"]
    body = "PARTIAL DATA: 0/2 workers responded\n" + "".join(f"  Rank {r}: Error: 500\n" for r in range(40))
    dumps, notes = decode(body)
    assert dumps == []
    assert len(notes) == 22
    assert notes[-1].what == "20 more ranks did not answer"


def test_hostile_tables_take_no_time() -> None:
    header, *_ = SAMPLE[SAMPLE.index("  id    group_id  pass") :].split("\n")
    calls = SAMPLE[SAMPLE.index("  id    collective_id") :].split("\n\n")[0].split("\n")
    collective = SAMPLE[SAMPLE.index("   0           0  True") :].split("\n")[0]
    # Many collectives of one kind, and many calls that fit none of them.
    text = "\n".join(
        ["=== FR Trace ===", "--- Collectives ---", header]
        + [
            collective.replace("   0  ", f"{n:4}  ", 1).replace("{0, 1, 2}", "{0, 1}   ")
            for n in range(20_000)
        ]
        + ["--- NCCL Calls ---", calls[0]]
        + [calls[8].replace("   7  ", f"{n:4}  ", 1) for n in range(20_000)]
    )
    began = time.perf_counter()
    _, notes = decode(text)
    assert time.perf_counter() - began < 20
    assert any("calls belong to no row" in note.what for note in notes)


def test_columns_are_told_by_what_is_blank_in_all_rows() -> None:
    table = ["name    count  note", "a b         1", "c       12345  two words here"]
    assert rows(table) == [
        {"name": "a b", "count": "1", "note": ""},
        {"name": "c", "count": "12345", "note": "two words here"},
    ]
    assert rows(["name"]) == []
    assert rows(["", "x"]) == rows([]) == []


# What follows runs torch's own handler.


class Job:
    """What each rank recorded, and the text that torch's debug server makes of it."""

    def __init__(self, world: int, backend: str = "nccl") -> None:
        self.backend = backend
        self.groups: dict[str, tuple[str, list[int]]] = {"0": ("default_pg", list(range(world)))}
        self.entries: dict[int, list[Entry]] = {rank: [] for rank in range(world)}

    def call(self, rank: int, op: str, group: str = "0", **more: Any) -> None:
        own = self.entries[rank]
        seq = 1 + sum(entry["process_group"][0] == group for entry in own)
        sizes = more.pop("sizes", [[4, 8]])
        self.entries[rank].append(
            {
                "record_id": len(own),
                "pg_id": 0,
                "process_group": [group, self.groups[group][0]],
                "collective_seq_id": seq,
                "p2p_seq_id": 0,
                "op_id": seq,
                "profiling_name": f"{self.backend}:{op}",
                "time_created_ns": 1,
                "input_sizes": sizes,
                "input_dtypes": ["Float"] * len(sizes),
                "output_sizes": more.pop("outputs", sizes),
                "output_dtypes": ["Float"] * len(sizes),
                "state": "completed",
                "time_discovered_started_ns": 0,
                "time_discovered_completed_ns": 0,
                "retired": True,
                "timeout_ms": 600000,
                "is_p2p": False,
                **more,
            }
        )

    def text(self, monkeypatch: pytest.MonkeyPatch, failed: tuple[int, ...] = ()) -> str:
        pytest.importorskip("torch")
        pytest.importorskip("tabulate")
        handlers = pytest.importorskip("torch.distributed.debug._debug_handlers")
        frontend = pytest.importorskip("torch.distributed.debug._frontend")
        replies = []
        for rank, entries in self.entries.items():
            config = {
                name: {"name": name, "desc": desc, "ranks": str(members)}
                for name, (desc, members) in self.groups.items()
                if rank in members
            }
            dump = {"version": "2.10", "pg_config": config, "pg_status": {}, "entries": entries}
            reply = (503, "ConnectionError: refused") if rank in failed else (200, json.dumps(dump))
            replies.append(frontend.Response(*reply))

        def fetch_all(endpoint: str, *_: object, **__: object) -> Any:
            if endpoint == "dump_nccl_trace_json":
                return ([], [])
            return ([f"http://host:1/handler/{endpoint}?" for _ in replies], replies)

        monkeypatch.setattr(handlers, "fetch_all", fetch_all)
        with contextlib.redirect_stdout(io.StringIO()):
            return str(handlers.FlightRecorderHandler().dump())

    def truth(self, rank: int) -> list[tuple[Any, ...]]:
        return sorted(said(entry) for entry in self.entries[rank])


def decoded(text: str) -> dict[int | None, list[tuple[Any, ...]]]:
    return {rank: sorted(map(said, dump["entries"])) for rank, dump in decode(text)[0]}


@pytest.fixture
def patch() -> Any:
    with pytest.MonkeyPatch.context() as context:
        yield context


def _other_op(job: Job) -> None:
    for rank in range(4):
        job.call(rank, "broadcast" if rank == 2 else "all_reduce", state="scheduled")


def _other_size(job: Job) -> None:
    for rank in range(4):
        job.call(rank, "all_reduce", sizes=[[4, 8 + (rank == 3)]], state="scheduled")


def _other_state(job: Job) -> None:
    for rank in range(4):
        job.call(rank, "all_reduce", state="started" if rank else "scheduled")


def _missing(job: Job) -> None:
    for rank in (0, 1, 3):
        job.call(rank, "all_reduce", state="scheduled")


def _subgroups(job: Job) -> None:
    job.groups["1"] = ("mesh_tp", [0, 1])
    job.groups["81a5cf26833ff3e7"] = ("undefined", [2, 3])
    for rank in range(4):
        for _ in range(3):
            job.call(rank, "all_reduce", "1" if rank < 2 else "81a5cf26833ff3e7")
    for rank in (1, 2, 3):
        job.call(rank, "_all_gather_base", sizes=[[4]], outputs=[[16]], state="scheduled")


@pytest.mark.torch
@pytest.mark.parametrize("fault", [_other_op, _other_size, _other_state, _missing, _subgroups])
def test_what_torch_writes_is_what_the_ranks_did(
    fault: Callable[[Job], None], patch: pytest.MonkeyPatch
) -> None:
    job = Job(4)
    for rank in range(4):
        for step in range(5):
            job.call(rank, "all_reduce", sizes=[[step + 1, 2], [3]])
            job.call(rank, "barrier", sizes=[[]])
    fault(job)
    found = decoded(job.text(patch))
    assert set(found) == set(range(4))
    for rank in range(4):
        assert found[rank] == job.truth(rank)


@pytest.mark.torch
def test_a_rank_that_did_not_answer(patch: pytest.MonkeyPatch) -> None:
    job = Job(4)
    for rank in range(4):
        job.call(rank, "all_reduce")
        job.call(rank, "all_reduce", state="scheduled")
    text = job.text(patch, failed=(2,))
    found = decoded(text)
    assert found == {rank: job.truth(rank) for rank in (0, 1, 3)}
    assert decode(text)[1][1].what == "rank 2 did not answer: ConnectionError: refused"


@pytest.mark.torch
def test_sizes_that_may_differ_are_not_taken_for_another_ranks(patch: pytest.MonkeyPatch) -> None:
    job = Job(4)
    for rank in range(4):
        job.call(rank, "all_to_all", sizes=[[rank + 1]], outputs=[[rank + 1]])
    for _, dump in decode(job.text(patch))[0]:
        assert [entry["input_sizes"] for entry in dump["entries"]] == [[]]


@pytest.mark.torch
def test_gloo_calls_before_the_last_are_taken_for_ended(patch: pytest.MonkeyPatch) -> None:
    job = Job(2, backend="gloo")
    for rank in range(2):
        for _ in range(3 - rank):
            job.call(rank, "all_reduce", state="scheduled", retired=False)
    dumps = dict(decode(job.text(patch))[0])
    assert [entry["retired"] for entry in dumps[0]["entries"]] == [True, True, False]
    assert [entry["retired"] for entry in dumps[1]["entries"]] == [True, False]


@pytest.mark.torch
def test_rings_that_had_wrapped_still_look_so(patch: pytest.MonkeyPatch) -> None:
    job = Job(2)
    for rank in range(2):
        for _ in range(6):
            job.call(rank, "all_reduce")
        job.entries[rank] = job.entries[rank][2 + rank :]
    for _, dump in decode(job.text(patch))[0]:
        assert [entry["record_id"] for entry in dump["entries"]] == [3, 4, 5]
        assert [entry["collective_seq_id"] for entry in dump["entries"]] == [4, 5, 6]


_OPS = st.sampled_from(["all_reduce", "barrier", "broadcast"])


@pytest.mark.torch
@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.sampled_from("01"), _OPS, st.integers(1, 3)), max_size=12), st.data())
def test_every_call_that_is_read_was_made(
    patch: pytest.MonkeyPatch, program: list[tuple[str, str, int]], data: st.DataObject
) -> None:
    """Any program, from which one rank deviates anywhere: nothing is read that a rank did not do."""
    job = Job(4)
    job.groups["1"] = ("mesh_tp", [0, 1, 2])
    odd = data.draw(st.integers(0, 3))
    place = data.draw(st.integers(0, 12))
    change = data.draw(st.sampled_from(["skip", "stop", "op", "size"]))
    for rank in range(4):
        for step, (group, op, size) in enumerate(program):
            at_fault = rank == odd and step == place
            if change == "stop" and rank == odd and step >= place:
                break
            if rank not in job.groups[group][1] or (at_fault and change == "skip"):
                continue
            if at_fault and change == "op":
                op = "reduce"
            job.call(rank, op, group, sizes=[[size + (at_fault and change == "size")]])
    found = decoded(job.text(patch))
    for rank in range(4):
        calls, truth = found.get(rank, []), job.truth(rank)
        assert len(set(calls)) == len(calls)
        assert set(calls) <= set(truth)
        if change in ("stop", "op", "size"):
            assert calls == truth
