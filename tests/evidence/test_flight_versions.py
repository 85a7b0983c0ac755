"""Every version of the format, in both forms, means the same calls."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import polars as pl
import pytest
from support.evidence.loading import Decode, LoadFiles
from support.evidence.sample_dumps import (
    as_recorded,
    call,
    case_of,
    case_of_objects,
    job,
    one_rank,
    only,
    plain,
    recorded,
    with_calls,
)

from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.lab.flight_writer_types import VERSIONS, Dump, Kind

MODERN = [version for version, fields in VERSIONS.items() if fields.groups]
WITH_STATUS = [version for version, fields in VERSIONS.items() if fields.status]


def test_every_field_of_the_newest_version_arrives() -> None:
    dump = one_rank(2)
    case = case_of({2: dump})
    assert as_recorded(case, 0) == recorded(plain(dump)["entries"])


@pytest.mark.parametrize("version", MODERN)
def test_versions_with_named_groups_agree(version: str) -> None:
    now = case_of({0: one_rank(0)})
    then = case_of({0: one_rank(0)}, version)
    wanted = now.calls.drop("thread", "timeout_ms")
    assert then.calls.drop("thread", "timeout_ms").equals(wanted)
    assert then.groups.equals(now.groups)
    assert then.frames.equals(now.frames)
    assert only(then.dumps["version"].to_list()) == version
    has_timeout = VERSIONS[version].status
    assert then.calls["timeout_ms"].null_count() == (0 if has_timeout else then.calls.height)
    assert then.statuses.height == (2 if has_timeout else 0)
    threads = {"python3 139872", "pt_autograd_0 7311"} if VERSIONS[version].threads else {""}
    assert set(then.calls["thread"].to_list()) == threads


def test_format_1_has_one_sequence_number_and_groups_by_number() -> None:
    case = case_of(job(), "1.4")
    assert case.calls["p2p_seq"].null_count() == case.calls.height
    assert case.calls.filter(case.calls["rank"] == 0)["seq"].to_list() == [1, 1, 2, 2, 3, 3]
    members = {tuple(row["members"]): row["members_from"] for row in case.groups.iter_rows(named=True)}
    assert members == {(0, 1, 2, 3): "recorded", (0, 1): "recorded", (2, 3): "recorded"}
    # Every rank calls its pair group number 1: the numbers alone would have joined all four.
    pairs = case.calls.filter(case.calls["op"] == "_all_gather_base")
    by_rank = dict(pairs.select("rank", "group").unique().iter_rows())
    assert by_rank[0] == by_rank[1] != by_rank[2] == by_rank[3]
    assert case.shapes["in_dtypes"].to_list() == [[], []]


def test_format_1_knows_a_send_by_its_name() -> None:
    send = Kind(0, "0", "default_pg", "nccl:send 0->1", ((2,),), ("Float",), is_p2p=True)
    case = case_of({0: with_calls(one_rank(0), (send, call(0)))}, "1.4")
    row = case.calls.row(0, named=True)
    assert (row["is_p2p"], row["op"], row["src"], row["dst"]) == (True, "send", 0, 1)


def test_format_1_groups_without_members_are_not_joined_across_ranks() -> None:
    """Local numbers mean nothing to other ranks: without the configuration nothing says they are one group."""
    dumps = {rank: {**plain(dump, "1.4"), "pg_config": {}} for rank, dump in job().items()}
    case = case_of_objects(dumps)
    ranks_of_a_group = case.calls.group_by("group").agg(pl.col("rank").n_unique())["rank"]
    assert ranks_of_a_group.to_list() == [1] * 8


@pytest.mark.parametrize("version", WITH_STATUS)
def test_json_equals_pickle(version: str) -> None:
    dump = one_rank(1)
    pickled = case_of_objects({1: pickle.loads(write_pickle(dump, version, include_stacks=False))})
    as_json = case_of_objects({1: json.loads(write_json(dump, version))}, "json")
    for name, table in pickled.tables().items():
        other = as_json.tables()[name]
        if name == "dumps":
            table, other = table.drop("format"), other.drop("format")
        assert table.equals(other), name


@pytest.mark.parametrize("version", ["2.11", "2.99", "3.0", "7", "next"])
def test_a_later_version_is_read_as_far_as_understood_and_said_so(version: str, decode: Decode) -> None:
    value = plain(one_rank(0)) | {"version": version, "epochs": [{"reset": 3}], "hints": None}
    value["entries"] = [entry | {"stream": 7, "tags": ["x"]} for entry in value["entries"]]
    decoded = decode(pickle.dumps(value, 2))
    dump = only(decoded.dumps)
    assert (dump.calls, dump.version) == (6, version)
    texts = [note.what for note in decoded.notes]
    assert any(version in text for text in texts)
    assert any("epochs, hints" in text for text in texts)


@pytest.mark.parametrize("version", ["1.4", "2.0", "2.1", "2.3", "2.4", "2.8", "2.9", "2.10"])
def test_known_versions_need_no_note(version: str, decode: Decode) -> None:
    value = plain(one_rank(0), version if version in VERSIONS else "2.9") | {"version": version}
    decoded = decode(pickle.dumps(value, 2))
    assert only(decoded.dumps).version == version
    assert decoded.notes == []


@pytest.mark.parametrize("form", ["pickle", "json"])
def test_only_active_keeps_what_is_under_way(form: str, decode: Decode) -> None:
    dump = one_rank(3)
    data = write_pickle(dump, only_active=True) if form == "pickle" else write_json(dump, only_active=True)
    raw = only(decode(data).dumps)
    assert (raw.calls, raw.format) == (1, form)


@pytest.mark.parametrize("form", ["pickle", "json"])
def test_a_dump_without_calls_is_a_dump(form: str, decode: Decode) -> None:
    """A ring of size 0, or a rank that never made a call: it was there, and that counts."""
    for empty in (replace(one_rank(0), entries=()), Dump()):
        data = write_pickle(empty) if form == "pickle" else write_json(empty)
        decoded = decode(data)
        assert only(decoded.dumps).calls == 0
        without = write_pickle(empty, include_collectives=False)
        assert only(decode(without).dumps).calls == 0


def test_an_empty_dump_still_makes_its_rank_seen(load_files: LoadFiles) -> None:
    case = load_files(
        {"nccl_trace_rank_0": write_pickle(one_rank(0)), "nccl_trace_rank_1": write_pickle(Dump())}
    )
    assert case.ranks_seen == [0, 1]
    assert case.calls["rank"].unique().to_list() == [0]
    assert case.dumps["calls"].to_list() == [6, 0]
    assert case.dumps["first_record"].to_list() == [0, None]


def test_without_stacks_there_is_no_site_and_the_dump_says_so() -> None:
    value = pickle.loads(write_pickle(one_rank(0), include_stacks=False))
    case = case_of_objects({0: value})
    assert case.calls["site"].null_count() == case.calls["stack"].null_count() == 6
    assert case.frames.height == case.stacks.height == 0
    assert case.dumps["has_frames"].to_list() == [False]
    assert case_of({0: one_rank(0)}).dumps["has_frames"].to_list() == [True]


def test_library_version_under_both_of_its_keys(decode: Decode) -> None:
    for version in ("2.9", "2.10"):
        assert only(decode(write_pickle(one_rank(0), version)).dumps).library == "2.27.3"


def test_communicator_state_is_known_and_needs_no_note(decode: Decode) -> None:
    dump = replace(one_rank(0), comm_state={"0xabc": {"rank": "0", "localRank": "0"}})
    assert decode(write_pickle(dump)).notes == []
    assert decode(write_json(dump)).notes == []


def test_ranks_of_different_versions_are_one_job_and_noted(load_files: LoadFiles) -> None:
    files = {f"nccl_trace_rank_{rank}": write_pickle(dump) for rank, dump in job().items()}
    files["nccl_trace_rank_2"] = write_pickle(one_rank(2), "2.4")
    case = load_files(files)
    assert case.calls.height == 24
    world = case.calls.filter(case.calls["op"] == "all_reduce")
    assert world["group"].n_unique() == 1
    note = only([note for note in case.notes if "version" in note.what])
    assert "nccl_trace_rank_2" in note.file
    assert "2.4" in note.what and "2.10" in note.what
