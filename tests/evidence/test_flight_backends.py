"""Who made the calls: the backends there are, and those there will be."""

from __future__ import annotations

import json

import polars as pl
import pytest
from support.evidence.loading import Decode
from support.evidence.sample_dumps import (
    call,
    case_of,
    case_of_objects,
    job,
    one_rank,
    only,
    plain,
    with_calls,
)

from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.lab.flight_writer_types import Kind

BACKENDS = ["nccl", "gloo", "xccl", "rccl", "hccl", "ncclx", "rcclx", "mccl", "nccl2", "quantum9000"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_backend_and_operation_are_told_apart(backend: str, decode: Decode) -> None:
    dump = one_rank(0, backend=backend)
    assert decode(write_pickle(dump)).notes == []
    case = case_of({0: dump})
    assert case.dumps["backend"].to_list() == [backend]
    assert set(case.calls["op"].to_list()) == {"all_reduce", "_all_gather_base"}
    assert set(case.calls["name"].to_list()) == {f"{backend}:all_reduce", f"{backend}:_all_gather_base"}


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("nccl:send 0->1", "send"),
        ("nccl:recv 1<-0", "recv"),
        ("nccl:coalesced", "coalesced"),
        ("nccl:ALLGATHER_coalesced", "ALLGATHER_coalesced"),
        ("all_gather_single", "all_gather_single"),
        ("ncclx:all_to_all_v_single", "all_to_all_v_single"),
        ("nccl:", "nccl"),
        ("", ""),
    ],
)
def test_operation_of_a_name(name: str, op: str) -> None:
    kind = Kind(0, "0", "default_pg", name)
    case = case_of({0: with_calls(one_rank(0), (kind, call(0)))})
    assert case.calls["op"].to_list() == [op]
    assert case.calls["name"].to_list() == [name]


def test_gloo_has_one_nameless_group_entry_and_names_in_its_calls() -> None:
    """gloo registers groups before they have a name: its configuration is one entry that each overwrites."""
    dumps = {rank: plain(one_rank(rank, backend="gloo")) for rank in range(4)}
    for rank, dump in dumps.items():
        ranks = "[0, 1, 2, 3]" if rank == 0 else "[]"
        dump["pg_config"] = {"": {"name": "", "desc": "", "ranks": ranks}}
    case = case_of_objects(dumps)
    assert case.world_size == 4
    found = {
        (row["name"], tuple(row["members"])): row["members_from"] for row in case.groups.iter_rows(named=True)
    }
    assert found == {
        ("0", (0, 1, 2, 3)): "world",
        ("1", (0, 1)): "inferred",
        ("2", (2, 3)): "inferred",
    }


def test_gloo_with_a_rank_that_left_no_dump() -> None:
    """An aborted rank leaves nothing; the job's size is still known from the other ranks' configuration."""
    dumps = {rank: plain(one_rank(rank, backend="gloo")) for rank in range(3)}
    for dump in dumps.values():
        dump["pg_config"] = {"": {"name": "", "desc": "", "ranks": "[0, 1, 2, 3]"}}
    case = case_of_objects(dumps)
    assert case.world_size == 4
    assert case.ranks_seen == [0, 1, 2]
    world = case.groups.row(by_predicate=pl.col("name") == "0", named=True)
    assert world["members"] == [0, 1, 2, 3]


class TestAnswersOfSeveralRanks:
    """What collectors save: a worker handler's answer, or all ranks' answers in one document."""

    one = staticmethod(lambda rank: json.loads(write_json(one_rank(rank))))

    def test_a_worker_handlers_answer_is_a_dump(self, decode: Decode) -> None:
        raw = only(decode(write_json(one_rank(0)), "dump_nccl_trace_json").dumps)
        assert (raw.calls, raw.rank) == (6, None)

    def test_a_dump_that_says_its_rank(self, decode: Decode) -> None:
        raw = only(decode(json.dumps(self.one(3) | {"rank": 3, "world_size": 4}).encode()).dumps)
        assert raw.rank == 3

    @pytest.mark.parametrize("key", ["{}", "rank{}", "rank_{}", "Rank {}"])
    def test_by_rank(self, key: str, decode: Decode) -> None:
        answer = {key.format(rank): self.one(rank) for rank in (0, 2, 11)}
        decoded = decode(json.dumps(answer).encode(), "fr_trace_json.json")
        assert [(dump.rank, dump.calls) for dump in decoded.dumps] == [(0, 6), (2, 6), (11, 6)]

    def test_as_a_list_in_rank_order(self, decode: Decode) -> None:
        decoded = decode(json.dumps([self.one(0), self.one(1)]).encode(), "all_ranks.json")
        assert [dump.rank for dump in decoded.dumps] == [0, 1]

    @pytest.mark.parametrize("key", ["result", "response", "body", "dump", "text"])
    @pytest.mark.parametrize("as_text", [False, True])
    def test_wrapped_by_a_collector(self, key: str, as_text: bool, decode: Decode) -> None:
        inner = json.dumps(self.one(1)) if as_text else self.one(1)
        decoded = decode(json.dumps({"1": {"status": 200, key: inner}}).encode(), "fr_trace_all.json")
        assert [(dump.rank, dump.calls) for dump in decoded.dumps] == [(1, 6)]

    def test_a_rank_that_answered_with_an_error_is_left_out(self, decode: Decode) -> None:
        answer = {"0": self.one(0), "1": {"error": "timed out"}, "2": "Internal error", "3": None}
        decoded = decode(json.dumps(answer).encode(), "fr_trace_all.json")
        assert [dump.rank for dump in decoded.dumps] == [0]

    def test_json_of_another_kind_is_no_dump_and_no_error(self, decode: Decode) -> None:
        for value in ({"a": 1}, [1, 2], "text", 7, None, {"traceEvents": []}, [[]], {"0": {"1": {}}}):
            decoded = decode(json.dumps(value).encode(), "trace.json")
            assert decoded.dumps == []


def test_point_to_point_names_become_global_ranks() -> None:
    """`send 0->1` names ranks within the group: in the pair (2, 3) that is 2 to 3."""
    dumps = {}
    for rank in range(4):
        mine, peer = rank % 2, 1 - rank % 2
        name = f"nccl:send {mine}->{peer}" if mine == 0 else f"nccl:recv {mine}<-{peer}"
        base = one_rank(rank)
        kind = Kind(1, base.kinds[1].group, "mesh_tp", name, ((8,),), ("Float",), is_p2p=True)
        dumps[rank] = with_calls(base, (kind, call(0, seq=0, p2p=1)))
    calls = case_of(dumps).calls.select("rank", "op", "src", "dst").rows()
    assert calls == [(0, "send", 0, 1), (1, "recv", 0, 1), (2, "send", 2, 3), (3, "recv", 2, 3)]


@pytest.mark.parametrize(
    "name", ["nccl:send 0->7", "nccl:send 9->1", "nccl:send", "nccl:send a->b", "nccl:recv 1->0x"]
)
def test_peers_that_the_group_does_not_have_stay_unknown(name: str) -> None:
    kind = Kind(0, "0", "default_pg", name, is_p2p=True)
    case = case_of({0: with_calls(one_rank(0), (kind, call(0)))})
    assert case.calls.select("src", "dst").rows() == [(None, None)]


def test_peers_in_a_group_without_members_stay_unknown() -> None:
    kind = Kind(7, "7", "somewhere", "nccl:send 0->1", is_p2p=True)
    value = plain(with_calls(one_rank(0), (kind, call(0))), "1.4") | {"pg_config": {}}
    assert case_of_objects({0: value}).calls.select("src", "dst").rows() == [(None, None)]


def test_one_job_of_two_backends() -> None:
    dumps = job()
    dumps[1] = one_rank(1, backend="gloo")
    case = case_of(dumps)
    assert case.dumps["backend"].to_list() == ["nccl", "gloo", "nccl", "nccl"]
    world = case.calls.filter(case.calls["op"] == "all_reduce")
    assert world["group"].n_unique() == 1
