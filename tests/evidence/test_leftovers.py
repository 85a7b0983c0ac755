"""What the system leaves of processes that it ended: counters of control groups, core files."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from rankandfile.evidence.exits.ends import End
from rankandfile.evidence.files.sniff import kind
from rankandfile.evidence.files.worker import decode
from rankandfile.evidence.load import load
from rankandfile.model.case import Case
from rankandfile.reason import gather
from rankandfile.reason.ranks.from_logs import read_accounts as witness
from rankandfile.reason.ranks.missing_dumps import reasons

EVENTS = "low 0\nhigh 0\nmax 12\noom 3\noom_kill {}\n"
CONTROL = "oom_kill_disable 0\nunder_oom 0\noom_kill {}\n"


def read(path: Path, name: str) -> list[End]:
    return decode(path, name).ends


def core(pid: int, signal: int) -> bytes:
    """The beginning of a core file: its header, one program header, two notes."""
    status = struct.pack("<iii", signal, 0, 0) + struct.pack("<hxxQQi", signal, 0, 0, pid + 1) + bytes(300)
    info = bytes(24) + struct.pack("<i", pid) + bytes(108)

    def note(number: int, body: bytes) -> bytes:
        return struct.pack("<III", 5, len(body), number) + b"CORE\0\0\0\0" + body + bytes(-len(body) % 4)

    notes = note(1, status) + note(3, info)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQ", 4, 62, 1, 0, 64, 0)
    header += struct.pack("<IHHHHHH", 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 4, 4, 120, 0, 0, len(notes), 0, 4)
    return header + segment + notes + bytes(4096)


@pytest.mark.parametrize("text", [EVENTS, CONTROL])
def test_counters_are_told_from_logs(text: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.events"
    path.write_text(text.format(2))
    assert kind(path.read_bytes(), path.name) == "memory_counters"
    (row,) = read(path, "memory.events")
    assert (row.kind, row.role, row.error, row.state) == ("cgroup", "fact", "oom_kill 2", None)
    path.write_text(text.format(0))
    assert read(path, "memory.events") == []


def test_a_log_that_speaks_of_them_is_a_log() -> None:
    assert kind(b"step 1\noom_kill 3\nloss nan after 3\n", "job.log") == "log"


@pytest.mark.parametrize(("signal", "name", "role"), [(11, "SIGSEGV", "origin"), (6, "SIGABRT", "echo")])
def test_a_core_file(signal: int, name: str, role: str, tmp_path: Path) -> None:
    path = tmp_path / "core.4242"
    path.write_bytes(core(4242, signal))
    assert kind(path.read_bytes()[:4096], path.name) == "core"
    (row,) = read(path, "core.4242")
    assert (row.pid, row.signal, row.role, row.state) == (4242, name, role, "signalled")


def test_damaged_core_files_tell_nothing(tmp_path: Path) -> None:
    path, whole = tmp_path / "core", core(4242, 11)
    for size in (18, 40, 60, 100, 130, 160):
        path.write_bytes(whole[:size])
        assert read(path, "core") == []
    path.write_bytes(whole[:32] + b"\xff" * 26 + whole[58:])
    assert read(path, "core") == []


def case(folder: Path, **files: bytes | str) -> Case:
    for name, data in files.items():
        path = folder / "evidence" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    spool = folder / "spool"
    spool.mkdir()
    return load([folder / "evidence"], spool, jobs=1)


def exits(*killed: int, hosts: tuple[str, ...] = ("node01",)) -> str:
    return json.dumps(
        [
            {"rank": r, "pid": 4000 + r, "host": hosts[r % len(hosts)], "exitcode": -9 if r in killed else None,
             "state": "exited" if r in killed else "running"}
            for r in range(4)
        ]
    )  # fmt: skip


def test_a_kill_with_a_counter_was_for_memory(tmp_path: Path) -> None:
    found = case(tmp_path, exits=exits(3), rank_3__memory_events=EVENTS.format(1))
    ends = witness.read_accounts(found).ends
    assert ends[3].words == "killed by SIGKILL, out of memory by the counter of its control group"
    assert all(found.evidence(i) is not None for i in ends[3].evidence)
    assert ends[2].kind == "running"


def test_a_counter_alone_ends_nobody(tmp_path: Path) -> None:
    ends = witness.read_accounts(case(tmp_path, exits=exits(), rank_3__memory_events=EVENTS.format(1))).ends
    assert {end.kind for end in ends.values()} == {"running"}


def test_a_core_file_is_of_the_rank_whose_process_it_names(tmp_path: Path) -> None:
    ends = witness.read_accounts(case(tmp_path, exits=exits(), core=core(4002, 11))).ends
    assert (ends[2].kind, ends[2].words) == ("killed", "killed by SIGSEGV")


def test_where_hosts_are_many_a_core_file_without_a_host_is_nobodys(tmp_path: Path) -> None:
    ends = witness.read_accounts(
        case(tmp_path, exits=exits(hosts=("node01", "node02")), core=core(4002, 11))
    ).ends
    assert ends[2].kind == "running"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("/cores/core.%e.%p.%h.%t", "its core file: /cores/core.*.4003.node01.*"),
        ("core", "its core file: core, in its working directory"),
        ("|/usr/share/apport/apport -p%p -s%s", "its host hands core files to /usr/share/apport/apport"),
        ("100%%.%p", "its core file: 100%.4003"),
    ],
)
def test_the_kernels_pattern_says_where_the_core_file_of_a_rank_lies(
    pattern: str, words: str, tmp_path: Path
) -> None:
    crashed = exits(3).replace("-9", "-11")
    found = case(tmp_path, exits=crashed, proc__sys__kernel__core_pattern=pattern + "\n")
    facts = gather(found)
    reason = reasons(facts, [3])[3]
    assert reason.why == "died"
    assert words in reason.how
    assert all(found.evidence(i) is not None for i in reason.evidence)
    assert facts.accounts.ends[3].words == "killed by SIGSEGV"


def test_a_kill_leaves_no_core_file_and_a_pattern_ends_nobody(tmp_path: Path) -> None:
    facts = gather(case(tmp_path, exits=exits(3), core_pattern="/cores/core.%p\n"))
    assert reasons(facts, [3])[3].how == ""
    assert {rank: end.kind for rank, end in facts.accounts.ends.items() if rank != 3} == dict.fromkeys(
        range(3), "running"
    )


def test_what_is_only_called_a_pattern_is_none() -> None:
    assert kind(b"step 1\nstep 2\n", "core_pattern") == "log"
    assert kind(b"core.%p\x00\x01", "core_pattern") != "core_pattern"
    assert kind(b"core.%p\n", "job.log") == "log"
