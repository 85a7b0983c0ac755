"""`init_stuck`: the job's communication is never set up."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import polars as pl
import pytest
from msgspec import structs
from support.reason import absent_rank, no_dumps
from support.reason.building import WORLD, Job, case_of, loop
from support.reason.witnesses import IN_INIT, Witnesses, at, best, blamed, suspected

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.model.tables import schema
from rankandfile.pipeline import Options
from rankandfile.pipeline import diagnose as conclude

ELASTIC = """
    import os
    import time
    import torch.distributed as dist

    class Roll:
        def __init__(self, store, number):
            self.store, self.number = store, number

        def present(self):
            now = time.time()
            heard = {i: float(self.store.get(str(i))) for i in range(4)}
            return [i for i, at in heard.items() if now - at < 2.0]  # <-

    def connect(members):
        dist.init_process_group("gloo", world_size=len(members))

    def main(store):
        roll = Roll(store, int(os.environ["RANK"]))
        for phase in range(3):
            connect(roll.present())
"""


def test_setup_that_waits_for_a_rank_that_is_elsewhere() -> None:
    witnesses = (
        no_dumps.nothing(3)
        .stack(0, IN_INIT)
        .stack(2, IN_INIT)
        .stack(1, at(17, "fetch", "/workspace/prepare.py"))
    )
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("init_stuck", [1])
    assert verdict.location is not None
    assert verdict.location.line == 17


def test_setup_of_a_job_of_unknown_size_where_every_stack_stands_still() -> None:
    held = [("wait", "/usr/lib/python3.11/threading.py", 320), ("fetch", "/workspace/fetching.py", 65)]
    witnesses = Witnesses(Case()).stack(0, IN_INIT).stack(2, IN_INIT).stack(1, held)
    verdict = best(witnesses)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("init_stuck", "supported", [1])
    assert verdict.hang is None, "only if it hung"
    assert "if the job hung" in verdict.sentence


def test_setup_that_waits_for_a_rank_that_moves() -> None:
    witnesses = no_dumps.nothing(3).stack(0, IN_INIT).stack(2, IN_INIT)
    witnesses.stack(1, at(17, "fetch", "/workspace/prepare.py"), at(31, "unpack", "/workspace/prepare.py"))
    verdict = best(witnesses)
    assert (verdict.cause, verdict.confidence, suspected(verdict)) == ("init_stuck", "hypothesis", [1])
    assert [a.cause for a in verdict.alternatives] == ["host_slow"]


def test_setup_with_a_rank_of_which_nothing_is_known() -> None:
    witnesses = no_dumps.nothing(3).stack(0, IN_INIT).stack(2, IN_INIT)
    assert blamed(best(witnesses)) == []
    for rank in range(3):
        witnesses.exit(rank, "running")
    assert blamed(best(witnesses)) == [], "it may be in the setup, too"


def test_setup_without_a_rank_that_has_been_there() -> None:
    """Some backends let go whoever has been: what the others wait for then is another matter."""
    row = {"dump": 0, "rank": 1, "format": "ring"}
    columns = schema("dumps")
    been = Case(dumps=pl.DataFrame([{name: row.get(name) for name in columns}], schema=columns), world_size=3)
    witnesses = Witnesses(been).stack(0, IN_INIT).stack(2, IN_INIT).stack(1, at(17, "warm_up"))
    assert blamed(best(witnesses)) == []


def test_ncclss_own_lines_on_the_setup() -> None:
    witnesses = no_dumps.nothing(3)
    for rank in (0, 2):
        witnesses.event(
            "nccl_init", "fact", rank, group_rank=rank, comm_id="0xabc", nranks=3, phase="Init START"
        )
    assert blamed(best(witnesses)) == [], "the third rank may have written to another file"
    verdict = best(witnesses.log(1, 1, last_line="waiting for index"))
    assert (verdict.cause, blamed(verdict)) == ("init_stuck", [1])
    witnesses.event("nccl_init", "fact", 0, group_rank=0, comm_id="0xabc", nranks=3, phase="Init COMPLETE")
    assert blamed(best(witnesses)) == []


def set_up_anew(how: int = 0) -> Witnesses:
    """Rounds that all four made are over; three are in a setup again, and rank 3 has ended."""
    programs = {rank: loop(absent_rank.BODY, 3) for rank in range(4)}
    job = Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo")
    witnesses = Witnesses(case_of(job, waited_s=60, lost=[3])).exit(3, how)
    for rank in range(3):
        witnesses.stack(rank, IN_INIT, IN_INIT).exit(rank, "running")
    return witnesses


def test_who_has_ended_well_may_not_belong_to_a_later_setup() -> None:
    verdict = best(set_up_anew())
    assert (verdict.cause, verdict.confidence) == ("init_stuck", "hypothesis")
    assert (blamed(verdict), suspected(verdict)) == ([], [])
    assert [(a.cause, a.culprits) for a in verdict.alternatives] == [("early_exit", "3")]


def test_who_has_failed_before_a_later_setup_is_named() -> None:
    assert blamed(best(set_up_anew(how=1))) == [3]


def test_the_first_setup_is_of_all_that_were_started() -> None:
    witnesses = no_dumps.nothing(4).exit(3, 0)
    for rank in range(3):
        witnesses.stack(rank, IN_INIT, IN_INIT).exit(rank, "running")
    assert blamed(best(witnesses)) == [3]


def with_source(folder: Path, program: str) -> Verdict:
    """Each stands at the line of the program that sets up."""
    text = dedent(program)
    (folder / "train.py").write_text(text)
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "init_process_group" in each)
    witnesses = set_up_anew()
    stack = [IN_INIT[0], ("connect", "/workspace/train.py", line)]
    case = witnesses.case
    witnesses.case = structs.replace(case, snapshots=case.snapshots.clear())
    for rank in range(3):
        witnesses.stack(rank, stack, stack)
    return conclude(witnesses.case, Options(sources=(folder,))).diagnosis.verdicts[0]


def test_members_that_each_rank_counts_by_its_own_clock(tmp_path: Path) -> None:
    verdict = with_source(tmp_path, ELASTIC)
    assert (verdict.cause, blamed(verdict)) == ("init_stuck", [])
    assert verdict.location is not None
    assert (
        verdict.location.line
        == [*map(str.strip, dedent(ELASTIC).splitlines())].index(
            "return [i for i, at in heard.items() if now - at < 2.0]  # <-"
        )
        + 1
    )


@pytest.mark.parametrize("size", ["", ", world_size=4"])
def test_a_later_setup_of_all_that_were_started_lacks_who_has_ended(tmp_path: Path, size: str) -> None:
    program = ELASTIC.replace(", world_size=len(members)", size)
    assert blamed(with_source(tmp_path, program)) == [3]


@pytest.mark.parametrize(("leaves", "line"), [("sys.exit(0)", 6), ("raise SystemExit(3)", None)])
def test_who_left_before_the_setup_may_have_come_to_the_one_line_that_exits_so(
    leaves: str, line: int | None, tmp_path: Path
) -> None:
    (tmp_path / "boot.py").write_text(
        f"""import sys

def connect(done):
    if done:
        print("nothing to do")
        {leaves}
    torch.distributed.init_process_group("gloo")
"""
    )
    witnesses = no_dumps.nothing(3).stack(0, IN_INIT).stack(2, IN_INIT).exit(1, 0)
    verdict = conclude(witnesses.case, Options(sources=(tmp_path,))).diagnosis.verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("init_stuck", [1])
    assert (verdict.location.line if verdict.location is not None else None) == line
    assert ("The only line of the program that exits so is" in verdict.sentence) is (line is not None)
