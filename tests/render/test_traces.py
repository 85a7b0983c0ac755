"""The timeline as a trace: valid by the rules of both formats, true to the calls, bounded, and text stays text.

The protobuf is checked with perfetto's own definitions here; `tests/report/test_traces_open.py` opens both in their
viewers.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from google.protobuf.unknown_fields import UnknownFieldSet
from msgspec.structs import replace
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as official
from support.render import hostile
from support.render.diagnosed import document
from support.render.traced import Made, made

from rankandfile.model.case import Case
from rankandfile.render.chrome_trace import chrome_trace
from rankandfile.render.perfetto import perfetto
from rankandfile.render.timeline import MOST_RANKS, MOST_UNFINISHED, Timeline, cohort_table, timeline

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def skipped(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Rank 5 of eight skipped two calls, and asked for later ones."""
    return made("skip-nonfinite-ddp", tmp_path_factory.mktemp("skipped"))


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Sends and receives, a device that never begins, and three kinds of groups."""
    return made("gpu-stuck-3d", tmp_path_factory.mktemp("pipeline"))


@pytest.fixture
def nasty(skipped: Made) -> Made:
    words = pl.lit(hostile.NASTY.replace("\ud800", ""))
    case = replace(
        skipped.case,
        frames=skipped.case.frames.with_columns(file=words, function=words),
        groups=skipped.case.groups.with_columns(desc=words),
    )
    return replace(skipped, case=case)


@pytest.fixture
def untimed(skipped: Made) -> Made:
    no = pl.lit(None, pl.Int64)
    calls = skipped.case.calls.with_columns(created_ns=no, started_ns=no, completed_ns=no)
    return replace(skipped, case=replace(skipped.case, calls=calls))


@pytest.fixture(params=["skipped", "pipeline", "nasty", "untimed"])
def job(request: pytest.FixtureRequest) -> Made:
    found: Made = request.getfixturevalue(request.param)
    return found


def chrome(found: Timeline) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads("".join(chrome_trace(found)))["traceEvents"]
    return events


def test_chrome_events_follow_the_rules(job: Made) -> None:
    found = job.timeline(around=None)
    events = chrome(found)
    named = {(e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "M"}
    threads: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        assert {"ph", "name", "pid", "tid"} <= event.keys()
        assert isinstance(event["pid"], int)
        if event["ph"] != "M":
            assert event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] >= 0
            assert ("process_name", event["pid"], 0) in named
            assert ("thread_name", event["pid"], event["tid"]) in named
            threads[event["pid"], event["tid"]].append(event)
    assert sum(len(part) for part in threads.values()) == found.slices.height
    for slices in threads.values():
        # On one thread, a slice lies within another or beside it, never across its end.
        open_until: list[float] = []
        for event in sorted(slices, key=lambda event: (event["ts"], -event["dur"])):
            while open_until and open_until[-1] <= event["ts"] + 1e-3:
                open_until.pop()
            end = event["ts"] + event["dur"]
            assert not open_until or end <= open_until[-1] + 1e-3
            open_until.append(end)
    control = {chr(code) for code in range(32)} | {"\u202e"}
    assert not [event for event in events if control & set(json.dumps(event, ensure_ascii=False))]


def test_chrome_arrows_begin_and_end_once_on_a_slice(job: Made) -> None:
    events = chrome(job.timeline(around=None))
    begins = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    arrows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        if event["ph"] in "stf":
            assert (event["pid"], event["tid"], event["ts"]) in begins
            arrows[event["id"]].append(event)
    assert arrows
    for steps in arrows.values():
        kinds = Counter(step["ph"] for step in steps)
        assert kinds["s"] == kinds["f"] == 1
        first, last = (next(step["ts"] for step in steps if step["ph"] == kind) for kind in "sf")
        assert all(first <= step["ts"] <= last for step in steps)
        assert len({step["pid"] for step in steps}) == len(steps), "one step for each rank"


def packets(found: Timeline) -> list[Any]:
    trace = official.Trace.FromString(b"".join(perfetto(found)))
    assert not _unknown(trace)
    return list(trace.packet)


def _unknown(message: Any) -> bool:
    if len(UnknownFieldSet(message)):
        return True
    parts = []
    for field, value in message.ListFields():
        if field.message_type is not None:
            parts += list(value) if field.is_repeated else [value]
    return any(_unknown(part) for part in parts)


def test_perfetto_packets_are_perfettos_own(job: Made) -> None:
    found = job.timeline(around=None)
    all_packets = packets(found)
    assert {packet.trusted_packet_sequence_id for packet in all_packets} == {1}
    assert all_packets[0].sequence_flags == official.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    tracks = {
        p.track_descriptor.uuid: p.track_descriptor for p in all_packets if p.HasField("track_descriptor")
    }
    assert all(not t.HasField("parent_uuid") or t.parent_uuid in tracks for t in tracks.values())
    names: dict[int, str] = {}
    depth: Counter[int] = Counter()
    ended_at: dict[int, int] = {}
    begun = 0
    for packet in all_packets:
        names |= {entry.iid: entry.name for entry in packet.interned_data.event_names}
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        assert event.track_uuid in tracks
        assert packet.timestamp >= found.begin_ns
        if event.type == official.TrackEvent.TYPE_SLICE_BEGIN:
            begun += 1
            assert names[event.name_iid]
            assert packet.timestamp >= ended_at.get(event.track_uuid, 0)
            depth[event.track_uuid] += 1
        elif event.type == official.TrackEvent.TYPE_SLICE_END:
            depth[event.track_uuid] -= 1
            ended_at[event.track_uuid] = packet.timestamp
    assert begun == found.slices.height
    assert sum(depth.values()) == found.slices["end_ns"].null_count(), "what is open never ended"
    assert all("never ended" in tracks[uuid].name for uuid, count in depth.items() if count)


def test_arrows_join_the_calls_of_one_collective(skipped: Made) -> None:
    flows: dict[int, list[Any]] = defaultdict(list)
    for packet in packets(skipped.timeline(around=None)):
        for flow in packet.track_event.flow_ids:
            flows[flow].append(packet.track_event.track_uuid >> 32)
    assert len(flows) > 10
    assert all(len(ranks) == len(set(ranks)) >= 2 for ranks in flows.values())


def test_the_parting_is_marked_for_the_job_and_on_the_ranks(skipped: Made) -> None:
    found = skipped.timeline()
    job, *ranks = found.moments
    assert (job.rank, job.name) == (None, "HANG: rank 5 skipped a collective (certain)")
    assert 5 in {moment.rank for moment in ranks}
    marks = [event for event in chrome(found) if event["ph"] == "i"]
    assert [mark["s"] for mark in marks] == ["g", *["p"] * len(ranks)]
    names = {p.track_descriptor.name for p in packets(found) if p.HasField("track_descriptor")}
    assert "rank 5: culprit" in names


def test_what_never_ended_is_seen(pipeline: Made) -> None:
    slices = pipeline.timeline(around=None).slices
    stuck = slices.filter((pl.col("rank") == 10) & pl.col("unfinished") & (pl.col("seq") == 178))
    assert stuck["state"].to_list() == ["issued"]
    assert stuck["end_ns"].to_list() == [None]
    most = slices.filter("unfinished").group_by("rank", "group").len()["len"].max()
    assert isinstance(most, int)
    assert most <= MOST_UNFINISHED


def test_by_default_only_what_lies_around_the_parting(skipped: Made) -> None:
    near, whole = skipped.timeline(around=5), skipped.timeline(around=None)
    assert near.slices.height < whole.slices.height / 2
    assert near.slices.group_by("rank").len()["len"].max() <= 16  # type: ignore[operator]
    cited = {
        one for cohort in skipped.diagnosis.verdicts[0].divergence.cohorts for one in cohort.call.evidence
    }  # type: ignore[union-attr]
    assert cited & set(near.slices["evidence"])


def test_a_big_job_is_shown_by_some_of_each_cohort(tmp_path: Path) -> None:
    big = made("skip-nonfinite-ddp", tmp_path, ranks=80)
    found = big.timeline()
    shown = set(found.slices["rank"])
    assert {culprit.rank for culprit in big.diagnosis.verdicts[0].culprits} <= shown
    assert 4 <= len(shown) <= MOST_RANKS
    assert found.left_out == 80 - len(shown)
    assert big.timeline(ranks=range(80)).slices["rank"].n_unique() == 80


def test_without_times_the_order_of_calls_is_drawn_and_said(untimed: Made) -> None:
    found = untimed.timeline(around=None)
    assert found.clock.startswith("no times recorded")
    starts = found.slices.filter((pl.col("rank") == 0) & ~pl.col("unfinished")).sort("start_ns")
    records = starts["evidence"].str.extract(r"#(\d+)").cast(pl.Int64)
    assert records.is_sorted()


def test_the_table_has_ranks_that_did_the_same_in_one_row(skipped: Made) -> None:
    table = cohort_table(skipped.timeline(around=4))
    row = table.filter((pl.col("seq") == 28) & (pl.col("op") == "all_reduce"))
    assert row["ranks"].to_list() == ["5"]
    assert table.filter(pl.col("seq") == 17)["ranks"].to_list() == ["0-7"]
    assert table["seconds"].is_sorted()


def test_a_case_without_calls_is_no_error() -> None:
    no_slots = pl.DataFrame(schema={"dump": pl.UInt32, "record": pl.Int64, "slot": pl.Int64})
    found = timeline(Case(), document("init_stuck"), no_slots)
    assert chrome(found) == []
    assert cohort_table(found).height == 0
    assert len(packets(found)) == 2
