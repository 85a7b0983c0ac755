"""From decoded dumps to a case: every row in its place, ids that lead back, nothing of what is set aside."""

from __future__ import annotations

import json
import pickle

import polars as pl
import pytest
from support.evidence.sample_dumps import NOW, as_recorded, case_of, job, one_rank, plain, recorded

from rankandfile.evidence.flight import header
from rankandfile.evidence.tables.assemble import assemble
from rankandfile.evidence.tables.part import Part
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.model.ledger import call_id, dump_id, group_id
from rankandfile.model.tables import TABLES, schema


def part(rank: int, calls: int = 6, set_aside: str | None = None, first: int = 0) -> Part:
    value = plain(one_rank(rank, calls=first + calls))
    value["entries"] = value["entries"][first:]
    raw, notes = header.decode(value, "pickle")
    assert raw is not None
    assert notes == []
    return Part(raw, f"dumps/rank_{rank}", rank=rank, rank_from="name", set_aside=set_aside)


def test_every_table_has_its_schema_with_and_without_calls() -> None:
    for case in (case_of(job()), assemble([]), case_of({0: one_rank(0, calls=0)})):
        for name in TABLES:
            assert case.tables()[name].schema == schema(name), name


def test_calls_of_several_dumps_stay_apart() -> None:
    dumps = job()
    case = case_of(dumps)
    for number, (rank, dump) in enumerate(dumps.items()):
        assert as_recorded(case, number) == recorded(plain(dump)["entries"])
        assert case.calls.filter(pl.col("dump") == number)["rank"].unique().to_list() == [rank]


def test_like_stacks_shapes_and_frames_of_all_ranks_are_stored_once() -> None:
    case = case_of(job())
    assert (case.stacks.height, case.shapes.height, case.frames.height) == (2, 2, 4)


def test_the_call_site_is_the_innermost_frame_of_the_program() -> None:
    case = case_of({0: one_rank(0)})
    sites = case.calls.join(case.frames, left_on="site", right_on="frame")
    assert set(sites.select("file", "function", "line").rows()) == {
        ("/job/train.py", "step", 31),
        ("/job/train.py", "forward", 12),
    }
    stacks = case.calls.join(case.stacks, on="stack", suffix="_of_stack")
    assert stacks["site"].equals(stacks["site_of_stack"].alias("site"))


def test_a_dump_that_is_set_aside_leaves_no_call_and_is_listed() -> None:
    case = assemble([part(0), part(1, set_aside="older than the others"), part(2)])
    assert set(case.calls["dump"].to_list()) == {0, 2}
    assert case.ranks_seen == [0, 2]
    assert case.dumps["set_aside"].to_list() == [None, "older than the others", None]
    assert case.dumps["calls"].to_list() == [6, 6, 6]
    assert set(case.statuses["dump"].to_list()) == {0, 2}


def test_all_set_aside_is_an_empty_case() -> None:
    case = assemble([part(0, set_aside="x")])
    assert (case.calls.height, case.groups.height, case.world_size) == (0, 0, None)


def test_a_dump_says_how_much_it_holds() -> None:
    dumps = assemble([part(0, calls=6), part(1, calls=4, first=10)]).dumps
    wanted = {
        "calls": [6, 4],
        "first_record": [0, 10],
        "last_record": [5, 13],
        "wrapped": [False, True],
        "left_out": [0, 0],
        "truncated": [False, False],
        "timing": [True, True],
        "library": ["2.27.3", "2.27.3"],
        "first_ns": [NOW, NOW + 10 * 5_000_000 + 1],
        "last_ns": [NOW + 25_000_000, NOW + 13 * 5_000_000 + 1],
    }
    assert {name: dumps[name].to_list() for name in wanted} == wanted


def test_a_wrapped_ring_shows_the_first_kept_number_of_each_group() -> None:
    calls = assemble([part(0, calls=5, first=101)]).calls
    assert calls.group_by("group", maintain_order=True).agg(pl.col("seq").min()).rows() == [(0, 51), (1, 52)]


class TestEvidence:
    """An id alone leads back to the file, the place in it, and what stands there."""

    case = assemble([part(0), part(1), part(2, set_aside="stale"), part(3)])

    @pytest.mark.parametrize("rank", [0, 1, 3])
    @pytest.mark.parametrize("record", [0, 3, 5])
    def test_of_a_call(self, rank: int, record: int) -> None:
        found = self.case.evidence(call_id(rank, record))
        assert found is not None
        assert (found.source, found.where) == (f"dumps/rank_{rank}", f"record {record}")
        entry = plain(one_rank(rank))["entries"][record]
        assert f"rank {rank}: {entry['profiling_name']}" in found.quote
        assert f"seq {entry['collective_seq_id']}" in found.quote
        assert f"/job/train.py:{entry['frames'][1]['line']}" in found.quote
        assert str(entry["input_sizes"]) in found.quote

    def test_of_every_call_that_there_is(self) -> None:
        for dump, record in self.case.calls.select("dump", "record").rows():
            found = self.case.evidence(call_id(dump, record))
            assert found is not None
            assert found.where == f"record {record}"

    def test_of_a_group_in_a_dump(self) -> None:
        found = self.case.evidence(group_id(0, 0))
        assert found is not None
        assert found.source == "dumps/rank_0"
        assert "3 calls kept, from seq 1 (record 0) to seq 3 (record 4" in found.quote
        assert "enqueued 3, started 3, completed 3" in found.quote

    def test_of_a_dump_even_one_set_aside(self) -> None:
        found = self.case.evidence(dump_id(2))
        assert found is not None
        assert (found.source, found.where) == ("dumps/rank_2", "whole file")
        assert "6 calls, records 0 to 5" in found.quote

    @pytest.mark.parametrize(
        "wrong",
        ["", "D", "D9", "D0#99", "D2#0", "D0@99", "D9@0", "L1:4", "D0#", "D0#1x", "x D0", "D-1", "D٣#0x"],
    )
    def test_of_nothing(self, wrong: str) -> None:
        assert self.case.evidence(wrong) is None


def test_pickle_and_json_of_one_rank_make_one_case() -> None:
    dumps = job()
    pickled, _ = header.decode(pickle.loads(pickle.dumps(plain(dumps[0]))), "pickle")
    as_json, _ = header.decode(json.loads(write_json(dumps[1])), "json")
    assert pickled is not None
    assert as_json is not None
    case = assemble([Part(pickled, "a", rank=0), Part(as_json, "b", rank=1)])
    world = case.calls.filter(pl.col("op") == "all_reduce")
    assert world["group"].n_unique() == world["shape"].n_unique() == 1
    assert world.group_by("rank").agg(pl.col("stack").null_count()).sort("rank").rows() == [(0, 0), (1, 3)]
