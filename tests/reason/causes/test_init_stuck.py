"""`init_stuck`: the job's communication is never set up."""

from __future__ import annotations

import polars as pl
from support.reason import no_dumps
from support.reason.witnesses import IN_INIT, Witnesses, at, best, blamed

from rankandfile.model.case import Case
from rankandfile.model.tables import schema


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


def test_setup_that_waits_for_a_rank_that_moves() -> None:
    witnesses = no_dumps.nothing(3).stack(0, IN_INIT).stack(2, IN_INIT)
    witnesses.stack(1, at(17, "fetch", "/workspace/prepare.py"), at(31, "unpack", "/workspace/prepare.py"))
    verdict = best(witnesses)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("init_stuck", "hypothesis", [])
    assert [suspect.rank for suspect in verdict.suspects] == [1]
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
