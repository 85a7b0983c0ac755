"""The sentinel over real jobs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.capture.watched_jobs import Watched

from rankandfile.lab.ranks import free_port

pytestmark = [pytest.mark.slow, pytest.mark.torch, pytest.mark.lab]

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "watching"


def run(folder: Path, *words: str, ranks: int = 3) -> subprocess.CompletedProcess[str]:
    raf = [sys.executable, "-m", "rankandfile", "run", "--no-unicode", "--out", str(folder / "case")]
    options, program = words[: words.index("--")], words[words.index("--") + 1 :]
    launch = [
        sys.executable,
        str(PROGRAMS / "launch.py"),
        str(ranks),
        str(PROGRAMS / program[0]),
        *program[1:],
    ]
    command = [*raf, *options, "--", *launch]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)


def findings(folder: Path, kind: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads((folder / "case" / "watch.json").read_text())["findings"]
    return [one for one in told if one["kind"] == kind]


def test_wrong_numbers_end_the_job_where_that_is_wanted(tmp_path: Path) -> None:
    """Nothing of it hangs: one rank makes a call more, through the same helper as all others."""
    pytest.importorskip("torch")
    done = run(tmp_path, "--watch", "enforce", "--on-desync", "abort", "--", "wrong.py", "silent", "0")
    assert done.returncode != 0 and "raf: ending the job" in done.stderr, done.stderr
    assert done.stderr.count("raf: ranks disagree, and nothing stops them: call 59") == 1, done.stderr
    told = "raf ends this job: ranks disagree, and nothing stops them: call 59"
    assert all(f"[rank {rank}] {told}" in done.stderr for rank in range(3)), done.stderr
    (found,) = json.loads((tmp_path / "case" / "watch.json").read_text())["findings"]
    assert (found["ranks"], found["certainty"], found["action"]) == ("1", "likely", "ended the job")


def test_on_every_node_the_ranks_say_why_the_job_is_ended(tmp_path: Path) -> None:
    """Not only that a peer has closed its connection, which is what they would see of it."""
    pytest.importorskip("torch")
    port = free_port()
    options = ["--no-unicode", "--meet", str(tmp_path / "meet"), "--watch", "enforce", "--on-desync", "abort"]
    nodes = [
        Watched(
            tmp_path / f"at{rank}",
            [
                "env", f"RANK={rank}", "WORLD_SIZE=2", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=1",
                "MASTER_ADDR=127.0.0.1", f"MASTER_PORT={port}",
                sys.executable, str(PROGRAMS / "wrong.py"), "reduction", "0",
            ],
            options,
        )
        for rank in range(2)
    ]  # fmt: skip
    for rank, node in enumerate(nodes):
        assert node.wait() != 0
        assert f"[rank {rank}] raf ends this job: ranks disagree: call" in node.err, node.err
        assert re.search(r"the job ended with -?\d+; raf ended it, because ranks disagree: call", node.err), (
            node.err
        )
        assert "HUNG" not in node.err, node.err
    kept = [list((node.case / "evidence").glob("handed-in-*")) for node in nodes]
    assert sorted(map(len, kept)) == [0, 1], "the one that ends it has the evidence of both"


def test_what_is_legal_is_not_told(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = run(tmp_path, "--", "legal.py", "all", "8")
    assert done.returncode == 0 and "raf:" not in done.stderr, done.stderr


def test_a_verdict_is_a_finding_too(tmp_path: Path) -> None:
    """Nothing moves, and nobody's call is off: one waits for what never comes."""
    pytest.importorskip("torch")
    done = run(tmp_path, "--stall", "4", "--on-hang", "dump-and-kill", "--", "slow.py", "frozen", "600")
    assert "HANG: rank 1 got stuck" in done.stderr, done.stderr
    assert (tmp_path / "case" / "watch.json").is_file(), done.stderr
    (found,) = findings(tmp_path, "frozen")
    assert "ranks 0,2 stand in all_reduce SUM Float [1000] (call 50 of" in found["words"]
    assert "rank 1 has not come to it; verdict: HANG: rank 1 got stuck" in found["words"]


def test_calls_that_nobody_waits_for(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = run(tmp_path, "--", "slow.py", "storm", "60")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("raf: calls pile up")]
    # The two others keep step: either may be the first.
    assert re.match(
        r"raf: calls pile up: rank [02] has .* that rank 1 has not come to, .*\(certain\)", line
    ), line
    assert len(findings(tmp_path, "storm")) == 1


@pytest.mark.parametrize(
    ("how", "kind", "told"),
    [
        ("left_out", "order", "rank 2 waits for rank 1 in recv Float [100] (receive"),
        ("wrong_peer", "order", "rank 1 waits for rank 0 in send Float [100] (send"),
        ("once_more", "order", "rank 1 waits for rank 0 in recv Float [100] (receive"),
        ("all_receive", "order", "rank 0 waits for rank 2 in recv Float [100] (receive"),
        ("begun", "order", "rank 2 waits for rank 1 in recv Float [50] (receive"),
        ("too_large", "desync", "what rank 1 sends is not what rank 2 receives"),
    ],
)
def test_sends_and_receives_that_cannot_end(tmp_path: Path, how: str, kind: str, told: str) -> None:
    """Told before the job counts as stuck: its patience is longer than what a finding takes."""
    pytest.importorskip("torch")
    done = run(tmp_path, "--stall", "60", "--on-hang", "dump-and-kill", "--", "passing.py", how, "600")
    (found,) = findings(tmp_path, kind)
    assert told in found["words"] and "passing.py:" in found["words"], done.stderr
    assert found["certainty"] == ("certain" if kind == "desync" else "likely")


@pytest.mark.parametrize(
    ("program", "what", "ranks"),
    [
        ("passing.py", "healthy", 3),
        ("passing_legal.py", "all", 4),
        ("passing_legal.py", "of_a_group_in_another_order", 4),
        ("passing_legal.py", "in_threads", 4),
        ("training.py", "all", 4),
    ],
)
def test_sends_and_receives_that_take_their_time_are_not_told(
    tmp_path: Path, program: str, what: str, ranks: int
) -> None:
    """Programs as those above without what goes wrong, and much else that is legal, with stages that wait for long."""
    pytest.importorskip("torch")
    done = run(tmp_path, "--", program, what, "20", ranks=ranks)
    assert done.returncode == 0 and "raf:" not in done.stderr, done.stderr
