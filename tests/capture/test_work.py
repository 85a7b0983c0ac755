"""What is seen of a rank from outside that works, or does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from rankandfile.capture.gather import files
from rankandfile.capture.watch import output, work
from rankandfile.capture.watch.rings import NO_RING, Seen
from rankandfile.evidence.files.kinds.work import KIND
from rankandfile.model.work import Work


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("eval:  5%|#   | 10/200 [00:01<]\reval:  6%|#   | 12/200 [00:03<]", ("10/200", "12/200")),
        ("scored 3 of 9\nscored 4 of 9\n", ("3 of 9", "4 of 9")),
        ("[12:00:01] shard 7%\n[12:00:05] shard 8.5 %\n", ("7%", "8.5 %")),
        ("eval:  5%|#   | 10/200 [00:01<]\reval:  5%|#   | 10/200 [00:09<]", None),
        ("waiting for the lock, attempt 3/10\nwaiting for the lock, attempt 4/10\n", None),
        ("step 12 loss 0.4\nstep 13 loss 0.3\n", None),  # of what, nobody says
        ("train 200/200\nvalidate 1/20\n", None),
    ],
)
def test_how_far_it_says_it_is(text: str, told: tuple[str, str] | None) -> None:
    assert output.risen(text) == told


BATCHES = "eval batch 0\neval batch 1\neval batch 2\n"


@pytest.mark.parametrize(
    ("earlier", "text", "told"),
    [
        ("step 12 loss 0.4\n", BATCHES, ("batch 0", "batch 2")),
        (BATCHES, BATCHES, ("batch 0", "batch 2")),  # the evaluation of the epoch before
        ("", "[default0]:2026-11-30 03:14:07,123 scored 7\n" * 3, None),  # no count
        (
            "",
            "\n".join(f"[default0]:2026-11-30 03:14:0{n},123 scored {n}" for n in range(3)),
            ("scored 0", "scored 2"),
        ),
        (
            "gpu sample 40\n",
            "gpu sample 41\ngpu sample 42\ngpu sample 43\n",
            None,
        ),  # it goes on beside the job
        ("", "look 1 for the file\nlook 2 for the file\nlook 3 for the file\n", None),
        ("", "heard nothing for 1 s\nheard nothing for 2 s\nheard nothing for 3 s\n", None),
        ("", "eval batch 0\n", None),  # too few
        ("", "loss 3\nloss 1\nloss 2\n", None),
    ],
)
def test_a_count_that_began_anew(earlier: str, text: str, told: tuple[str, str] | None) -> None:
    assert output.begun(earlier, text) == told


def test_a_log_that_has_stopped_tells_nothing(tmp_path: Path) -> None:
    log, shared = tmp_path / "rank_3.stderr.log", tmp_path / "stderr.log"
    log.write_text("1/9\n")
    before = output.sizes([log, shared])
    for path in (log, shared):
        path.write_text("1/9\n3/9\n4/9\n")
    assert output.counted(before, [log, shared], 4.0) == {3: ("3/9", "4/9")}
    os.utime(log, (1, 1))
    assert output.counted(before, [log, shared], 4.0) == {}


def test_labels_of_torchrun_tell_whose_line_it_is(tmp_path: Path) -> None:
    """Of a machine that has ranks 2 and 3."""
    shared = tmp_path / "stdout.log"
    shared.write_text("[default0]:step 8\n")
    before = output.sizes([shared])
    shared.write_text(
        "[default0]:step 8\n[default1]:eval batch 0\n[default0]:waits\n[default1]:eval batch 1\n"
    )
    assert output.counted(before, [shared], 4.0, [2, 3]) == {3: ("batch 0", "batch 1")}
    assert output.counted(before, [shared], 4.0) == {}


PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "print(1, flush=True)\\nwhile True: pass"])
sys.stdin.read()
child.kill()
"""


def test_what_a_process_and_its_children_do(tmp_path: Path) -> None:
    """The parent waits, its child computes; both looks at them are written, and read again."""
    program = [sys.executable, "-c", PARENT]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None and parent.stdout.readline()
        seen = [Seen(NO_RING, 1, parent.pid, 0, 0, "", True, False, (), 0, False)]
        before = work.uses(seen)
        after = work.uses(seen)
        while work.works(seen, before, after)[0].below_s < 0.2:
            after = work.uses(seen)
        parent.communicate(b"")
    (done,) = work.works(seen, before, after)
    assert done.below_s >= 0.2 > done.main_s
    files.work([done], {1: ("1/9", "2/9")}, tmp_path / "work.json")
    files.went_on({0: 3.04, 1: 3.04}, tmp_path / "work.json")
    ends = KIND.decode(tmp_path / "work.json", "work.json").ends
    told = [decoded(end.error) for end in ends]
    assert [(one.rank, one.went_on_s, one.last) for one in told] == [(1, 3.0, "2/9"), (0, 3.0, "")]


@pytest.mark.parametrize(
    "told", [("batch 0", "batch 2"), ("10/200", "12/200"), ("7%", "8.5 %"), ("3 of 9", "4 of 9")]
)
def test_what_is_written_of_a_count_is_read_again(tmp_path: Path, told: tuple[str, str]) -> None:
    done = work.Work(1, 100, 4.0, 0.0, 0.0, 0.0, 13)
    files.work([done], {1: told}, tmp_path / "work.json")
    (end,) = KIND.decode(tmp_path / "work.json", "work.json").ends
    assert (decoded(end.error).first, decoded(end.error).last) == told


def decoded(text: str | None) -> Work:

    return msgspec.json.decode(text or "", type=Work)


@pytest.mark.parametrize("text", ["[", "[]", '[{"rank": -1, "over_s": 1, "main_s": 2}]', '[{"rank": "a"}]'])
def test_a_file_of_a_stranger(tmp_path: Path, text: str) -> None:
    (tmp_path / "work.json").write_text(text)
    assert not KIND.decode(tmp_path / "work.json", "work.json").ends


def test_who_turns_round_now_and_then_on_a_full_machine_does_not_work() -> None:
    now, then = work.Ran(1.002, 3.0), work.Ran(1.0, 0.6)
    assert now.since(then) == pytest.approx(0.02)
    assert work.Ran(1.4, 4.2).since(then) == pytest.approx(4.0)
