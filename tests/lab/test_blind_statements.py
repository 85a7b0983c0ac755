"""Statements of a diagnosis against a log of calls that nobody analysed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rankandfile.lab import calls
from rankandfile.lab.blind.named_file import named_file
from rankandfile.lab.blind.numbering import numbered_otherwise
from rankandfile.lab.blind.statements import statements
from rankandfile.lab.calls import Call, CallLog, Group
from rankandfile.lab.sim.run import simulate
from rankandfile.model.claims import TookBranch
from rankandfile.model.diagnosis import Call as Said
from rankandfile.model.diagnosis import Cohort, Diagnosis, Divergence, Job, Location, Verdict, Wait

ALL = Group("0", "default_pg", (0, 1, 2))


def call(rank: int, seq: int, op: str, line: int) -> Call:
    return Call(rank, seq, 0.0, op, "0", seq, (("train.py", line, "fit"),))


#: Rank 2 leaves the all_reduce out, and is in the barrier that comes after it.
LOG = CallLog(
    (ALL,),
    (
        *(call(rank, 1, "broadcast", 10) for rank in range(3)),
        call(0, 2, "all_reduce", 20),
        call(1, 2, "all_reduce", 20),
        call(2, 2, "barrier", 30),
    ),
)


def said(wait: Wait, divergence: Divergence | None = None, location: Location | None = None) -> Diagnosis:
    verdict = Verdict(
        hang=True,
        cause="skipped_collective",
        family="paths",
        confidence="supported",
        sentence="",
        divergence=divergence,
        waits=[wait],
        location=location,
    )
    job = Job(world_size=3, ranks_seen="0-2", groups=[], group_count=1, calls=6, dumps=3)
    return Diagnosis(job=job, verdicts=[verdict], evidence=[], notes=[])


def false(diagnosis: Diagnosis, src: Path = Path()) -> list[str]:
    return [one.words for one in statements(diagnosis, LOG, src) if not one.holds]


def parted(line: int = 30) -> Divergence:
    stuck, other = (
        Said(op="all_reduce", seq=2, file="/job/train.py", line=20),
        Said(op="barrier", seq=2, file="/job/train.py", line=line),
    )
    cohorts = [Cohort(ranks="0-1", call=stuck), Cohort(ranks="2", call=other)]
    return Divergence(group="default_pg", seq=2, kind="skipped", cohorts=cohorts)


def test_what_is_so_holds() -> None:
    wait = Wait(ranks="0-1", waits_for="2", group="default_pg", seq=2, op="all_reduce")
    diagnosis = said(wait, parted())
    assert len(statements(diagnosis, LOG, Path())) == 6 and false(diagnosis) == []


def test_a_rank_that_is_in_another_call_does_not_wait_there() -> None:
    wait = Wait(ranks="0-2", waits_for="", group="default_pg", seq=2, op="all_reduce")
    assert false(said(wait)) == ["rank 2 waits in all_reduce #2 of default_pg"]


def test_a_rank_that_came_is_not_missing() -> None:
    wait = Wait(ranks="0", waits_for="1-2", group="default_pg", seq=2, op="all_reduce")
    assert false(said(wait, parted())) == ["rank 1 has not come to all_reduce #2 of default_pg"]


def test_a_cohort_made_its_call_from_that_line() -> None:
    wait = Wait(ranks="0-1", waits_for="2", group="default_pg", seq=2, op="all_reduce")
    assert false(said(wait, parted(line=31))) == ["rank 2 made barrier at /job/train.py:31"]


def test_a_condition_stands_on_its_line(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "def fit():\n    if (\n        loss\n        < best\n    ):\n        stop()\n"
    )
    wait = Wait(ranks="0-1", waits_for="2", group="default_pg", seq=2, op="all_reduce")
    right = Location(file="train.py", line=2, condition="loss < best")
    wrong = Location(file="train.py", line=2, condition="loss > best")
    assert false(said(wait, location=right), tmp_path) == []
    assert false(said(wait, location=wrong), tmp_path) == ["train.py:2 is loss > best"]


PROGRAM = """\
def fit():
    for step in range(9):
        reduce()
        if due(step):
            save()
            continue
        log()
    barrier()
"""


def found_test(truth: bool, shown_by: int, line: int = 4) -> TookBranch:
    return TookBranch(ranks="2", file="/job/train.py", line=line, truth=truth, shown_by=shown_by)


def of_branches(tmp_path: Path, claim: TookBranch, *lines: int) -> list[tuple[str, bool]]:
    """What is said of the test, where rank 2 made calls from these lines of `fit` since the first one of all."""
    (tmp_path / "train.py").write_text(PROGRAM)
    calls = [call(rank, 1, "broadcast", 3) for rank in range(3)]
    calls += [call(2, n, "all_reduce", line) for n, line in enumerate(lines, 2)]
    last = Said(op="all_reduce", seq=len(lines) + 1, file="/job/train.py", line=lines[-1])
    cohorts = [Cohort(ranks="2", call=last), Cohort(ranks="0-1")]
    diagnosis = said(Wait(ranks="", waits_for="", group="default_pg"), None)
    diagnosis.verdicts[0].divergence = Divergence(
        group="default_pg", seq=2, kind="skipped", cohorts=cohorts[:1]
    )
    diagnosis.verdicts[0].claims = [claim]
    numbered = tuple(msgspec.structs.replace(one, n=one.seq) for one in calls)
    told = statements(diagnosis, CallLog((ALL,), numbered), tmp_path)
    return [(one.words, one.holds) for one in told if "found line" in one.words]


@pytest.mark.parametrize(
    ("truth", "shown_by", "lines", "holds"),
    [
        (True, 5, (5,), [True]),
        (False, 5, (5,), [False]),
        (False, 7, (7,), [True]),
        (True, 7, (7,), [False]),
        (False, 3, (3,), []),
        (False, 3, (5, 3), []),
        (True, 5, (7, 5), [True]),
    ],
    ids=[
        "behind it",
        "not behind it, where it was",
        "behind the other outcome",
        "behind it, where a `continue` keeps it from",
        "before it: either way leads there",
        "before it again, with a call behind it in between",
        "a round before went the other way",
    ],
)
def test_which_way_a_rank_went_is_told_by_where_its_calls_came_from(
    tmp_path: Path, truth: bool, shown_by: int, lines: tuple[int, ...], holds: list[bool]
) -> None:
    assert [one for _, one in of_branches(tmp_path, found_test(truth, shown_by), *lines)] == holds


def test_what_a_loop_without_a_break_leads_to_is_behind_its_end(tmp_path: Path) -> None:
    assert of_branches(tmp_path, found_test(True, 8, line=2), 8) == [
        ("rank 2 found line 2 of /job/train.py true", False)
    ]


def test_a_group_that_is_numbered_otherwise_by_the_recorders_decides_nothing(tmp_path: Path) -> None:
    """Made again under its name, it counts from 1 in the dumps, and a log of before goes on counting."""
    incident = simulate("skip-nonfinite-ddp", tmp_path / "job")
    log = calls.read(incident / "calls.jsonl")
    assert not numbered_otherwise(incident / "evidence", log)
    (whole,) = {group.name for group in log.groups if len(group.ranks) == 8 and group.desc == "default_pg"}
    further = tuple(
        msgspec.structs.replace(one, seq=one.seq + 1) if one.group == whole and one.seq else one
        for one in log.calls
    )
    assert numbered_otherwise(incident / "evidence", CallLog(log.groups, further)) == {whole}
    wait = Wait(ranks="0-2", waits_for="", group="default_pg", seq=2, op="all_reduce")
    assert statements(said(wait), LOG, Path()) and not statements(said(wait), LOG, Path(), {"0"})


@pytest.mark.parametrize(
    ("said", "file"),
    [("population/search.py", "population/search.py"), ("search.py", "search.py"), ("/job/src/search.py", "search.py"),
     ("other.py", None)],
)  # fmt: skip
def test_of_two_files_of_one_name_the_one_is_looked_at_that_is_named_whole(
    tmp_path: Path, said: str, file: str | None
) -> None:
    for name in ("search.py", "population/search.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert named_file(said, tmp_path) == file
