"""The tables of a case: numbered logs, ranks tied to processes, years filled in, clocks compared."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from support.evidence.log_examples import EXAMPLES, MACHINE
from support.evidence.reading_logs import log_of

from rankandfile.evidence.text.logs import clock
from rankandfile.evidence.text.logs.assemble import LogPart, LogTables, tables
from rankandfile.model.events import EVENTS, LOGS, event_id

WRITTEN = int(datetime(2026, 3, 1, tzinfo=timezone.utc).timestamp()) * 1_000_000_000
W1 = (
    "[rank{r}]:[E{d} {t}.1 X.cpp:6] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={s}, "
    "OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600046 milliseconds before timing out.\n"
)


def part(
    folder: Path, text: str, name: str = "job.log", rank: int | None = None, host: str | None = None
) -> LogPart:
    return LogPart(
        log_of(folder, text, name), name, WRITTEN, rank, "name" if rank is not None else None, host
    )


def of(*parts: LogPart) -> LogTables:
    return tables(parts)


def test_the_tables_have_the_documented_columns(tmp_path: Path) -> None:
    text = "\n".join(example.text for example in [*EXAMPLES, *MACHINE])
    for found in (of(part(tmp_path, text), part(tmp_path, "")), of()):
        assert found.events.columns == [column.name for column in EVENTS]
        assert found.logs.columns == [column.name for column in LOGS]
        assert dict(found.events.schema) == {column.name: column.dtype for column in EVENTS}
    assert found.events.height == 0


def test_every_kind_of_event_survives_the_way_to_the_table(tmp_path: Path) -> None:
    text = "\n\n".join(example.text for example in [*EXAMPLES, *MACHINE])
    kinds = set(of(part(tmp_path, text)).events["kind"].to_list())
    assert {example.kind for example in [*EXAMPLES, *MACHINE]} <= kinds | {"watchdog_ended"}


def test_a_file_of_one_rank_tells_the_rank_of_its_bare_lines(tmp_path: Path) -> None:
    text = "terminate called without an active exception\nsrun: error: node07: task 5: Killed\n"
    events = of(part(tmp_path, text, rank=6, host="n1")).events
    assert events["rank"].to_list() == [6, None]
    assert events["rank_from"].to_list() == ["file", None]
    assert events["host"].to_list() == ["n1", "node07"]


def test_a_prefix_beats_the_files_name(tmp_path: Path) -> None:
    assert of(part(tmp_path, W1.format(r=3, d="207", t="10:00:00", s=1), rank=6)).events[
        "rank"
    ].to_list() == [3]


def init(rank: int, ranks: int, pid: int, host: str = "n1") -> str:
    return f"{host}:{pid}:1 [0] NCCL INFO comm 0x5 rank {rank} nranks {ranks} cudaDev 0 busId 9d000 commId 0x8 - Init COMPLETE\n"  # noqa: E501


WARN = "{host}:{pid}:9 [0] NCCL WARN Cuda failure 700 'an illegal memory access was encountered'\n"


def test_nccls_start_tells_whose_a_process_is(tmp_path: Path) -> None:
    text = init(0, 2, 100) + init(1, 2, 101) + init(0, 1, 101) + WARN.format(host="n1", pid=101)
    last = of(part(tmp_path, text)).events.row(-1, named=True)
    assert (last["kind"], last["rank"], last["rank_from"]) == ("cuda_failure", 1, "process")


def test_a_communicator_seen_in_part_tells_nothing(tmp_path: Path) -> None:
    text = init(1, 4, 101) + WARN.format(host="n1", pid=101)
    assert of(part(tmp_path, text)).events["rank"].to_list() == [None, None]


def test_one_process_id_on_two_hosts_is_two_processes(tmp_path: Path) -> None:
    text = init(0, 2, 100, "n1") + init(1, 2, 100, "n2") + WARN.format(host="n2", pid=100)
    assert of(part(tmp_path, text)).events["rank"].to_list()[-1] == 1
    kernel = "[81234.567999] INFO: task python3:100 blocked for more than 120 seconds.\n"
    assert of(part(tmp_path, text + kernel)).events["rank"].to_list()[-1] is None


@pytest.mark.parametrize(("day", "year"), [("228", 2026), ("1231", 2025), ("301", 2026)])
def test_a_date_gets_the_year_in_which_it_is_past(tmp_path: Path, day: str, year: int) -> None:
    time = of(part(tmp_path, W1.format(r=3, d=day, t="10:00:00", s=1))).events["time_ns"][0]
    assert datetime.fromtimestamp(time // 10**9, tz=timezone.utc).year == year


def clocks(folder: Path, *times: str) -> list[str]:
    parts = [
        part(
            folder,
            "".join(W1.format(r=r, d="207", t=f"{t}:{20 + s:02d}", s=s) for s in range(4)),
            f"rank_{r}.log",
            r,
            f"n{r}",
        )
        for r, t in enumerate(times)
    ]
    return [note.what for note in of(*parts).notes]


def test_a_host_in_another_time_zone(tmp_path: Path) -> None:
    assert clocks(tmp_path, "10:00", "10:00", "12:00") == [
        "the clock of n2 is 2 h ahead of the other logs', as another time zone is (told by 4 events that the logs share)"  # noqa: E501
    ]


def test_a_host_whose_clock_is_off(tmp_path: Path) -> None:
    (sentence,) = clocks(tmp_path, "10:00", "10:00", "09:58")
    assert sentence.startswith("the clock of n2 is about 120 s behind the other logs'")


def test_reports_that_spread_are_no_skew(tmp_path: Path) -> None:
    texts = [
        "".join(W1.format(r=r, d="207", t=f"10:0{r * s % 7}:20", s=s) for s in range(4)) for r in range(3)
    ]
    parts = [part(tmp_path, text, f"rank_{r}.log", r) for r, text in enumerate(texts)]
    assert of(*parts).notes == []


def test_two_logs_of_one_clock_are_not_compared_with_nothing(tmp_path: Path) -> None:
    found = of(part(tmp_path, W1.format(r=1, d="207", t="10:00:00", s=3)))
    assert clock.shifts(found.events, found.logs) == []


def test_an_event_id_leads_back_to_the_line(tmp_path: Path) -> None:
    events = of(
        part(tmp_path, "x\n"), part(tmp_path, "step\n" + W1.format(r=1, d="207", t="10:00:00", s=3))
    ).events
    row = events.row(0, named=True)
    assert event_id(row["log"], row["line"]) == "L1:2"


def test_notes_carry_the_name_of_their_file(tmp_path: Path) -> None:
    raw = log_of(tmp_path, '{"communicators": [}')
    found = tables([LogPart(raw, "ras.json")])
    assert [(note.file, "not JSON" in note.what) for note in found.notes] == [("ras.json", True)]


def test_the_rank_in_the_default_group_is_the_rank(tmp_path: Path) -> None:
    line = "[PG ID {g} PG GUID 0({d}) Rank 4] Process group watchdog thread terminated with exception: CUDA error: x\n"
    events = of(part(tmp_path, line.format(g=0, d="default_pg") + line.format(g=1, d="tp"))).events
    assert events["rank"].to_list() == [4, None]


def test_a_kernels_log_tells_its_host_and_then_the_rank(tmp_path: Path) -> None:
    kernel = (
        "[81234.567999] NVRM: Xid (PCI:0000:9d:00): 79, pid=100, name=python3, GPU has fallen off the bus.\n"
    )
    job = part(tmp_path, init(0, 2, 100, "n1") + init(1, 2, 100, "n2"))
    for host, rank in (("n1", 0), ("n2", 1), ("n3", None), (None, None)):
        last = of(job, part(tmp_path, kernel, "dmesg", host=host)).events.row(-1, named=True)
        assert (last["kind"], last["host"], last["rank"]) == ("xid", host, rank)
