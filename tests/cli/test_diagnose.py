"""`raf diagnose`, the main job: the verdict first, the trail on request, a question about one rank, and the status."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf
from support.evidence.sample_dumps import NOW, REDUCE, call, with_calls
from support.places import EARLY_STOP

from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_types import Dump, GroupConfig, GroupStatus
from rankandfile.lab.sim.run import simulate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cascade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rank 3 stalls before a call of its TP group; 2 waits for 3; 0 and 1 wait for 2 and 3 through DP."""
    return simulate("peers-tp-dp-cascade", tmp_path_factory.mktemp("sim") / "case") / "evidence" / "dumps"


def test_the_verdict_is_first_and_fits_one_screen(raf: Raf, cascade: Path) -> None:
    lines = raf("diagnose", cascade).out.rstrip().splitlines()
    assert "rank 3" in lines[0].lower()
    assert len(lines) <= 40


def test_the_trail_has_each_step_with_its_numbers(raf: Raf, cascade: Path) -> None:
    plain, long = raf("diagnose", cascade), raf("diagnose", cascade, "-v")
    added = [
        line
        for line in (long.out + long.err).splitlines()
        if line not in (plain.out + plain.err).splitlines()
    ]
    assert len(added) >= 5
    assert sum(bool(re.search(r"\d", line)) for line in added) >= 5


def test_the_status_says_what_was_found(raf: Raf, cascade: Path, healthy: Path, tmp_path: Path) -> None:
    assert raf("diagnose", cascade).status == 1
    assert raf("diagnose", healthy).status == 0
    (tmp_path / "notes.txt").write_text("nothing of a job\n")
    assert raf("diagnose", tmp_path / "notes.txt").status == 2
    assert raf("diagnose", tmp_path / "nowhere").status == 2
    lost = simulate("peers-dump-lost", tmp_path / "lost") / "evidence" / "dumps"
    undetermined = raf("diagnose", lost)
    assert undetermined.status == 3
    assert "rank 2" in undetermined.out.split("missing")[-1]


def test_what_stops_other_analysers_is_said_and_the_rest_counts(raf: Raf, tmp_path: Path) -> None:
    """Mixed versions, a backend and an operation that nobody knows, a file cut short, one that would run code."""
    for rank, version in enumerate(("2.10", "2.9", "2.4", "2.1", "2.10", "2.10")):
        dump = six(rank, calls=5 if rank == 2 else 6)
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(write_pickle(dump, version))
    cut = tmp_path / "nccl_trace_rank_4"
    cut.write_bytes(cut.read_bytes()[:-40])
    runs = b"\x80\x02cposix\nsystem\nX" + len(f"touch {tmp_path}/ran").to_bytes(4, "little")
    (tmp_path / "nccl_trace_rank_5").write_bytes(runs + f"touch {tmp_path}/ran".encode() + b"\x85R.")
    for file in tmp_path.iterdir():
        os.utime(file, ns=(NOW + 10**12, NOW + 10**12))
    done = raf("diagnose", tmp_path, "--format", "json")
    assert done.status == 1
    (verdict,) = json.loads(done.out)["verdicts"]
    assert [culprit["rank"] for culprit in verdict["culprits"]] == [2]
    assert not (tmp_path / "ran").exists()
    notes = str(json.loads(done.out)["notes"])
    assert "teleport" in notes and "rank_4" in notes and "rank_5" in notes


def six(rank: int, calls: int) -> Dump:
    """One of six ranks, which has made so many calls; the last of six is under way."""
    kind = REDUCE._replace(op="warpcl:teleport")
    made = []
    for record in range(calls):
        times = (
            {}
            if record == 5
            else {"started_ns": NOW + record, "completed_ns": NOW + record + 1, "retired": True}
        )
        made.append(
            (kind, call(record, 1 + record, **times)._replace(time_created_ns=NOW + 100 * record + rank))
        )
    world = GroupConfig("0", "default_pg", (0, 1, 2, 3, 4, 5))
    return with_calls(Dump([], [], {"0": world}, {"0": GroupStatus(calls, calls, calls)}, "2.27"), *made)


def test_a_victim_is_led_to_the_culprit_and_the_culprit_to_its_proof(raf: Raf, cascade: Path) -> None:
    victim, culprit = (raf("diagnose", cascade, "--explain", rank).out for rank in (0, 3))
    assert "rank 3" in victim.lower() and "wait" in victim
    assert "Rank 3 is blamed" in culprit and "never issued" in culprit


@pytest.mark.parametrize("view", ["cohorts", "waits"])
def test_what_it_reasoned_on_can_be_looked_at(raf: Raf, cascade: Path, view: str) -> None:
    done = raf("show", view, cascade)
    assert done.status == 0
    assert "3" in done.out


def test_what_the_card_tells_to_type_can_be_pasted(
    raf: Raf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence, src = EARLY_STOP / "evidence", EARLY_STOP / "src"
    (tmp_path / "the job").symlink_to(evidence)
    (tmp_path / "src").symlink_to(src)
    asked = ["the job", "--src", "src", "--hung"]
    monkeypatch.chdir(tmp_path)
    card = raf(*asked).out
    assert "the patch: raf fix 'the job' --src src --hung" in card
    assert ": raf show evidence 'the job'\n" in card
    assert "the page: raf report 'the job' --src src --hung" in card
    for line in re.findall(r"raf (?:fix|show evidence|report) .+?(?=$|   )", card, re.MULTILINE):
        assert raf(*shlex.split(line)[1:]).status in (0, 1), line
    assert "the page: 'a page.html'" in raf(*asked, "--report", "a page.html").out


def test_where_a_command_would_be_broken_it_says_what_to_add_to_the_one_that_was_typed(
    raf: Raf, tmp_path: Path
) -> None:
    deep = tmp_path.joinpath(*["a-long-name"] * 8)
    deep.parent.mkdir(parents=True)
    deep.symlink_to(EARLY_STOP / "evidence")
    said = raf(deep).out
    assert "PATH..." not in said and "the page: add -o page.html" in said
